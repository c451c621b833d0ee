"""Figures of Adaptive Computation Time: how it halts, what that costs, and how it answers to its price."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pandas import DataFrame

from ponder_course.figures.style import BLACK, GREY, Line, legend, look, panels, slide

Runs = Mapping[str, Sequence[Mapping[str, Line]]]  # {name: [run, ...]}; a run has update, accuracy and steps [points]


@slide
def by_setting(table: DataFrame, columns: dict[str, str], x_label: str) -> Figure:
    """A mark for every run, and a line through the means of those that learnt; the others are grey.

    The table has a row for each run: kind, setting, learnt, live (of this session?), and the columns, {column: label of
    its panel's y axis}. If there is one kind of run, it stands above the first panel how many learnt.
    """
    figure, axes = panels(len(columns), width=5.6 if len(columns) > 1 else 6.6, height=4.0)
    kinds, settings = list(dict.fromkeys(table["kind"])), sorted(set(table["setting"]))
    place = {setting: i for i, setting in enumerate(settings)}
    for ax, (column, label) in zip(axes, columns.items(), strict=True):
        for which, kind in enumerate(kinds):
            rows = table[table["kind"] == kind]
            x = rows["setting"].map(place) + 0.2 * (which - (len(kinds) - 1) / 2)
            means = rows[column].where(rows["learnt"]).groupby(x).mean().dropna()
            style = look(which, linestyle="-", linewidth=1.4, markersize=6, markevery=[])  # marks in the legend alone
            ax.plot(means.index, means, **style, label=f"{kind}, learnt" if len(kinds) > 1 else "learnt")
            for (live, learnt), group in rows.groupby(["live", "learnt"]):
                edge = look(which)["color"] if learnt else GREY
                ax.scatter(x[group.index], group[column], s=34, marker=look(which)["marker"],
                           facecolor=edge if live else "none", edgecolor=edge, zorder=3)  # fmt: skip
        ax.scatter([], [], s=34, facecolor="none", edgecolor=GREY, label="not learnt")
        ax.set(ylabel=label, xlabel=x_label, xlim=(-0.5, max(len(settings), 1) - 0.5))
        ax.set_xticks(range(len(settings)), [f"{setting:g}" for setting in settings])
        ax.set_ylim(*((0.45, 1.03) if column == "accuracy" else (0, None)))
    if len(kinds) == 1:
        for setting, learnt in table.groupby("setting")["learnt"]:
            count, above = f"{learnt.sum()} of {len(learnt)}", axes[0].get_xaxis_transform()
            axes[0].annotate(count, (place[setting], 1.03), xycoords=above, ha="center", fontsize=11)
    return legend(figure, columns=4)


@slide
def stories(runs: Runs, expensive: Mapping[str, Sequence[tuple[float, float]]], live: int = 0) -> Figure:
    """How networks learn while their price changes: when it is high, accuracy, and steps.

    The first `live` runs of each story are thicker. Expensive: {story: [(from batch, to batch), ...]}; a story without
    such a time is dashed, and on top. Peaks of N are cut off.
    """
    figure = Figure(figsize=(9.0, 6.6), layout="constrained")
    prices, accuracy, steps = figure.subplots(3, 1, sharex=True, height_ratios=(0.16 * (len(runs) + 1), 2, 1.6))
    ends = {story: max((max(run["update"]) for run in group), default=1) for story, group in runs.items()}
    for which, (story, group) in enumerate(runs.items()):
        style = {"color": look(which)["color"]} | ({} if expensive[story] else {"linestyle": "--", "zorder": 3})
        learning_panels(accuracy, steps, group, live, **style)
        accuracy.plot([], [], **style, label=story)
        prices.plot([0, ends[story]], [which, which], linewidth=1.2, alpha=0.6, **style)
        for start, end in expensive[story]:
            prices.plot([start, end], [which, which], color=style["color"], linewidth=9, solid_capstyle="butt")
    prices.set(yticks=range(len(runs)), yticklabels=list(runs), title="bars: thinking is dear")
    prices.set(xlim=(0, max(ends.values(), default=1)), ylim=(len(runs) - 0.5, -0.5))
    prices.grid(visible=False)
    accuracy.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2, label="chance")
    accuracy.set(ylabel="accuracy", ylim=(0.43, 1.03))
    steps.set(ylabel="steps $N$", xlabel="batches", ylim=without_peaks(runs))
    for ax in (prices, accuracy):
        ax.set_xlabel(" ", fontsize=1)
    return legend(figure, columns=min(len(runs) + 1, 4))


def learning_panels(
    accuracy: Axes, steps: Axes, runs: Sequence[Mapping[str, Line]], live: int = 0, **style: Any
) -> None:
    """Draw accuracy and steps of each run against batches; the first `live` runs are thicker."""
    for i, run in enumerate(runs):
        width = 2.4 if i < live else 1.1
        accuracy.plot(run["update"], run["accuracy"], linewidth=width, alpha=0.75, **style)
        steps.plot(run["update"], run["steps"], linewidth=width, alpha=0.75, **style)


def without_peaks(runs: Runs) -> tuple[float, float]:
    """Return the limits of an axis of N that at most two in a hundred values are above."""
    values = [n for group in runs.values() for run in group for n in run["steps"]]
    return 0.8, 1.05 * np.quantile(values or [2], 0.98)
