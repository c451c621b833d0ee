"""Figures of networks that think about images of digits."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator, PercentFormatter

from ponder_course.figures.style import BLACK, Line, Points, legend, look, marks, panels, slide, spread, step_axis
from ponder_course.verdicts import interval


@slide
def flat_line(
    curves: Mapping[str, Sequence[Line]], own: Mapping[str, Points], fixed: Mapping[str, Points], live: int,
    chance: float,
) -> Figure:  # fmt: skip
    """Draw the accuracy if a network always stopped at step n; what is above 85 % again, magnified.

    curves: {network: [runs, N]}; the first `live` runs are darker. own and fixed: {network: (steps, accuracy) of each
    run} where it halts by itself, full marks, and where it was trained for that number of steps alone, hollow marks.
    """
    figure, (ax,) = panels(1, width=8.6, height=5.2)
    longest = max(len(runs[0]) for runs in curves.values())
    axes = [ax]
    if any(np.max(runs) > 0.85 for runs in curves.values()):
        axes.append(ax.inset_axes((0.57, 0.2, 0.41, 0.46)))
    for shown in axes:
        for which, (name, runs) in enumerate(curves.items()):
            spread(shown, list(step_axis(shown, len(runs[0]))), runs, name, which, live)
            marks(shown, own[name], which, 40, full=True, zorder=4, label=f"{name}: left to itself")
            if fixed.get(name):
                marks(shown, fixed[name], which, 70, zorder=4, label=f"{name}: trained for one depth")
        shown.set(xlim=(0.5, longest + 0.5), xlabel="", ylim=(0.85, 1), title="the top of it, magnified")
        shown.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        shown.set_yticks([0.85, 0.9, 0.95, 1])
        shown.xaxis.set_major_locator(MultipleLocator(5))
    ax.axhline(chance, color=BLACK, linestyle=":", linewidth=1.4, label="a guess")
    ax.set(xlabel="step at which it is stopped", ylabel="digits read correctly", ylim=(0, 1.04), title="")
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.xaxis.set_major_locator(MultipleLocator(2))
    return legend(figure, columns=3)


@slide
def over_angles(
    angles: Sequence[float], groups: Sequence[Mapping[str, Sequence[Line]]], labels: Sequence[str], border: float,
    live: int = 0, sharey: bool = False,
) -> Figure:  # fmt: skip
    """Draw numbers that depend on the angle, a panel for each group: {network: [runs, angles]}.

    Beyond the border all is grey; the first `live` runs of each network are darker.
    """
    figure, axes = panels(len(groups), width=4.7, height=3.9, sharey=sharey)
    for ax, group, label in zip(axes, groups, labels, strict=True):
        for which, (name, runs) in enumerate(group.items()):
            spread(ax, angles, runs, name, which, live)
        ax.axvspan(border, max(angles), color="#EEEEEE", zorder=0)
        ax.set(xlabel="turned by so many degrees", ylabel=label, xlim=(min(angles), max(angles)))
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 3, 4.5, 9, 10]))
    for ax in axes:  # when all are drawn: they may share their axis
        ax.set_ylim(bottom=0)
    return legend(figure, columns=2)


class Difference(NamedTuple):
    """A row of `forest`. Without a group it is a heading."""

    label: str
    group: str = ""
    panels: Sequence[Line] = ()  # the values of each panel


@slide
def forest(
    rows: Sequence[Difference], x_labels: Sequence[str], groups: Sequence[str], left: str = "", right: str = ""
) -> Figure:
    """Draw differences, panel by panel: a mark for every run, the mean with its 95 % interval, and a line at 0.

    Each of the groups has its colour and mark. left and right say what a difference on that side of 0 means.
    """
    width = 4.8 if len(x_labels) > 1 else 8.0
    figure, axes = panels(len(x_labels), width=width, height=1.9 + 0.36 * len(rows), sharex=True, sharey=True)
    for panel, (ax, x_label) in enumerate(zip(axes, x_labels, strict=True)):
        for y, row in enumerate(rows):
            if row.group and len(row.panels[panel]):
                which, values = groups.index(row.group), row.panels[panel]
                marks(ax, [(value, y + 0.22) for value in values], which, 22, zorder=2, alpha=0.6)
                mean, low, high = interval(values)
                ax.plot([low, high], [y - 0.08] * 2, color=look(which)["color"], linewidth=3, zorder=3)
                marks(ax, [(mean, y - 0.08)], which, 62, full=True, zorder=4)
        ax.axvline(0, color=BLACK, linewidth=1.2)
        ax.set(xlabel=x_label, ylim=(len(rows) - 0.4, -0.7))
        ax.grid(visible=False, axis="y")
        ax.xaxis.set_major_locator(MaxNLocator(5))
    axes[0].set_yticks(range(len(rows)), [row.label for row in rows])
    for text, row in zip(axes[0].get_yticklabels(), rows, strict=True):
        text.set_fontweight("normal" if row.group else "bold")
    for which, group in enumerate(groups):
        if any(row.group == group for row in rows):
            marks(axes[0], [], which, 62, full=True, label=group)
    for x, side, meaning in ((0.02, "left", left), (0.98, "right", right)):
        axes[0].annotate(meaning, (x, 1.01), ha=side, xycoords="axes fraction", fontsize=11, color="#555555")
    return legend(figure, columns=len(groups))
