"""Figures of the evidence of lesson 05."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from ponder_course.common import style
from ponder_course.common.style import Line, Points
from ponder_course.light_cone.figures import Votes, write_above

NO = LinearSegmentedColormap.from_list("no", ["#FFFFFF", style.ORANGE])


@style.slide
def who_votes_no(lines: Sequence[Votes]) -> Figure:
    """Draw who votes no at each step, a panel for each line of as many places, its bits above it."""
    width = min(4.6, 1.6 + 0.3 * len(lines[0].bits))
    figure, axes = style.panels(len(lines), width=width, height=3.9, sharey=True)
    for ax, line in zip(axes, lines, strict=True):
        style.steps_down(ax, line.no, cmap=NO, vmin=0, vmax=1)
        ax.axhline(line.need - 0.5, color=style.BLACK, linewidth=2.4, label="$L$: the news is everywhere")
        ax.axhline(line.halts + 0.5, color=style.BLUE, linewidth=3, linestyle="--", label="the line halts")
        write_above(ax, line.bits, fontsize=12.5)
        ax.set_title(line.title, pad=22)
    axes[0].set_ylabel("step $n$")
    axes[0].fill_between([], [], color=style.ORANGE, label="votes no")
    return style.legend(figure, columns=3)


@style.slide
def fixed_and_by_itself(by_step: Sequence[Line], halted: Points, need: int) -> Figure:
    """Draw how many lines are right at each fixed step, a line for each run; a mark for each that halts by itself.

    by_step: [runs, N]; halted: (mean steps, fraction right) of each run; need: L, of all lines.
    """
    figure, (ax,) = style.panels(1, width=7.4, height=4.4)
    n = style.step_axis(ax, max(map(len, by_step), default=0))
    style.lines(ax, list(n), by_step, "stopped at a fixed step", color=style.SKY, linewidth=1.2, alpha=0.8)
    style.marks(ax, halted, 4, 60, full=True, label="halted by itself (mean steps)", zorder=3)
    ax.axvline(need, color=style.BLACK, linewidth=2, label=f"$L = {need}$")
    ax.axvline(need / 2 + 1, color=style.BLACK, linewidth=1.4, linestyle=":", label="$L / 2 + 1$")
    ax.set(ylabel="whole lines right", ylim=(0, 1.06))
    return style.legend(figure, columns=2)


@style.slide
def by_group(values: Mapping[str, Mapping[str, Line]], label: str, limits: tuple[float, float]) -> Figure:
    """Draw a mark for every run, in rows: {row: {series: values}}."""
    figure, (ax,) = style.panels(1, width=8.2, height=1.8 + 0.5 * len(values))
    series = list(dict.fromkeys(name for row in values.values() for name in row))
    for which, name in enumerate(series):
        shift = 0.16 * (which - (len(series) - 1) / 2)
        points = [(x, y + shift) for y, row in enumerate(values.values()) for x in row.get(name, [])]
        style.marks(ax, points, which, 36, zorder=3, label=name)
    ax.set(xlabel=label, yticks=range(len(values)), yticklabels=list(values))
    ax.set(xlim=limits, ylim=(len(values) - 0.5, -0.5))
    return style.legend(figure, columns=len(series)) if len(series) > 1 else figure


@style.slide
def above_the_limit(lambda_ps: Line, theory: Mapping[str, Line], runs: Mapping[str, Points]) -> Figure:
    """Draw steps above L against the prior's lambda_p: two lines of theory, and a mark for every run.

    Runs have the colour of PonderNet, or as in lesson 02 that of the reversed divergence where their label says so.
    """
    figure, (ax,) = style.panels(1, width=7.4, height=4.4)
    for (label, line), dashes in zip(theory.items(), "-:", strict=True):
        ax.plot(lambda_ps, line, color=style.BLACK, linewidth=1.8, linestyle=dashes, label=label)
    for which, (label, points) in enumerate(runs.items()):
        x, y = np.reshape(points, (-1, 2)).T
        x = x + 0.008 * (which - (len(runs) - 1) / 2)
        colour = style.PURPLE if "reversed" in label else style.GREEN
        ax.scatter(x, y, s=44, zorder=3, marker=style.MARKERS[which], facecolor="none", edgecolor=colour, label=label)
    ax.set(xlabel=r"$\lambda_p$", ylabel="steps above $L$", ylim=(0, None))
    ax.legend()
    return figure


@style.slide
def deadlines(since: Mapping[str, Sequence[Line]]) -> Figure:
    """Draw the step from which places are right for good against their need, a line for each network.

    since: {label: [networks, L]}, for L from 1 on. As fast as news can travel, it is step L.
    """
    figure, (ax,) = style.panels(1, width=8.2, height=5.0)
    for which, (label, networks) in enumerate(since.items()):
        for i, steps in enumerate(networks):
            ax.plot(range(1, len(steps) + 1), steps, label=None if i else label, **style.look(which, markersize=4))
    needs = range(1, 1 + max((len(steps) for networks in since.values() for steps in networks), default=0))
    ax.plot(needs, needs, color=style.LIMIT, linewidth=2.4, linestyle=":", label="as fast as news can travel")
    ax.set(xlabel="steps that a place needs, $L$", ylabel="right for good from step", ylim=(0, None))
    return style.legend(figure, columns=2)
