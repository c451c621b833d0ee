"""Figures of networks that think about images of digits."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ponder_course.common.style import BLACK, GREY, Line, Points, legend, look, marks, panels, slide, spread, step_axis
from ponder_course.common.verdicts import interval, verdict

# The look of the first, second and third network of a figure: not in the red of what is wrong.
LOOKS = (0, 2, 3)


def look_of(name: str, position: int) -> int:
    """Return which look a network has, by its place in the figure: wrong answers and the early mean are red."""
    return 1 if name.startswith(("wrong", "early mean")) else LOOKS[position]


@slide
def flat_line(
    curves: Mapping[str, Sequence[Line]], own: Mapping[str, Points], fixed: Mapping[str, Points], live: int,
    chance: float,
) -> Figure:  # fmt: skip
    """Draw the accuracy if a network always stopped at step n, its name at the end of its line.

    curves: {network: [runs, N]}; the first `live` runs are darker. own and fixed: {network: (steps, accuracy) of each
    run} where it halts by itself, full marks, and where it was trained for that number of steps alone, hollow marks.
    """
    figure, (ax,) = panels(1, width=8.4, height=4.7)
    longest = max(len(runs[0]) for runs in curves.values())
    for which, (name, runs) in zip(LOOKS[: len(curves)], curves.items(), strict=True):
        n = step_axis(ax, len(runs[0]))
        spread(ax, list(n), runs, name, which, live)
        marks(ax, own[name], which, 60, full=True, zorder=4)
        if fixed.get(name):
            marks(ax, fixed[name], which, 90, zorder=4)
        at_the_edge = len(n) == longest
        x, y, side, height = (0, -12, "right", "top") if at_the_edge else (10, -4, "left", "center")
        end = (n[-1], np.mean(runs, axis=0)[-1])
        label, colour = str(ax.lines[-1].get_label()), look(which)["color"]
        ax.lines[-1].set_label("_named at its end")
        text = ax.annotate(label, end, (x, y), textcoords="offset points", ha=side, va=height)
        text.set(color=colour, fontweight="bold")
    ax.axhline(chance, color=BLACK, linestyle=":", linewidth=1.4)
    ax.annotate("a guess", (longest, chance), (0, 4), textcoords="offset points", ha="right")
    ax.scatter([], [], s=60, facecolor=GREY, edgecolor=GREY, label="full: left to itself")
    if any(map(len, fixed.values())):
        ax.scatter([], [], s=90, facecolor="none", edgecolor=GREY, label="hollow: trained for this many steps alone")
    ax.legend(loc="lower right", bbox_to_anchor=(1, 0.2))
    ax.set(xlabel="step after which it is stopped", ylabel="digits read correctly", ylim=(0, 1.04))
    ax.set(xlim=(0.5, longest + 0.5), yticks=np.linspace(0, 1, 6))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_xticks([1, *range(5, longest + 1, 5)])
    return figure


@slide
def over_angles(
    angles: Sequence[float], groups: Sequence[Mapping[str, Sequence[Line]]], labels: Sequence[str], border: float,
    live: int = 0, sharey: bool = False,
) -> Figure:  # fmt: skip
    """Draw numbers that depend on the angle, a panel for each group: {network: [runs, angles]}.

    Beyond the border all is grey; the first `live` runs of each network are darker; wrong answers are red.
    """
    figure, axes = panels(len(groups), width=4.2, height=3.6, sharey=sharey)
    for ax, group, label in zip(axes, groups, labels, strict=True):
        for position, (name, runs) in enumerate(group.items()):
            spread(ax, angles, runs, name, look_of(name, position), live)
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

    Each of the groups has its colour and mark, named below unless the rows name it. left and right say what a
    difference on that side of 0 means; in a single panel the verdict stands beside its row. Few rows are drawn larger.
    """
    few = len(rows) < 9
    width, height = (4.8 if len(x_labels) > 1 else 8.2 if few else 9.4), (0.68 if len(rows) < 6 else 0.36 + 0.12 * few)
    small, large = (50, 120) if few else (22, 62)  # marks
    figure, axes = panels(len(x_labels), width=width, height=1.7 + height * len(rows), sharex=True, sharey=True)
    looks = {group: look_of(group, position) for position, group in enumerate(groups)}
    colours = [look(looks[row.group])["color"] if row.group else BLACK for row in rows]
    for panel, (ax, x_label) in enumerate(zip(axes, x_labels, strict=True)):
        for y, (row, colour) in enumerate(zip(rows, colours, strict=True)):
            if not row.group or not len(row.panels[panel]):
                continue
            which, values = looks[row.group], row.panels[panel]
            marks(ax, [(value, y + 0.22) for value in values], which, small, zorder=2, alpha=0.7)
            mean, low, high = interval(values)
            ax.plot([low, high], [y - 0.08] * 2, color=colour, linewidth=3, zorder=3, solid_capstyle="butt")
            marks(ax, [(mean, y - 0.08)], which, large, full=True, zorder=4)
            if left and len(x_labels) == 1:
                found = verdict(values, what=(right, left)).partition(":")[0]
                ax.annotate(found, (1.02, y), xycoords=("axes fraction", "data"), va="center", color=colour)
        ax.axvline(0, color=BLACK, linewidth=1.2)
        ax.set(xlabel=x_label, ylim=(len(rows) - 0.4, -0.7))
        ax.grid(visible=False, axis="y")
        ax.xaxis.set_major_locator(MaxNLocator(5))
    axes[0].set_yticks(range(len(rows)), [row.label for row in rows])
    for text, row, colour in zip(axes[0].get_yticklabels(), rows, colours, strict=True):
        text.set(fontweight="normal" if row.group else "bold", color=colour)
    for group, which in looks.items():
        if any(row.group == group for row in rows):
            marks(axes[0], [], which, 62, full=True, label=group)
    for x, side, meaning in ((0.02, "left", left), (0.98, "right", right)):
        axes[0].annotate(meaning, (x, 1.01), ha=side, xycoords="axes fraction", color="#555555")
    named = all(row.label.startswith(row.group) for row in rows)
    return figure if named else legend(figure, columns=len(groups))
