"""Figures of Adaptive Computation Time: how it halts, what that costs, and how it answers to its price."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_course.figures.style import BLACK, BLUE, GREY, SKY, Line, legend, look, marks, panels, slide, step_axis


@slide
def halting(h: Sequence[Line], p: Sequence[Line], epsilon: Line) -> Figure:
    """Halting by threshold, a panel for each case: h_n and their sum against 1 - epsilon, and the weights p_n."""
    figure, axes = panels(len(h), width=max(3.1, 5.2 / len(h)), height=3.6, sharey=True)
    for ax, h_n, p_n, eps in zip(axes, h, p, epsilon, strict=True):
        n_updates, remainder = len(p_n), p_n[-1]
        title = f"$N$ = {n_updates}, $R$ = {remainder:.2f}"
        n = step_axis(ax, len(h_n), xlabel="update $n$", title=title, xlim=(0.5, len(h_n) + 0.5), ylim=(0, 1.55))
        made, never = slice(n_updates), slice(n_updates, None)
        dots = look(0, markersize=5, linestyle="none")
        ax.bar(n[made], p_n, color=SKY, label="weight $p_n$")
        ax.plot(n[made], h_n[made], **dots, label="halting unit $h_n$")
        ax.plot(n[never], h_n[never], **dots, fillstyle="none", label="$h_n$ of updates never made")
        ax.plot(n[made], np.cumsum(h_n[made]), **look(1, markersize=4), label="$h_1 + ... + h_n$")
        ax.axhline(1 - eps, color=BLACK, linestyle=":", label=r"$1 - \epsilon$")
    return legend(figure, columns=3 if len(h) > 1 else 2)


@slide
def jumps(unit: Line, n_updates: Line, remainder: Line, cost: Line, told: Line) -> Figure:
    """N, R and P as the first halting unit slides, and the cost that the gradient alone would tell of.

    Where they jump, a full dot is on the value that is taken, and a hollow one on the other.
    """
    figure, axes = panels(3)
    titles = ("updates $N$", "remainder $R$", "ponder cost $P = N + R$")
    after = np.flatnonzero(np.diff(n_updates)) + 1  # the first points behind the jumps
    for ax, values, title in zip(axes, (n_updates, remainder, cost), titles, strict=True):
        ax.plot(*np.insert(np.array([unit, values], float), after, np.nan, axis=1), color=BLUE, label="as it is")
        for ends, face in ((after - 1, "white"), (after, BLUE)):
            dots = look(0, markerfacecolor=face, markersize=6, linestyle="none")
            ax.plot(np.take(unit, after), np.take(values, ends), **dots)
        ax.set(title=title, xlabel="halting unit $h_1$")
    axes[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    axes[2].plot(unit, told, **look(1, marker=None), label="as its gradient tells")
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
            its = table[table["kind"] == kind]
            x, colour = its["setting"].map(place) + 0.2 * (which - (len(kinds) - 1) / 2), look(which)["color"]
            means = its[column].where(its["learnt"]).groupby(x).mean().dropna()
            style = look(which, linestyle="-", linewidth=1.4, markersize=6, markevery=[])  # marks in the legend alone
            ax.plot(means.index, means, **style, label=f"{kind}, learnt" if len(kinds) > 1 else "learnt")
            for live in (False, True):
                for learnt in (False, True):
                    chosen = (its["live"] == live) & (its["learnt"] == learnt)
                    edge = colour if learnt else GREY
                    ax.scatter(x[chosen], its[column][chosen], s=34, marker=look(which)["marker"],
                               facecolor=edge if live else "none", edgecolor=edge, zorder=3)  # fmt: skip
        ax.scatter([], [], s=34, facecolor="none", edgecolor=GREY, label="not learnt")
        ax.set(ylabel=label, xlabel=x_label, xlim=(-0.5, max(len(settings), 1) - 0.5))
        ax.set_xticks(range(len(settings)), [f"{setting:g}" for setting in settings])
        ax.set_ylim(*((0.45, 1.03) if column == "accuracy" else (0, None)))
    for setting, rows in table.groupby("setting") if len(kinds) == 1 else ():
        told = f"{rows['learnt'].sum()} of {len(rows)}"
        above = axes[0].get_xaxis_transform()
        axes[0].annotate(told, (place[setting], 1.03), xycoords=above, ha="center", fontsize=11)
    return legend(figure, columns=4)


@slide
def stories(
    runs: Mapping[str, Sequence[Mapping[str, Line]]], dear: Mapping[str, Sequence[tuple[float, float]]], live: int = 0
) -> Figure:
    """How networks learn while their price changes: when it is high, accuracy, and updates of the state.

    Runs are {story: [run, ...]}, a run has update, accuracy and thinks [points]; the first `live` of each story are
    thicker. Dear: {story: [(from batch, to batch), ...]}, when thinking is expensive; a story where it never is is
    dashed, and on top. Peaks of N, at most two in a hundred of its values, are cut off.
    """
    figure = Figure(figsize=(9.0, 6.6), layout="constrained")
    prices, right, thinks = figure.subplots(3, 1, sharex=True, height_ratios=(0.16 * (len(runs) + 1), 2, 1.6))
    end: float = 1
    for which, (story, its) in enumerate(runs.items()):
        colour, dashes = look(which)["color"], {} if dear[story] else {"linestyle": "--", "zorder": 3}
        _draw(right, thinks, its, live, color=colour, **dashes)
        right.plot([], [], color=colour, label=story, **dashes)
        its_end = max((max(run["update"]) for run in its), default=1)
        end = max(end, its_end)
        prices.plot([0, its_end], [which, which], color=colour, linewidth=1.2, alpha=0.6, **dashes)
        for start, stop in dear[story]:
            prices.plot([start, stop], [which, which], color=colour, linewidth=9, solid_capstyle="butt")
    prices.set(yticks=range(len(runs)), yticklabels=list(runs), ylim=(len(runs) - 0.5, -0.5), xlim=(0, end))
    prices.set_title("bars: thinking is dear")
    prices.grid(visible=False)
    right.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2, label="chance")
    right.set(ylabel="accuracy", ylim=(0.43, 1.03))
    thinks.set(ylabel="updates $N$", xlabel="batches", ylim=_without_peaks(runs))
    for ax in (prices, right):
        ax.set_xlabel(" ", fontsize=1)
    return legend(figure, columns=min(len(runs) + 1, 4))


@slide
def over_batches(
    runs: Mapping[str, Sequence[Mapping[str, Line]]], first: int = 0, falls: float | None = None
) -> Figure:
    """Accuracy above, updates of the state below, while networks train: a column for each name, a line for each run.

    Runs are {name: [run, ...]} as for `stories`; the first name has the colour of that number. Where the price `falls`
    there is a dotted line, and peaks of N are cut off.
    """
    figure, axes = panels(2 * len(runs), 3.3 if len(runs) > 1 else 6.6, 2.0, rows=2, sharex=True, sharey="row")
    for i, (name, its) in enumerate(runs.items()):
        above, below = axes[i], axes[i + len(runs)]
        _draw(above, below, its, live=len(runs) == len(its) == 1, color=look(first + i)["color"])
        above.set(title=name, ylim=(0.43, 1.03))
        below.set(xlabel="batches", xlim=(0, None), ylim=(0.8, None) if falls is None else _without_peaks(runs))
        below.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        for ax in (above, below):
            ax.axvline(falls or 0, color=BLACK, linestyle=":", linewidth=1.4, visible=falls is not None)
        above.set_xlabel(" ", fontsize=1)
    axes[0].set_ylabel("accuracy")
    axes[len(runs)].set_ylabel("updates $N$")
    return figure


def _draw(right: Axes, thinks: Axes, its: Sequence[Mapping[str, Line]], live: int = 0, **style: Any) -> None:
    for i, run in enumerate(its):
        for ax, column in ((right, "accuracy"), (thinks, "thinks")):
            ax.plot(run["update"], run[column], linewidth=2.4 if i < live else 1.1, alpha=0.75, **style)


def _without_peaks(runs: Mapping[str, Sequence[Mapping[str, Line]]]) -> tuple[float, float]:
    """The limits of an axis of N that at most two in a hundred values are above."""
    values = [n for its in runs.values() for run in its for n in run["thinks"]]
    return 0.8, 1.05 * np.quantile(values or [2], 0.98)


@slide
def trade_off(runs: dict[str, Sequence[tuple[float, float]]], chance: float) -> Figure:
    """Accuracy against updates per answer, a mark for every run: {kind of network: [(updates, accuracy), ...]}."""
    figure, (ax,) = panels(1, width=7.4, height=4.0)
    for which, (name, points) in enumerate(runs.items()):
        marks(ax, points, which, 26, label=name)
    ax.axhline(chance, color=BLACK, linestyle=":", label="chance")
    ax.set(xlabel="updates for an answer (mean)", ylabel="accuracy", ylim=(0.45, 1.02))
    ax.set_xscale("log" if any(runs.values()) else "linear")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("{x:g}")
    ax.legend(loc="center", bbox_to_anchor=(0.7, 0.45))  # where no run lies
    return figure


@slide
def small_test_sets(
    epochs: Line, curves: Sequence[Line], live: int, counts: dict[int, Sequence[int]], printed: Sequence[int]
) -> Figure:
    """Accuracy on all inputs while training, and what sets of 16 say about one network at the end.

    The curves are [runs, points], the first `live` of this session, which may be shorter. Counts are {epochs: on how
    many test sets of 16 the networks then had 0, 1, ..., 16 right [17]}, and printed: how many were right in each of
    the scores that were published.
    """
    figure, (left, right) = panels(2, width=5.0, height=4.0)
    of_session = look(1, marker=None, linestyle="-", linewidth=1.6)
    stored = look(0, marker=None, linestyle="--", linewidth=0.9, alpha=0.6)
    for i, curve in enumerate(curves):
        label = {0: "this session", live: "stored"}.get(i)
        left.plot(epochs[: len(curve)], curve, **(of_session if i < live else stored), label=label)
    left.axhline(0.5, color=BLACK, linestyle=":", label="chance")
    left.set(xlabel="epoch of 160 inputs", ylabel="accuracy on all possible inputs", ylim=(0.4, 1.02))
    left.legend()
    for (after, sets), colour, shift in zip(counts.items(), (SKY, BLUE), (-0.2, 0.2), strict=False):
        x, share = np.arange(17) + (shift if len(counts) > 1 else 0), np.divide(sets, sum(sets))
        right.bar(x, share, width=0.4, color=colour, label=f"ours after {after} epochs")
    places = [(score, 0.012 + 0.02 * printed[:i].count(score)) for i, score in enumerate(printed)]  # equals piled up
    dots = look(1, marker="D", markersize=5, linestyle="none")
    right.plot(*np.transpose(places), **dots, label="printed in the presentation")
    right.set(xlabel="right of 16 random inputs", ylabel="share of test sets", ylim=(0, 1.3 * right.get_ylim()[1]))
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.legend(loc="upper left")
    return figure
