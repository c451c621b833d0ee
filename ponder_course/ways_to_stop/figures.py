"""Figures of ways to stop: what they reach, and what they lose to whoever stops in time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from ponder_course.common.style import (
    BLUE,
    DARK_GREY,
    DARK_ORANGE,
    GREEN,
    LIMIT,
    ORANGE,
    PURPLE,
    legend,
    look,
    panels,
    slide,
)
from ponder_course.ways_to_stop.regret import Point, Regret

FAMILY = {"nothing": BLUE, "a price": ORANGE, "a prior": GREEN, "a judge": PURPLE}  # what training adds
WRITTEN = {ORANGE: DARK_ORANGE, PURPLE: "#A0447C"}  # letters of these colours: pale ones are hard to read
TICKS = (0, 1, 5, 20, 80)  # hundredths of an answer


def _shown(families: Mapping[str, str]) -> dict[str, str]:
    """Return the families by their names in FAMILY: METHODS say "nobody" (pays) where training adds nothing."""
    return {name: "nothing" if family == "nobody" else family for name, family in families.items()}


@slide
def tradeoffs(
    tests: Mapping[str, Mapping[str, Sequence[Sequence[Point]]]],
    families: Mapping[str, str],
    limits: Mapping[str, float],
    labels: Mapping[str, tuple[float, float]] | None = None,
) -> Figure:
    """Right answers against mean steps, a panel for each test: a curve for each way to stop, over its parameter.

    tests: {title: {name: for each network [(right, steps) for each value of the parameter]}}; families: {name: what
    training adds}, for the colours; limits: {title: the mean need}: there stands the star of whoever is always right in
    time, behind the curves. labels: {name: points to the right and up} writes names beside the first points of their
    curves in the first panel, where there would be a legend.
    """
    families = _shown(families)
    figure, axes = panels(len(tests), width=10.0 / len(tests), height=4.4, sharey=True)
    for ax, (title, ways) in zip(axes, tests.items(), strict=True):
        drawn = dict.fromkeys(FAMILY, 0)
        for name, networks in ways.items():
            family = families[name]
            style = look(drawn[family], color=FAMILY[family], markersize=5, alpha=0.85)
            drawn[family] += 1
            for i, points in enumerate(networks):
                right, steps = zip(*sorted(points, key=lambda point: (point[1], point[0])), strict=True)
                ax.plot(steps, right, label=name if i == 0 else None, **style)
                if labels and name in labels and i == 0 and ax is axes[0]:
                    _beside(ax, name, (steps[0], right[0]), labels[name], FAMILY[family])
        if title in limits:
            star: dict[str, Any] = {"markerfacecolor": "none", "markeredgewidth": 1.4, "zorder": 1.5}
            size = 34 if labels else 24
            ax.plot(limits[title], 1.0, "*", color=LIMIT, markersize=size, label="the best clock", **star)
            if labels and ax is axes[0]:
                _beside(ax, "the best clock", (limits[title], 1.0), (-12, 24), LIMIT)
        ax.set(title=title, xlabel="mean steps", xlim=(0, None), ylim=(0, 1.15 if labels else 1.06))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("right answers")
    return figure if labels else legend(figure, columns=3)


def _beside(ax: Axes, text: str, point: tuple[float, float], offset: tuple[float, float], colour: str) -> None:
    """Write text beside a point; offset in points, to the right and up. A thin line leads to one that is far away."""
    side = "left" if offset[0] >= 0 else "right"
    lead = {"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 3}
    ax.annotate(text, point, offset, textcoords="offset points", ha=side, va="center",
                color=WRITTEN.get(colour, colour), arrowprops=lead if max(map(abs, offset)) > 12 else None)  # fmt: skip


@slide
def regrets(
    problems: Mapping[str, Mapping[str, Sequence[Regret]]], families: Mapping[str, str], cut: float | None = None
) -> Figure:
    """What each method loses to the best clock, in hundredths of an answer: dots at the means, which stand beside.

    A panel for each problem and a row for each method of the first, in its order. The axis, named once, is linear up to
    1, and logarithmic beyond. Rings: single runs. families: {method: what training adds}, for the colours, which a
    legend names where a family has several methods. What is more than `cut` is an arrow head at the edge.
    """
    families = _shown(families)
    rows = list(next(iter(problems.values())))
    height = 1.5 + (0.42 if len(rows) > 5 else 0.55) * len(rows)
    figure, axes = panels(len(problems), width=10.0 / len(problems), height=height, sharey=True)
    every = 100 * np.array([sum(regret) for panel in problems.values() for runs in panel.values() for regret in runs])
    high = max(1.0, *every) if cut is None else cut
    for ax, (title, methods) in zip(axes, problems.items(), strict=True):
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_title(title, pad=24)  # room for "best clock"
        ax.set_xlabel(" ")
        ax.set_xlim(min(0.0, *every) - 0.15, 1.4 * high)
        ax.set_xticks([tick for tick in TICKS if tick <= 1.4 * high], minor=False)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
        ax.axvline(0, color=LIMIT, linewidth=1.4)
        ax.tick_params(axis="y", length=0)
        ax.text(1.02, -0.5, "mean", transform=ax.get_yaxis_transform(), va="bottom", color=DARK_GREY)
        for y, name in enumerate(rows):
            if methods.get(name):
                _draw_runs(ax, y, 100 * np.sum(methods[name], axis=1), FAMILY[families[name]], high)
    axes[0].text(0, -0.5, "best clock", ha="center", va="bottom", color=LIMIT)
    middle = axes[len(axes) // 2]
    middle.set_xlabel("regret, hundredths of an answer (stretched near 0)")
    middle.xaxis.label.set_x(0.5 if len(axes) % 2 else -0.1)  # in the middle of all panels
    middle.xaxis.label.set_in_layout(False)  # as wide as several panels
    axes[0].set(yticks=range(len(rows)), yticklabels=rows, ylim=(len(rows) - 0.5, -0.5))
    for label, name in zip(axes[0].get_yticklabels(), rows, strict=True):
        label.set_color(WRITTEN.get(FAMILY[families[name]], FAMILY[families[name]]))
    added = [families[name] for name in rows]
    if len(added) > len(set(added)):
        handles = [Patch(color=colour, label=what) for what, colour in FAMILY.items() if what in added]
        title = "what training adds to the loss of the answers:"
        figure.legend(handles=handles, loc="outside lower center", ncols=4, title=title, title_fontsize=13)
    return figure


def _draw_runs(ax: Axes, y: int, runs: np.ndarray, colour: str, high: float) -> None:
    """Draw one row of `regrets`. runs: [runs], the whole regret of each."""
    seen = runs[runs <= high]
    ax.plot(seen, np.full(len(seen), y), "o", color=colour, markerfacecolor="none", markersize=5, alpha=0.8)
    if len(seen) < len(runs):
        ax.plot(1.15 * high, y, ">", color=colour, markersize=6)
    ax.plot(min(runs.mean(), high), y, "o", color=colour, markersize=9)
    ax.text(1.02, y, f"{runs.mean():.1f}", transform=ax.get_yaxis_transform(), va="center",
            color=WRITTEN.get(colour, colour))  # fmt: skip
