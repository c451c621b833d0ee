"""Figures that only the evidence of lesson 06 draws."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ponder_course.common import style
from ponder_course.ways_to_stop.figures import FAMILY
from ponder_course.ways_to_stop.regret import Point


@style.slide
def tradeoffs(
    tests: Mapping[str, Mapping[str, Sequence[Sequence[Point]]]],
    families: Mapping[str, str],
    limits: Mapping[str, float],
) -> Figure:
    """Right answers against mean steps, a panel for each test: a curve for each way to stop, over its parameter.

    tests: {title: {name: for each network [(right, steps) for each value of the parameter]}}; families: {name: what
    training adds}, for the colours; limits: {title: the mean need}: there stands the star of whoever is always right in
    time, behind the curves.
    """
    figure, axes = style.panels(len(tests), width=10.0 / len(tests), height=4.4, sharey=True)
    for ax, (title, ways) in zip(axes, tests.items(), strict=True):
        drawn = dict.fromkeys(FAMILY, 0)
        for name, networks in ways.items():
            look = style.look(drawn[families[name]], color=FAMILY[families[name]], markersize=5, alpha=0.85)
            drawn[families[name]] += 1
            for i, points in enumerate(networks):
                right, steps = zip(*sorted(points, key=lambda point: (point[1], point[0])), strict=True)
                ax.plot(steps, right, label=name if i == 0 else None, **look)
        if title in limits:
            star: dict[str, Any] = {"markersize": 24, "markeredgewidth": 1.4, "zorder": 1.5}
            ax.plot(limits[title], 1.0, "*", color=style.LIMIT, markerfacecolor="none", label="the clock", **star)
        ax.set(title=title, xlabel="mean steps", xlim=(0, None), ylim=(0, 1.06))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("right answers")
    return style.legend(figure, columns=3)


@style.slide
def judges(runs: Sequence[Mapping[str, Sequence[float | None]]]) -> Figure:
    """Draw "yes" and "right" of each network against the number of open places, with 2^-k, on a logarithmic axis."""
    figure, (ax,) = style.panels(1, width=7.4, height=4.4)
    n_open = np.arange(len(runs[0]["yes"]))
    for i, run in enumerate(runs):
        labels = ("the judge's yes", "right") if i == 0 else (None, None)
        ax.plot(n_open, np.array(run["yes"], float), color=style.PURPLE, linewidth=1.1, label=labels[0])
        ax.plot(n_open, np.array(run["right"], float), "o", color=style.GREY, markersize=4, label=labels[1])
    ax.plot(n_open, 0.5**n_open, color=style.BLACK, linestyle=":", label="a coin for every open place")
    ax.set_yscale("log", base=2)
    ax.set(xlabel="open places", ylabel="probability")
    ax.legend()
    return figure
