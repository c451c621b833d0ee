"""Figures of ways to stop: what they reach, what they lose to whoever stops in time, and a message in the halting."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from ponder_course.experiments.ways_to_stop_ranking import Point, Regret
from ponder_course.figures.light_cone import NO, Votes
from ponder_course.figures.style import (
    ANSWER,
    BLACK,
    BLUE,
    GREEN,
    HALTING,
    LIMIT,
    ORANGE,
    PURPLE,
    Line,
    Points,
    legend,
    look,
    panels,
    slide,
    step_axis,
)

FAMILY = {"nobody": BLUE, "a price": ORANGE, "a prior": GREEN, "a judge": PURPLE}  # who pays
TICKS = (0, 1, 5, 20, 80)  # hundredths of an answer


@slide
def tradeoffs(
    tests: Mapping[str, Mapping[str, Sequence[Sequence[Point]]]],
    families: Mapping[str, str],
    limits: Mapping[str, float],
    labels: Mapping[str, tuple[float, float]] | None = None,
) -> Figure:
    """Right answers against mean steps, a panel for each test: a curve for each way to stop, over its parameter.

    tests: {title: {name: for each network [(right, steps) for each value of the parameter]}}; families: {name: who
    pays}, for the colours; limits: {title: the mean need}: there stands the star of whoever is always right in time,
    behind the curves. labels: {name: points to the right and up} writes names beside the first points of their curves
    in the first panel, where there would be a legend.
    """
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
            star: dict[str, Any] = {"markersize": 24, "markerfacecolor": "none", "markeredgewidth": 1.6, "zorder": 1.5}
            ax.plot(limits[title], 1.0, "*", color=LIMIT, label="the best clock", **star)
            if labels and ax is axes[0]:
                _beside(ax, "the best clock", (limits[title], 1.0), (-8, 17), LIMIT)
        ax.set(title=title, xlabel="mean steps", xlim=(0, None), ylim=(0, 1.15 if labels else 1.06))
    axes[0].set_ylabel("right answers")
    return figure if labels else legend(figure, columns=3)


def _beside(ax: Axes, text: str, point: tuple[float, float], offset: tuple[float, float], colour: str) -> None:
    """Write text beside a point; offset in points, to the right and up."""
    side = "left" if offset[0] >= 0 else "right"
    ax.annotate(text, point, offset, textcoords="offset points", ha=side, va="center", color=colour)


@slide
def regrets(
    problems: Mapping[str, Mapping[str, Sequence[Regret]]], families: Mapping[str, str], cut: float | None = None
) -> Figure:
    """What each method loses to the best clock, in hundredths of an answer: dots at the means, which stand beside.

    A panel for each problem and a row for each method of the first, in its order. The axis is linear up to 1, and
    logarithmic beyond. Rings: single runs. families: {method: who pays}, for the colours, which a legend names where a
    family has several methods. What is more than `cut` is an arrow head at the edge.
    """
    rows = list(next(iter(problems.values())))
    height = 1.5 + 0.42 * len(rows)
    figure, axes = panels(len(problems), width=10.0 / len(problems), height=height, sharey=True)
    every = 100 * np.array([sum(regret) for panel in problems.values() for runs in panel.values() for regret in runs])
    high = max(1.0, *every) if cut is None else cut
    for ax, (title, methods) in zip(axes, problems.items(), strict=True):
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set(title=title, xlabel="hundredths\nof an answer", xlim=(min(0.0, *every) - 0.15, 1.4 * high))
        ax.set_xticks([tick for tick in TICKS if tick <= 1.4 * high], minor=False)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
        ax.axvline(0, color=LIMIT, linewidth=1.4)
        for y, name in enumerate(rows):
            if methods.get(name):
                _draw_runs(ax, y, 100 * np.sum(methods[name], axis=1), FAMILY[families[name]], high)
    axes[0].set(yticks=range(len(rows)), yticklabels=rows, ylim=(len(rows) - 0.5, -0.5))
    for label, name in zip(axes[0].get_yticklabels(), rows, strict=True):
        label.set_color(FAMILY[families[name]])
    payers = [families[name] for name in rows]
    if len(payers) > len(set(payers)):
        handles = [Patch(color=colour, label=who) for who, colour in FAMILY.items() if who in payers]
        title = "who pays for a step in training:"
        figure.legend(handles=handles, loc="outside lower center", ncols=4, title=title, title_fontsize=13)
    return figure


def _draw_runs(ax: Axes, y: int, runs: np.ndarray, colour: str, high: float) -> None:
    """Draw one row of `regrets`. runs: [runs], the whole regret of each."""
    seen = runs[runs <= high]
    ax.plot(seen, np.full(len(seen), y), "o", color=colour, markerfacecolor="none", markersize=5, alpha=0.8)
    if len(seen) < len(runs):
        ax.plot(1.15 * high, y, ">", color=colour, markersize=6)
    ax.plot(min(runs.mean(), high), y, "o", color=colour, markersize=9)
    ax.text(1.02, y, f"{runs.mean():.1f}", transform=ax.get_yaxis_transform(), va="center", color=colour)


@slide
def message(by_step: Sequence[Line], halted: Points, need: int, lines: Sequence[Votes]) -> Figure:
    """Draw lines that are right at a fixed step and by themselves; and who votes no, step by step, until a line halts.

    by_step: [runs, N], the fraction of lines that are right at each fixed step; halted: (mean steps, fraction right) of
    each run; need: L, of all lines. lines: a panel for each, its bits above it; those that differ are set in bold.
    """
    figure, (first, *others) = panels(1 + len(lines), width=10.0 / (1 + len(lines)), height=4.2)
    for line in by_step:
        n = step_axis(first, len(line))
        first.plot(n, line, "o-", color=ANSWER, markersize=4, alpha=0.85)
    steps, right = np.transpose(halted)
    first.plot(steps, right, "D", color=HALTING, markersize=9, markeredgecolor=BLACK)
    first.axvline(need, color=LIMIT, linewidth=1.8)
    _beside(first, "halts\nby itself", (min(steps), max(right)), (-10, -16), HALTING)
    _beside(first, "all at the\nsame step", (need, 0.35), (6, 0), ANSWER)
    _beside(first, f"$L$ = {need}", (need, 0.06), (6, 0), LIMIT)
    first.set(title="whole lines right", ylim=(0, 1.08))
    differ = [len({*bits}) > 1 for bits in zip(*(line.bits for line in lines), strict=True)]
    for ax, shown in zip(others, lines, strict=True):
        _draw_votes(ax, shown, differ)
    others[0].set_ylabel("step $n$")
    return figure


def _draw_votes(ax: Axes, line: Votes, differ: Sequence[bool]) -> None:
    """Draw one line of `message`."""
    places, steps = len(line.bits), len(line.no)
    made = np.array(line.no)[: line.halts]
    ax.imshow(made, extent=(0.5, places + 0.5, len(made) + 0.5, 0.5), aspect="auto", cmap=NO, vmin=0, vmax=1)
    ax.set(xlabel="place", xlim=(0.5, places + 0.5), ylim=(steps + 0.5, 0.5))
    ax.set_title(line.title, pad=24)
    ax.axhline(line.need + 0.5, color=LIMIT, linewidth=1.8)
    if line.halts < line.need:
        ax.text(places / 2 + 0.5, line.need + 0.6, f"$L$ = {line.need}", ha="center", va="top", color=LIMIT)
    ax.axhline(line.halts + 0.5, color=HALTING, linewidth=4, linestyle="--")
    ax.text(places / 2 + 0.5, line.halts + 0.7, f"halts at {line.halts}", ha="center", va="top", weight="bold")
    for place, (bit, bold) in enumerate(zip(line.bits, differ, strict=True), start=1):
        weight = "bold" if bold else "normal"
        ax.annotate(f"{bit}", (place, 0.5), (0, 4), textcoords="offset points", ha="center", weight=weight)
    ax.grid(visible=False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=3))
