"""Figures of ways to stop: what they look at, and what they lose to whoever stops in time."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ponder_course.experiments.ways_to_stop_ranking import Point, Regret
from ponder_course.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    legend,
    look,
    panels,
    slide,
)
from ponder_course.verdicts import interval

FAMILY = {"nobody": BLUE, "a price": ORANGE, "a prior": GREEN, "a judge": PURPLE}  # who pays


@slide
def tradeoffs(
    tests: Mapping[str, Mapping[str, Sequence[Sequence[Point]]]],
    families: Mapping[str, str],
    limits: Mapping[str, float],
) -> Figure:
    """Right answers against mean steps, a panel for each test: a curve for each way to stop, over its parameter.

    tests: {title: {name: for each network [(right, steps) for each value of the parameter]}}; families: {name: who
    pays}, for the colours; limits: {title: the mean need}: there stands the star of whoever is always right in time.
    """
    figure, axes = panels(len(tests), width=10.0 / len(tests), height=4.2, sharey=True)
    for ax, (title, ways) in zip(axes, tests.items(), strict=True):
        drawn = dict.fromkeys(FAMILY, 0)
        for name, networks in ways.items():
            family = families[name]
            style = look(drawn[family], color=FAMILY[family], markersize=5, alpha=0.85)
            drawn[family] += 1
            for i, points in enumerate(networks):
                right, steps = zip(*sorted(points, key=lambda point: (point[1], point[0])), strict=True)
                ax.plot(steps, right, label=name if i == 0 else None, **style)
        if title in limits:
            ax.plot(limits[title], 1.0, "*", color=BLACK, markersize=17, zorder=4, label="the best clock")
        ax.set(title=title, xlabel="mean steps", xlim=(0, None), ylim=(0, 1.04))
    axes[0].set_ylabel("right answers")
    return legend(figure, columns=3)


@slide
def regrets(
    problems: Mapping[str, Mapping[str, Sequence[Regret]]],
    families: Mapping[str, str],
    live: Mapping[str, Mapping[str, Regret]] | None = None,
    cut: float | None = None,
) -> Figure:
    """What each method loses to the best clock: for time (full) and for wrong answers (hatched), mean of its runs.

    A panel for each problem and a row for each method of the first, in its order; numbers in hundredths of an answer.
    Rings: single runs, their whole regret; the black line: the 95 % interval of its mean. Diamonds: this session's.
    families: {method: who pays}, for the colours. A mean of more than `cut` is cut off, and written; an arrow head
    stands for single runs beyond it.
    """
    rows = list(next(iter(problems.values())))
    height = 1.5 + 0.36 * len(rows)
    figure, axes = panels(len(problems), width=11.0 / len(problems), height=height, sharey=True)
    for ax, (title, methods) in zip(axes, problems.items(), strict=True):
        drawn = {name: 100 * np.array(methods[name]) for name in rows if methods.get(name)}
        for name, runs in drawn.items():
            _draw_runs(ax, rows.index(name), runs, FAMILY[families[name]], np.inf if cut is None else cut)
        for name, regret in (live or {}).get(title, {}).items():
            ax.plot([100 * sum(regret)], [rows.index(name)], "D", color=BLACK, markersize=6)
        low = min([0.0, *(runs.sum(1).min() for runs in drawn.values())])
        ax.set(title=title, xlabel="lost, hundredths\nof an answer", xlim=(1.1 * low - 0.01 * (cut or 0), cut))
        ax.axvline(0, color=BLACK, linewidth=1.4)
    axes[0].set(yticks=range(len(rows)), yticklabels=rows, ylim=(len(rows) - 0.5, -0.5))
    handles = [Patch(color=colour, label=who) for who, colour in FAMILY.items()]
    handles.append(Patch(facecolor="white", edgecolor=BLACK, hatch="////", label="lost for wrong answers"))
    title = "lost for time, by who pays for a step in training:"
    figure.legend(handles=handles, loc="outside lower center", ncols=5, title=title, title_fontsize=12)
    return figure


def _draw_runs(ax: Axes, y: int, runs: np.ndarray, colour: str, cut: float) -> None:
    """Draw one row of `regrets`. runs: [runs, 2], for time and for wrong answers."""
    time, answers = runs.mean(0)
    whole = runs.sum(1)
    ax.barh(y, time, 0.62, color=colour, alpha=0.85)
    ax.barh(y, answers, 0.62, left=time, facecolor="white", edgecolor=colour, hatch="////")
    middle, low, high = interval(whole.tolist())
    ax.plot([low, high], [y, y], color=BLACK, linewidth=2)
    seen = whole[whole <= cut]
    ax.plot(seen, np.full(len(seen), y), "o", color=GREY, markerfacecolor="white", markersize=4.5)
    if len(seen) < len(whole):
        ax.plot(0.98 * cut, y, ">", color=BLACK, markersize=5)
    if middle > cut:
        ax.text(1.01 * cut, y, f"{middle:.0f}", va="center", fontsize=11)
