"""Draw the README's first picture: lesson 07's network thinks about a maze, and its places halt one by one.

    python book/front/moving.py        results/figures/07_moving.gif

The network is that of the book's first page, which lesson 07 has stored.
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
sys.path.append(str(ROOT / "book" / "live"))
from live_networks import load  # noqa: E402

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
    shown = ((answers, SIDES, 0, 1), (taken, THOUGHT, 1, int(taken[maze[0] > 0].max())))
    for ax, (values, colours, low, high) in zip(axes, shown, strict=True):
        draw_grid(ax, np.where(has_halted, values, np.nan), maze, cmap=colours, vmin=low, vmax=high)
    axes[0].set_title("whose star is nearest?")
    axes[1].set_title("steps taken")
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


def main() -> None:
    """Write the picture."""
    steps = images(frames())
    milliseconds = [FINISHED] + [FRAME] * (len(steps) - 1) + [FINISHED]
    with atomic_write(GIF) as draft:
        how = {"save_all": True, "append_images": steps, "duration": milliseconds, "loop": PLAYS - 1, "optimize": True}
        steps[-1].save(draft, format="gif", **how)
    print(f"{GIF}: {len(steps)} steps, {GIF.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
