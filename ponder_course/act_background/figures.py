"""Figures of Adaptive Computation Time: how it answers to its price."""

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from pandas import DataFrame

from ponder_course.act_background.experiment import learnt_at
from ponder_course.common.style import ANSWER, HALTING, NOT_LEARNT, Line, legend, look, panels, slide

Runs = Mapping[str, Sequence[Mapping[str, Line]]]  # {name: [run, ...]}; a run has update, accuracy and steps [points]


@slide
def by_setting(table: DataFrame, columns: dict[str, str], x_label: str, log: bool = False) -> Figure:
    """A mark for every run, and a line through the means of those that learnt; the others are light grey.

    Runs of one setting stand side by side, in the order of the table; `log` puts the settings on a log axis.

    The table has a row for each run: kind, setting, learnt, live (of this session?), and the columns, {column: label of
    its panel's y axis}. If there is one kind of run, accuracy has the colour of answers and all else that of halting,
    and above the first panel stands how many learnt.
    """
    width, height = (8.4, 4.6) if log else (5.0 if len(columns) > 1 else 6.6, 3.9)
    figure, axes = panels(len(columns), width=width, height=height)
    kinds, settings = list(dict.fromkeys(table["kind"])), sorted(set(table["setting"]))
    place = {setting: math.log10(setting) if log else float(i) for i, setting in enumerate(settings)}
    near = {b: place[b] - place[a] < 0.3 for a, b in itertools.pairwise(settings)}  # no room for labels side by side
    apart = 0.12 if log or len(kinds) > 1 else 0.3  # the marks of one setting, from first to last
    for ax, (column, label) in zip(axes, columns.items(), strict=True):
        for which, kind in enumerate(kinds):
            rows = table[table["kind"] == kind]
            middle = rows["setting"].map(place) + 0.2 * (which - (len(kinds) - 1) / 2)
            means = rows[column].where(rows["learnt"]).groupby(middle).mean().dropna()
            beside = rows.groupby("setting").cumcount() + 0.5
            x = middle + apart * (beside / rows.groupby("setting")["setting"].transform("size") - 0.5)
            colour = look(which)["color"] if len(kinds) > 1 else ANSWER if column == "accuracy" else HALTING
            # marks in the legend alone
            style = look(which, color=colour, linestyle="-", linewidth=1.4, markersize=6, markevery=[])
            if len(kinds) > 1 or column != "accuracy":  # all who learnt are right alike: no line says more
                ax.plot(means.index, means, **style, label=f"{kind}, learnt" if len(kinds) > 1 else "learnt")
            for (live, learnt), group in rows.groupby(["live", "learnt"]):
                edge = colour if learnt else NOT_LEARNT
                ax.scatter(x[group.index], group[column], s=40, marker=look(which)["marker"], linewidth=1.6,
                           facecolor=edge if live else "none", edgecolor=edge, zorder=3)  # fmt: skip
        ax.scatter([], [], s=40, facecolor="none", edgecolor=NOT_LEARNT, linewidth=1.6, label="not learnt")
        ends, rim = [*place.values()] or [0.0], 0.25 if log else 0.5
        ax.set(ylabel=label, xlabel=x_label, xlim=(ends[0] - rim, ends[-1] + rim))
        ax.set_xticks([*place.values()], ["\n" * near.get(setting, False) + f"{setting:g}" for setting in settings])
        ax.set_ylim(*((0.45, 1.03) if column == "accuracy" else (0, None)))
    if len(kinds) == 1:
        for setting, learnt in table.groupby("setting")["learnt"]:
            count = f"{learnt.sum()}/{len(learnt)}" + "\n" * near.get(setting, False)
            axes[0].text(place[setting], 1.02, count, transform=axes[0].get_xaxis_transform(), ha="center", va="bottom")
        return figure
    return legend(figure, columns=4)


@slide
def stories(runs: Runs, expensive: Mapping[str, Sequence[tuple[float, float]]], live: int = 0) -> Figure:
    """Accuracy above, steps below, while networks train: a column for each story, a line for each run.

    The first `live` runs of each story are thicker; those that have not learnt are light grey, and above each column
    stands how many have. Expensive: {story: [(from batch, to batch), ...]}, when thinking has a high price: shaded.
    Columns are as wide as their time is long, but none is narrower than half the widest. Peaks of N are cut off.
    """
    ends = [max((max(run["update"]) for run in group), default=1) for group in runs.values()]
    widths = [max(end, max(ends) / 2) for end in ends]
    few = len(runs) < 3
    figure = Figure(figsize=(8.6 if few else 10.0, 5.4), layout=ConstrainedLayoutEngine(wspace=0.06))
    axes = figure.subplots(2, len(runs), sharex="col", sharey="row", width_ratios=widths, squeeze=False)
    for column, (story, group), end in zip(axes.T, runs.items(), ends, strict=True):
        learnt = [learnt_at(dict(run)) is not None for run in group]
        for ax, values, colour in zip(column, ("accuracy", "steps"), (ANSWER, HALTING), strict=True):
            for i, run in enumerate(group):
                width = 2.8 if i < live else 1.3
                ax.plot(run["update"], run[values], color=colour if learnt[i] else NOT_LEARNT, linewidth=width,
                        zorder=3 if learnt[i] else 2)  # fmt: skip
            for start, stop in expensive[story]:
                ax.axvspan(start, stop, color=HALTING, alpha=0.15, linewidth=0, zorder=0)
        price = "high price" if few else r"high $\tau$"
        for start, stop in expensive[story]:
            column[0].text((start + stop) / 2, 0.36, price, ha="center", clip_on=True)
        title = f"{textwrap.fill(story, 60 // len(runs))}\n{sum(learnt)} of {len(group)} learn"
        column[0].set_title(title, fontsize=16 if few else 13)
        column[0].set_xlabel(" ", fontsize=1)
        column[1].set(xlabel="batches", xlim=(0, end))
    axes[0, 0].set(ylabel="accuracy", ylim=(0.33, 1.03), yticks=(0.5, 0.6, 0.7, 0.8, 0.9, 1.0))
    axes[1, 0].set(ylabel="steps $N$", ylim=without_peaks(runs))
    return figure


def without_peaks(runs: Runs) -> tuple[float, float]:
    """Return the limits of an axis of N that at most two in a hundred values are above."""
    values = [n for group in runs.values() for run in group for n in run["steps"]]
    return 0.8, 1.05 * np.quantile(values or [2], 0.98)
