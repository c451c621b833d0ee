"""Figures that only the evidence of lesson 06 draws."""

from collections.abc import Mapping, Sequence
from statistics import median
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


Cliffs = Mapping[str, Mapping[str, Mapping[float, Sequence[float]]]]  # {kind: {training: {price: [regrets]}}}
FALLEN = 5.0  # hundredths of an answer


@style.slide
def cliffs(by_problem: Cliffs) -> Figure:
    """Draw what networks lose, in hundredths, by the price of a step: a panel for each kind of lines.

    A mark for each network, a line through the medians of each training.
    """
    figure, axes = style.panels(len(by_problem), width=3.5, height=4.0, sharey=True)
    for ax, (kind, trainings) in zip(axes, by_problem.items(), strict=True):
        for which, (training, by_price) in enumerate(trainings.items()):
            points = [(price, regret) for price, regrets in by_price.items() for regret in regrets]
            shifted = [(price * 1.08 ** (which - 1), regret) for price, regret in points]  # so that none hides another
            style.marks(ax, shifted, which, 45)
            medians = {price * 1.08 ** (which - 1): median(regrets) for price, regrets in by_price.items()}
            ax.plot([*medians], [*medians.values()], **style.look(which, marker=None), label=training)
        prices = sorted({price for by_price in trainings.values() for price in by_price})
        ax.set(title=kind, xscale="log", xlabel="price of a step", xticks=prices)
        ax.set_xticklabels([f"{price:g}" for price in prices], rotation=45)
        ax.minorticks_off()
        ax.set_yscale("symlog", linthresh=1)
        ax.set_yticks((0, 1, 5, 20, 80), ("0", "1", "5", "20", "80"))
    axes[0].set_ylabel("regret, hundredths")
    return style.legend(figure, len(next(iter(by_problem.values()))))


def who_falls(by_problem: Cliffs) -> str:
    """The finding: how many networks of each training lose more than FALLEN on lines, at its best price."""
    counts: dict[str, dict[float, list[bool]]] = {}
    for trainings in by_problem.values():
        for training, by_price in trainings.items():
            for price, regrets in by_price.items():
                fallen = counts.setdefault(training, {}).setdefault(price, [])
                fallen += [regret > FALLEN for regret in regrets]
    best = {training: min(by_price.values(), key=sum) for training, by_price in counts.items()}
    words = [f"{training} {sum(fallen)} of {len(fallen)}" for training, fallen in best.items()]
    middle = (len(words) + 1) // 2
    lines = [
        f"Lose more than {FALLEN:g} hundredths, at the best price:",
        *(", ".join(words[:middle]), ", ".join(words[middle:])),
    ]
    return "\n".join(line for line in lines if line)
