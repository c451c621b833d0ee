"""Figures of Adaptive Computation Time: how it halts, what that costs, and how it answers to its price."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_course.figures.style import BLACK, BLUE, GREY, SKY, Line, legend, look, panels, slide, step_axis

Runs = Mapping[str, Sequence[Mapping[str, Line]]]  # {name: [run, ...]}; a run has update, accuracy and steps [points]


@slide
def halting(h: Sequence[Line], p: Sequence[Line], epsilon: Line) -> Figure:
    """Halting by threshold, a panel for each case: h_n and their sum against 1 - epsilon, and the weights p_n."""
    figure, axes = panels(len(h), width=max(3.1, 5.2 / len(h)), height=3.6, sharey=True)
    for ax, h_n, p_n, eps in zip(axes, h, p, epsilon, strict=True):
        title = f"$N$ = {len(p_n)}, $R$ = {p_n[-1]:.2f}"
        n = step_axis(ax, len(h_n), title=title, xlim=(0.5, len(h_n) + 0.5), ylim=(0, 1.55))
        made, never = slice(len(p_n)), slice(len(p_n), None)
        dots = look(0, markersize=5, linestyle="none")
        ax.bar(n[made], p_n, color=SKY, label="weight $p_n$")
        ax.plot(n[made], h_n[made], **dots, label="halting unit $h_n$")
        ax.plot(n[never], h_n[never], **dots, fillstyle="none", label="$h_n$ of steps never made")
        ax.plot(n[made], np.cumsum(h_n[made]), **look(1, markersize=4), label="$h_1 + ... + h_n$")
        ax.axhline(1 - eps, color=BLACK, linestyle=":", label=r"$1 - \epsilon$")
    return legend(figure, columns=3 if len(h) > 1 else 2)


@slide
def jumps(unit: Line, steps: Line, remainder: Line, cost: Line, by_gradient: Line) -> Figure:
    """N, R and P as the first halting unit slides, and the cost that the gradient alone would add up to.

    Where they jump, a full dot is on the value that is taken, and a hollow one on the other.
    """
    figure, axes = panels(3)
    titles = ("steps $N$", "remainder $R$", "ponder cost $P = N + R$")
    after = np.flatnonzero(np.diff(steps)) + 1  # the first points behind the jumps
    for ax, values, title in zip(axes, (steps, remainder, cost), titles, strict=True):
        ax.plot(*np.insert(np.array([unit, values], float), after, np.nan, axis=1), color=BLUE, label="as it is")
        for ends, face in ((after - 1, "white"), (after, BLUE)):
            dots = look(0, markerfacecolor=face, markersize=6, linestyle="none")
            ax.plot(np.take(unit, after), np.take(values, ends), **dots)
        ax.set(title=title, xlabel="halting unit $h_1$")
    axes[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    axes[2].plot(unit, by_gradient, **look(1, marker=None), label="as its gradient tells")
    axes[2].legend()
    return figure


@slide
def by_setting(table: DataFrame, columns: dict[str, str], x_label: str) -> Figure:
    """A mark for every run, and a line through the means of those that learnt; the others are grey, and counted.

    The table has a row for each run: kind, setting, learnt, live (of this session?), and the columns, {column: label of
    its panel's y axis}. Settings stand side by side, in rising order. If there is one kind of run, it stands above the
    first panel how many learnt.
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
    such a time is dashed, and on top. Peaks of N, at most two in a hundred of its values, are cut off.
    """
    figure = Figure(figsize=(9.0, 6.6), layout="constrained")
    prices, accuracy, steps = figure.subplots(3, 1, sharex=True, height_ratios=(0.16 * (len(runs) + 1), 2, 1.6))
    ends = {story: max((max(run["update"]) for run in group), default=1) for story, group in runs.items()}
    for which, (story, group) in enumerate(runs.items()):
        style = {"color": look(which)["color"]} | ({} if expensive[story] else {"linestyle": "--", "zorder": 3})
        _learning(accuracy, steps, group, live, **style)
        accuracy.plot([], [], **style, label=story)
        prices.plot([0, ends[story]], [which, which], linewidth=1.2, alpha=0.6, **style)
        for start, end in expensive[story]:
            prices.plot([start, end], [which, which], color=style["color"], linewidth=9, solid_capstyle="butt")
    prices.set(yticks=range(len(runs)), yticklabels=list(runs), title="bars: thinking is dear")
    prices.set(xlim=(0, max(ends.values(), default=1)), ylim=(len(runs) - 0.5, -0.5))
    prices.grid(visible=False)
    accuracy.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2, label="chance")
    accuracy.set(ylabel="accuracy", ylim=(0.43, 1.03))
    steps.set(ylabel="steps $N$", xlabel="batches", ylim=_without_peaks(runs))
    for ax in (prices, accuracy):
        ax.set_xlabel(" ", fontsize=1)
    return legend(figure, columns=min(len(runs) + 1, 4))


@slide
def over_batches(runs: Runs, first: int = 0, falls: float | None = None) -> Figure:
    """Accuracy above, steps below, while networks train: a column for each name, a line for each run.

    The first name has the colour of that number. Where the price `falls` there is a dotted line, and peaks of N are cut
    off.
    """
    figure, axes = panels(2 * len(runs), 3.3 if len(runs) > 1 else 6.6, 2.0, rows=2, sharex=True, sharey="row")
    for i, (name, group) in enumerate(runs.items()):
        above, below = axes[i], axes[i + len(runs)]
        _learning(above, below, group, live=len(runs) == len(group) == 1, color=look(first + i)["color"])
        above.set(title=name, ylim=(0.43, 1.03))
        below.set(xlabel="batches", xlim=(0, None), ylim=(0.8, None) if falls is None else _without_peaks(runs))
        below.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        for ax in (above, below):
            ax.axvline(falls or 0, color=BLACK, linestyle=":", linewidth=1.4, visible=falls is not None)
        above.set_xlabel(" ", fontsize=1)
    axes[0].set_ylabel("accuracy")
    axes[len(runs)].set_ylabel("steps $N$")
    return figure


def _learning(accuracy: Axes, steps: Axes, runs: Sequence[Mapping[str, Line]], live: int = 0, **style: Any) -> None:
    for i, run in enumerate(runs):
        width = 2.4 if i < live else 1.1
        accuracy.plot(run["update"], run["accuracy"], linewidth=width, alpha=0.75, **style)
        steps.plot(run["update"], run["steps"], linewidth=width, alpha=0.75, **style)


def _without_peaks(runs: Runs) -> tuple[float, float]:
    """Return the limits of an axis of N that at most two in a hundred values are above."""
    values = [n for group in runs.values() for run in group for n in run["steps"]]
    return 0.8, 1.05 * np.quantile(values or [2], 0.98)


@slide
def small_test_sets(epochs: Line, curves: Sequence[Line], counts: Sequence[int], printed: Sequence[int]) -> Figure:
    """Accuracy on all inputs while training, and what sets of 16 say about the networks at the end.

    The curves are [runs, points]. Counts are the number of test sets of 16 of which the networks had 0, 1, ..., 16
    right [17], and printed: how many were right in each of the scores that were published.
    """
    figure, (left, right) = panels(2, width=5.0, height=4.0)
    for i, curve in enumerate(curves):
        style = look(0, marker=None, linestyle="--", linewidth=0.9, alpha=0.6)
        left.plot(epochs, curve, **style, label="stored" if i == 0 else None)
    left.axhline(0.5, color=BLACK, linestyle=":", label="chance")
    left.set(xlabel="epoch of 160 inputs", ylabel="accuracy on all possible inputs", ylim=(0.4, 1.02))
    left.legend()
    label = f"ours after {max(epochs, default=0)} epochs"
    right.bar(np.arange(17), np.divide(counts, max(1, sum(counts))), width=0.4, color=SKY, label=label)
    places = [(score, 0.012 + 0.02 * printed[:i].count(score)) for i, score in enumerate(printed)]  # equals piled up
    dots = look(1, marker="D", markersize=5, linestyle="none")
    right.plot(*np.transpose(places), **dots, label="printed in the presentation")
    right.set(xlabel="right of 16 random inputs", ylabel="share of test sets", ylim=(0, 1.3 * right.get_ylim()[1]))
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.legend(loc="upper left")
    return figure
