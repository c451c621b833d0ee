"""Make README's two pictures.

    python book/front/pictures.py        results/figures/07_moving.gif and results/figures/05_lesson.png

In the first lesson 07's network thinks about a maze, and its places halt one by one; it is that of the book's first
page, which lesson 07 has stored. The second shows parts of lesson 05's page in the book, before a reader's bets and
after. It needs Chromium, and the book: make book.
"""

import argparse
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import PIL.Image
import torch
from matplotlib.figure import Figure
from torch import Tensor

from ponder_course.common.measures import at_step
from ponder_course.common.style import panels, slide
from ponder_course.map_of_thought.figures import SIDES, THOUGHT, draw_grid
from ponder_course.map_of_thought.task import MazeTask, with_both_colours
from ponder_utils.checkpoints import atomic_write
from ponder_utils.rules import halting_steps

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "book" / "live"), str(ROOT / "tests")]
from browser import chromium  # noqa: E402
from live_networks import load  # noqa: E402

LESSON = ROOT / "results" / "figures" / "05_lesson.png"
PAGE = ROOT / "runs" / "book" / "site" / "notebooks" / "05_light_cone.html"
GIF = ROOT / "results" / "figures" / "07_moving.gif"
CELLS, N = 15, 90  # of the maze; the cap on steps
FRAME, FINISHED = 110, 2000  # milliseconds; the finished frame comes first, too: it is what a preview shows
PLAYS = 3  # then it stands still: what moves for ever distracts from the words beside it


@slide
def frame(n: int, maze: Tensor, answers: Tensor, taken: Tensor) -> Figure:
    """Draw the answers of places that have halted by step n, and after how many steps they did.

    maze: [3, side, side], as of `MazeTask`; answers (0 or 1) and taken: [side, side].
    """
    figure, axes = panels(2, width=3.6, height=3.9)
    has_halted = np.asarray(taken) <= n
    most = int(taken[maze[0] > 0].max())
    shown = ((answers, SIDES, 0, 1), (taken, THOUGHT, 1, most))
    for ax, (values, colours, low, high) in zip(axes, shown, strict=True):
        draw_grid(ax, np.where(has_halted, values, np.nan), maze, cmap=colours, vmin=low, vmax=high)
    axes[0].set_title("whose star is nearest?")
    axes[1].set_title(f"steps taken: 1 (pale) to {most} (dark)")
    figure.supxlabel(f"step {n}: a place is coloured once it has halted by itself", fontsize=13)
    return figure


def frames() -> Iterator[Figure]:
    """Let the network think about one maze: a figure for each step until all places have halted."""
    x, _ = MazeTask(CELLS).batch(20, torch.Generator().manual_seed(0))
    most_even = with_both_colours(x)[0]
    x = x[most_even : most_even + 1]
    with torch.no_grad():
        output = load("maze")(x, max_steps=N)
    taken = halting_steps(output, "threshold", q=0.5)
    answers = (at_step(output.y_hat, taken) > 0).int()
    for n in range(1, int(taken[x[:, 0] > 0].max()) + 1):
        yield frame(n, x[0], answers[0], taken[0])


def images(figures: Iterator[Figure]) -> list[PIL.Image.Image]:
    """Return the figures as images of the colours of the last, in which all places are coloured."""
    drawn = []
    for figure in figures:
        png = io.BytesIO()
        figure.savefig(png, format="png", dpi=90)
        drawn.append(PIL.Image.open(png).convert("RGB"))
    palette = drawn[-1].quantize(64)
    return [image.quantize(palette=palette, dither=PIL.Image.Dither.NONE) for image in drawn]


def page_parts() -> Iterator[PIL.Image.Image]:
    """Photograph lesson 05's page: its question, its machine, its bets, and, once they are made, what answers them."""
    machine, bet, answer = "#the-machine-2-minutes", ".bet", "#as-long-as-it-must-5-minutes"
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1100, "height": 14000})  # all of it: nothing scrolls
        page.goto(PAGE.as_uri())
        page.wait_for_timeout(4000)  # MathJax
        left = page.locator(machine).bounding_box()["x"] - 20

        def part(begin: str, end: str) -> PIL.Image.Image:
            first = page.locator(begin).first.bounding_box()
            last = page.locator(end).last.bounding_box()
            height = last["y"] + last["height"] - first["y"] + 24
            clip = {"x": left, "y": first["y"] - 12, "width": 776, "height": height}
            return PIL.Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")

        yield part("article h1", "article h1 ~ p")
        yield part(f"{machine} .cell_output", f"{machine} img")
        yield part("#two-bets-and-the-training-5-minutes", bet)
        for i in range(2):
            page.locator(bet).nth(i).locator("button").last.click()
        page.wait_for_timeout(1000)
        yield part(answer, f"{answer} img")


def side_by_side(parts: list[PIL.Image.Image]) -> PIL.Image.Image:
    """The parts below each other, and the last beside them."""
    left, right = np.concatenate([np.asarray(part) for part in parts[:-1]]), np.asarray(parts[-1])
    across = left.shape[1]
    whole = np.full((max(len(left), len(right)), across + right.shape[1], 3), 255, dtype=np.uint8)
    whole[: len(left), :across] = left
    whole[: len(right), across:] = right
    return PIL.Image.fromarray(whole)


def main() -> None:
    """Write the pictures."""
    steps = images(frames())
    milliseconds = [FINISHED] + [FRAME] * (len(steps) - 1) + [FINISHED]
    with atomic_write(GIF) as draft:
        how = {"save_all": True, "append_images": steps, "duration": milliseconds, "loop": PLAYS - 1, "optimize": True}
        steps[-1].save(draft, format="gif", **how)
    side_by_side([*page_parts()]).save(LESSON, optimize=True)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
