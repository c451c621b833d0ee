"""Figures of the evidence of lesson 08."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ponder_course.alone_and_together.figures import ByDepth, Kinds
from ponder_course.common import style
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import bare, panels, slide, step_axis
from ponder_course.map_of_thought.figures import STEPS


def off_the_need(kinds: Kinds, limits: Mapping[str, ByDepth]) -> str:
    """The finding: how far mean steps are from the need at most, alone and together."""
    off = {}
    for kind, networks in kinds.items():
        off[kind] = max(abs(steps - limits[kind][d]) for network in networks for d, steps in network.items())
    return f"No mean is farther from the need than {off['alone']:.1f} steps alone,\n{off['together']:.1f} together"


@slide
def program(statements: Sequence[str], steps: Sequence[float], in_a_row: int = 5) -> Figure:
    """Draw a program, each statement or question on the colour of the steps that it took: from pale to dark."""
    rows, last = -(-len(statements) // in_a_row), max(steps)
    figure, (ax,) = panels(1, width=1.5 * in_a_row + 1.2, height=0.62 * rows + 0.2)
    squares = np.full(rows * in_a_row, np.nan)
    squares[: len(steps)] = steps
    image = ax.imshow(squares.reshape(rows, in_a_row), cmap=STEPS, vmin=1, vmax=last, aspect="auto")
    ax.hlines(np.arange(rows + 1) - 0.5, -0.5, in_a_row - 0.5, color="white", linewidth=6)
    ax.vlines(np.arange(in_a_row + 1) - 0.5, -0.5, rows - 0.5, color="white", linewidth=6)
    for i, (statement, taken) in enumerate(zip(statements, steps, strict=True)):
        colour = "white" if taken > 1 + 0.6 * (last - 1) else "black"
        ax.text(i % in_a_row, i // in_a_row, statement, color=colour, ha="center", va="center", family="monospace")
    bare(ax)
    ax.set(xlim=(-0.5, in_a_row - 0.5), ylim=(rows - 0.5, -0.5))
    figure.colorbar(image, ax=ax, label="steps taken", ticks=range(1, int(np.ceil(last)) + 1), fraction=0.06)
    return figure


def first_and_farthest(statements: Sequence[str], taken: Sequence[float], arrows: Sequence[int]) -> str:
    """The finding: the steps of a program's first statement, and of that whose digit is the most arrows away."""
    far = max(arrows)
    farthest = arrows.index(far)
    return (
        f"{statements[0]} takes {taken[0]:.1f} steps, "
        f"{statements[farthest]} {taken[farthest]:.1f}:\nits digit is {far} arrows away"
    )


def steps_more(rows: Sequence[Row], rule: str) -> list[float]:
    """Return how many steps more each network takes for three pairs than for one."""
    return [row[rule]["steps"][2] - row[rule]["steps"][0] for row in rows]


def behind_one_loop(kinds: Mapping[str, Sequence[Row]]) -> list[float]:
    """Return by how many nats six loops, all of which count, are behind one loop of the same seed."""
    behind = []
    for row in kinds["one loop"]:
        six = matching(kinds["six loops, all count"], seed=row["seed"])
        behind += [each["by_loop"][-1] - row["by_loop"][0] for each in six]
    return behind


@slide
def by_loop(kinds: Mapping[str, Sequence[Row]]) -> Figure:
    """Draw the loss after each loop, a line for each network of a kind; dotted: one loop is all there is."""
    figure, (ax,) = panels(1, width=7.4, height=3.4)
    looks = ((style.HALTING, "--"), (style.ANSWER, "-"), (style.DARK_GREY, "-"))  # the fourth kind has not learnt
    for name, (colour, dashes) in zip(kinds, looks, strict=False):
        settings: dict[str, Any] = {"color": colour, "linestyle": dashes, "marker": "o", "markersize": 4}
        for i, row in enumerate(kinds[name]):
            n = step_axis(ax, len(row["by_loop"]), xlabel="loop", ylabel="loss in nats")
            ax.plot(n, row["by_loop"], label=None if i else name, linewidth=1.4, **settings)
    for row in kinds["one loop"]:
        ax.axhline(row["by_loop"][0], color=style.DARK_GREY, linewidth=0.8, linestyle=":")
    ax.set_ylim(1.75, 2.5)  # PonderNet's later loops, which it never reaches, lie above
    ax.legend(loc="upper right")
    return figure
