"""Figures of networks that think along a line of places: steps down, places across.

A line that speaks of a step stands above its row: the need above the first step that is enough, halting above the step
at which the line halts. In time they touch.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ponder_course.common.style import (
    BLACK,
    BLUE,
    GREEN,
    MARKERS,
    ORANGE,
    PURPLE,
    SKY,
    Line,
    Points,
    legend,
    marks,
    panels,
    slide,
    step_axis,
)


@slide
def above_the_limit(lambda_ps: Line, theory: Mapping[str, Line], runs: Mapping[str, Points]) -> Figure:
    """Draw steps above L against the prior's lambda_p: lines of theory, at most two, and a mark for every run.

    Runs have the colour of PonderNet, or as in lesson 02 that of the reversed divergence where their label says so.
    Names stand at the lines, and inwards of the highest mark; those of more than two groups in a legend.
    """
    figure, (ax,) = panels(1, width=7.4, height=4.4)
    for which, (label, line) in enumerate(theory.items()):
        ax.plot(lambda_ps, line, color=BLACK, linewidth=1.8, linestyle=("-", ":")[which], label=label)
        if len(runs) <= 2:  # the second line bends below the first
            ax.text(lambda_ps[0] + 0.01 * (1 - which), (1.0, 0.25)[which] * line[0], label, va="center")
    for which, (label, points) in enumerate(runs.items()):
        x, y = np.reshape(points, (-1, 2)).T
        colour, beside = PURPLE if "reversed" in label else GREEN, 0.008 * (which - (len(runs) - 1) / 2)
        looks: dict[str, Any] = {"marker": MARKERS[which], "facecolor": "none", "edgecolor": colour, "label": label}
        ax.scatter(x + beside, y, s=44, zorder=3, **looks)
        if len(runs) <= 2 and len(y):
            top, inwards = y.argmax(), -1 if x[y.argmax()] > np.mean(lambda_ps) else 1
            side = "left" if inwards > 0 else "right"
            ax.text(x[top] + beside + 0.015 * inwards, y[top], label, ha=side, va="center", color=colour)
    ax.set(xlabel=r"$\lambda_p$", ylabel="steps above $L$", ylim=(0, None))
    if len(runs) > 2:
        ax.legend()
    return figure


class Votes(NamedTuple):
    """How the places of one line vote on halting."""

    no: Sequence[Line]  # [steps, places]: 1 for a veto, 0 for none, or in between
    bits: Sequence[int]  # [places]
    halts: int  # the step
    need: int  # L
    title: str


NO = LinearSegmentedColormap.from_list("no", ["#FFFFFF", ORANGE])


@slide
def who_votes_no(lines: Sequence[Votes]) -> Figure:
    """Draw who votes no at each step, a panel for each line of as many places, its bits above it."""
    places = len(lines[0].bits)
    figure, axes = panels(len(lines), width=min(4.6, 1.6 + 0.3 * places), height=3.9, sharey=True)
    for ax, line in zip(axes, lines, strict=True):
        steps = len(line.no)
        ax.imshow(line.no, extent=(0.5, places + 0.5, steps + 0.5, 0.5), aspect="auto", cmap=NO, vmin=0, vmax=1)
        ax.axhline(line.need - 0.5, color=BLACK, linewidth=2.4, label="$L$: the news is everywhere")
        ax.axhline(line.halts - 0.5, color=BLUE, linewidth=3, linestyle="--", label="the line halts")
        for place, bit in enumerate(line.bits, start=1):
            ax.annotate(f"{bit}", (place, 0.5), (0, 4), textcoords="offset points", ha="center", fontsize=11)
        ax.set_title(line.title, pad=22)
        ax.set(xlabel="place")
        ax.grid(visible=False)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=3))
    axes[0].set_ylabel("step $n$")
    axes[0].fill_between([], [], color=ORANGE, label="votes no")
    return legend(figure, columns=3)


@slide
def fixed_and_by_itself(by_step: Sequence[Line], halted: Points, need: int) -> Figure:
    """Draw how many lines are right at each fixed step, a line for each run; a mark for each that halts by itself.

    by_step: [runs, N]; halted: (mean steps, fraction right) of each run; need: L, of all lines.
    """
    figure, (ax,) = panels(1, width=7.4, height=4.4)
    for i, line in enumerate(by_step):
        n = step_axis(ax, len(line))
        ax.plot(n, line, color=SKY, linewidth=1.2, alpha=0.8, label="stopped at a fixed step" if i == 0 else None)
    marks(ax, halted, 4, 60, full=True, label="halted by itself (mean steps)", zorder=3)
    ax.axvline(need, color=BLACK, linewidth=2, label=f"$L = {need}$")
    ax.axvline(need / 2 + 1, color=BLACK, linewidth=1.4, linestyle=":", label="$L / 2 + 1$")
    ax.set(xlabel="step $n$", ylabel="whole lines right", ylim=(0, 1.06))
    return legend(figure, columns=2)
