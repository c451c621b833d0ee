"""Figures of judges: slots that are refilled, the ladder of what a judge says, what the end costs, and two values."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike

from ponder_course.common import style
from ponder_course.common.style import Line, beside, curves, lines, look, panels, percent_axis, slide, step_axis
from ponder_course.judges.measured import Ends, Share

THOUGHT = ListedColormap(mpl.colormaps["YlOrBr"](np.linspace(0.05, 0.75, 256)))
WHEN = ("when they\nhalt", "at the\nlast step")
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
    """Draw what judges say while answers are unknown; beside them, how likely it is that all guesses are right.

    kinds: {values of a place: [networks, unknown places]}, Q of halting from none unknown on. Above HALF a line halts.
    """
    figure, (ax,) = panels(1, width=8.4, height=4.6)
    for which, (n_values, networks) in enumerate(kinds.items()):
        n_unknown, colour = [*range(len(networks[0]))], look(which)["color"]
        by_guess = [1.0 / n_values**k for k in n_unknown]
        ax.plot(n_unknown, by_guess, color=style.LIMIT, linewidth=1.2)
        lines(ax, n_unknown, networks, **look(which, linestyle="none", markersize=7, alpha=0.5))
        name = "bits" if n_values == 2 else f"{n_values} values"
        beside(ax, name, (n_unknown[-1], by_guess[-1]), (12, -4), color=colour, fontweight="bold")
    ax.axhline(HALF, color=style.HALTING, linewidth=2.4)
    beside(ax, "above: TRM's rule halts", (n_unknown[-1], HALF), (0, 6), color=style.DARK_ORANGE, ha="center")
    ax.set(yscale="log", xlabel="unknown places", ylabel="what the judge says")
    ax.set(xticks=n_unknown, xlim=(-0.3, n_unknown[-1] + 0.9), ylim=(None, 2.0))
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
    """Draw how many lines are right when they halt, and at the last step: a panel for each kind, a line each network.

    kinds: {kind: [(right when halted, right at N)]}. Large: from the least to the most of these networks.
    """
    figure, axes = panels(len(kinds), width=4.6, height=4.4, sharey=True)
    for ax, (name, networks) in zip(axes, kinds.items(), strict=True):
        for ends in networks:
            ax.plot((0, 1), ends, color=style.HALTING, linewidth=2, zorder=2)
        for place, colour in enumerate((style.DARK_ORANGE, style.DARK_GREY)):
            fractions = [ends[place] for ends in networks]
            ax.plot([place] * len(fractions), fractions, "o", color=colour, markersize=8, zorder=3)
            low, high = min(fractions), max(fractions)
            font = {"ha": "left" if place else "right", "va": "center", "fontsize": 20, "fontweight": "bold"}
            offset = (14 if place else -14, 0)
            text = f"{100 * low:.0f}\u2013{100 * high:.0f} %"
            beside(ax, text, (place, (low + high) / 2), offset, color=colour, **font)
        ax.set(title=name, xlim=(-1, 1.9), xticks=(0, 1), xticklabels=WHEN)
        ax.grid(visible=False, axis="x")
    axes[0].set(ylim=(0.66, 1.02), yticks=[0.7, 0.8, 0.9, 1], ylabel="lines that are right")
    axes[0].yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return figure
