"""A figure of the evidence of lesson 07: steps against need."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from ponder_course.common import style
from ponder_course.common.store import Row
from ponder_course.common.style import beyond, panels, slide

ByNeed = Mapping[int, float]  # a number for each need


def steps_by_need(result: Row) -> dict[int, float]:
    """Return the mean steps of places by need, of a test as `by_itself` measures it."""
    return {int(n): steps for n, (_, steps) in result["by_need"].items()}


@slide
def against_need(networks: Sequence[ByNeed], border: int) -> Figure:
    """Draw the mean steps of places by the steps that they need, and what they are too many; beyond the border is grey.

    networks: at least one.
    """
    last = max(map(max, networks))
    figure, (above, below) = panels(2, width=7.4, height=2.7, rows=2, sharex=True, height_ratios=(3, 2))
    for ax, end in ((above, last), (below, 0)):
        beyond(ax, border, last)
        ax.plot([1, last], [min(end, 1), end], color=style.LIMIT, linewidth=1.4)
    for network in networks:
        needed, taken = np.array(list(network.items())).T
        above.plot(needed, taken, color=style.HALTING, linestyle="--")
        below.plot(needed, taken - needed, color=style.HALTING, linewidth=1.0)
    above.text(border + 1, 1.02 * last, "more steps than in training", va="top", color=style.DARK_GREY)
    above.text(0.56 * last, 0.62 * last, "dashes: steps taken", color=style.DARK_ORANGE, ha="right")
    above.text(0.6 * last, 0.55 * last, "line: steps needed", color=style.LIMIT, va="top")
    above.set(ylabel="steps taken", xlim=(1, last), ylim=(0, 1.04 * last))
    below.set(xlabel="steps that a place needs", ylabel="steps too many")
    return figure
