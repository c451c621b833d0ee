"""Figures of judges: the ladder of what a judge says, two values, slots that are refilled, and what the end costs."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator, PercentFormatter
from numpy.typing import ArrayLike

from ponder_course.common import style
from ponder_course.common.style import Line, beside, curves, legend, lines, look, panels, percent_axis, slide, step_axis
from ponder_course.judges.measured import Ends, Share

THOUGHT = ListedColormap(mpl.colormaps["YlOrBr"](np.linspace(0.05, 0.75, 256)))
WHEN = ("when they halt", "at the last step")
HALF = 0.5  # TRM's rule halts above it
Networks = Mapping[int, Sequence[Line]]  # a line for each network, by the values of a place


@slide
def slots(steps: ArrayLike) -> Figure:
    """Draw how long the line in each slot has thought by each update: steps [updates, slots], from 1."""
    taken = np.asarray(steps).T
    n_slots, n_updates = taken.shape
    figure, (ax,) = panels(1, width=9.0, height=0.6 + 0.34 * n_slots)
    extent = (0.5, n_updates + 0.5, n_slots + 0.5, 0.5)
    ax.imshow(taken, cmap=THOUGHT, vmin=1, extent=extent, aspect="auto", interpolation="nearest")
    for slot, update in np.argwhere(taken == 1):
        ax.plot([update + 0.5] * 2, [slot + 0.5, slot + 1.5], color=style.BLACK, linewidth=2.0)
    for slot, update in np.argwhere(taken[:, 1:] == 1):  # the line halts, and leaves
        ax.text(update + 1, slot + 1, f"{taken[slot, update]}", ha="center", va="center_baseline", fontsize=13.5)
    ax.set(xlabel="update", ylabel="slot", yticks=[1, n_slots])
    ax.grid(visible=False)
    return figure


@slide
def ladder(kinds: Networks) -> Figure:
    """Draw what judges say while places are open; beside them, how likely it is that all guesses are right.

    kinds: {values of a place: [networks, open places]}, Q of halting from no open place on. Above HALF a line halts.
    """
    figure, (ax,) = panels(1, width=8.4, height=4.6)
    for which, (n_values, networks) in enumerate(kinds.items()):
        n_open, colour = [*range(len(networks[0]))], look(which)["color"]
        by_guess = [1.0 / n_values**k for k in n_open]
        ax.plot(n_open, by_guess, color=style.LIMIT, linewidth=1.2)
        lines(ax, n_open, networks, **look(which, linestyle="none", markersize=7, alpha=0.5))
        beside(ax, f"{n_values} values", (n_open[-1], by_guess[-1]), (12, -4), color=colour, fontweight="bold")
    ax.axhline(HALF, color=style.HALTING, linewidth=2.4)
    beside(ax, "above: TRM's rule halts", (n_open[-1], HALF), (0, 6), color=style.DARK_ORANGE, ha="center")
    ax.set(yscale="log", xlabel="open places", ylabel="what the judge says")
    ax.set(xticks=n_open, xlim=(-0.3, n_open[-1] + 0.9), ylim=(None, 2.0))
    ax.set_yticks([1, 0.5, 0.1, 0.01, 0.001], ["1", "0.5", "0.1", "0.01", "0.001"])
    ax.minorticks_off()
    return figure


@slide
def lead(kinds: Mapping[str, Sequence[Share]]) -> Figure:
    """Draw for which fraction of lines halting is worth more than going on, around the step that a line needs.

    kinds: {name: a curve for each network, {step less need: fraction}}.
    """
    figure, (ax,) = panels(1, width=8.4, height=4.2)
    for which, (name, networks) in enumerate(kinds.items()):
        curves(ax, networks, label=name, **look(which))
    ax.axvline(0, color=style.LIMIT, linewidth=1.2, zorder=0)
    step_axis(ax, len(networks[0]), xlabel="step, minus the steps needed")
    percent_axis(ax, ylabel="lines for which halting\nis worth more", ylim=(-0.03, 1.05))
    ax.legend(loc="center left")
    return figure


@slide
def to_the_end(kinds: Ends) -> Figure:
    """Draw which fraction of lines is right when they halt, and at the last step: a row for each network.

    kinds: {kind: [(right when halted, right at N)]}.
    """
    figure, (ax,) = panels(1, width=8.4, height=5.2)
    for place, networks in enumerate(kinds.values()):
        heights = place + 0.07 * (np.arange(len(networks)) - (len(networks) - 1) / 2)
        for height, ends in zip(heights, sorted(networks), strict=True):
            ax.plot(ends, [height, height], color=style.PALE_GREY, linewidth=1.6, zorder=1)
        halted_right, last_right = np.transpose(sorted(networks))
        halt_label, last_label = (None, None) if place else WHEN
        ax.plot(halted_right, heights, "o", color=style.HALTING, markersize=7, label=halt_label, zorder=3)
        ax.plot(last_right, heights, "s", color=style.DARK_GREY, markersize=5.5, label=last_label, zorder=2)
    ax.set(yticks=range(len(kinds)), yticklabels=[*kinds], ylim=(len(kinds) - 0.5, -0.5), xlabel="lines that are right")
    ax.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.xaxis.set_major_locator(MultipleLocator(0.1))
    ax.grid(visible=False, axis="y")
    return legend(figure, 2)
