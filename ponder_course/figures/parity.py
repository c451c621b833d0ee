"""Figures of lesson 03: when networks halt as they learn, how they answer, and what their steps depend on."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_course.figures.style import BLACK, COLOURS, GREY, ORANGE, legend, look, marks, panels, slide, step_axis
from ponder_course.verdicts import interval
from ponder_utils.evaluation import Score

METHODS = (0, 3, 5, 6, 4)  # colours of PonderNet, which has the paper's loss, and of others than the forms of `rises`
PRIOR: dict[str, Any] = {"color": "#777777", "linestyle": ":", "linewidth": 1.8}
Line = Sequence[float]  # a number for each point
Row = Mapping[str, Any]  # a run: "accuracy" and "steps" for each k, and "learnt", True or False


@slide
def over_training(
    table: DataFrame, inputs: Mapping[str, str], prior: Line, moments: Sequence[int], last: int | None = None
) -> Figure:
    """Draw p_n at moments of training, and at the right the accuracy all through it: a row for each kind of network.

    A line for each network, full with a filled area for the first of two sets of inputs, dashed for the other.

    Args:
        table: that of `learning_curves`; p_n [N] of each set in its column, and the accuracy in "<column> right".
        inputs: {column: label} of the two sets.
        prior: [N], dotted.
        moments: updates, dotted in the panels of the accuracy.
        last: the last step that is drawn.
    """
    kinds = [*table.groupby("kind", sort=False)]
    n = np.arange(1, len(prior) + 1)
    wide = max(1.75, 5.4 / len(moments))
    figure = Figure(figsize=(wide * len(moments) + 2.9, 2.45 * len(kinds)), layout="constrained")
    ratios = [wide] * len(moments) + [2.6]
    hard: dict[str, Any] = {"color": BLACK, "linewidth": 1.6, "linestyle": "--"}
    rows = figure.subplots(len(kinds), len(ratios), sharey=True, squeeze=False, width_ratios=ratios)
    for i, (axes, (kind, networks)) in enumerate(zip(rows, kinds, strict=True)):
        looks = [{"color": COLOURS[i], "linewidth": 1.6}, hard]
        for ax, update in zip(axes, moments, strict=False):
            now = networks[networks["update"] == update]
            for column, line in zip(inputs, looks, strict=True):
                for p_n in now[column]:
                    if line is looks[0]:
                        ax.fill_between(n, p_n, color=line["color"], alpha=0.16, linewidth=0)
                    ax.plot(n, p_n, **line)
            ax.plot(n, prior, **PRIOR)
            ax.set(title=f"{update:,} updates" if i == 0 else "", xlim=(0.5, last or len(prior)), ylim=(0, 1.03))
            ax.set_xlabel("step $n$" if i == len(kinds) - 1 else " ")
            ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        for column, line in zip(inputs, looks, strict=True):
            for _, network in networks.groupby("network"):
                axes[-1].plot(network["update"], network[f"{column} right"], **line)
        for update in moments:
            axes[-1].axvline(update, color=GREY, linestyle=":", linewidth=1.2)
        axes[-1].set(title="accuracy" if i == 0 else "", xlabel="update" if i == len(kinds) - 1 else " ")
        axes[-1].xaxis.set_major_locator(MaxNLocator(3))
        axes[0].set_ylabel(f"{kind}\n$p_n$")
    names = [*inputs.values(), "prior"]
    easy = tuple(Line2D([], [], color=colour) for colour in COLOURS[: len(kinds)])
    handles: list[Any] = [easy, Line2D([], [], **hard), Line2D([], [], **PRIOR)]
    figure.legend(handles, names, loc="outside lower center", ncols=3, handler_map={tuple: HandlerTuple(None)})
    return figure


def _network(kind: int, which: int) -> dict[str, Any]:
    """Return the look of a network in every figure: the colour of its kind, a marker and dashes of its own."""
    return {**look(which, color=COLOURS[kind]), "markersize": 5.5, "markerfacecolor": "white", "linewidth": 1.5}


def _networks(ax: Axes, number: int) -> None:
    for which in range(number):
        ax.plot([], [], **{**_network(0, which), "color": BLACK}, label=f"network {which}")


@slide
def stopped_at(groups: Mapping[str, Sequence[Score]], chance: float = 0.5, lowest: float = 0.38) -> Figure:
    """Draw the accuracy if all inputs stopped at the same step n, and, larger, at the steps where networks halt.

    A panel for each group, {title: scores of its networks}. lowest: where the axis of the accuracy begins.
    """
    figure, axes = panels(len(groups), width=4.9, height=3.6, sharey=True)
    for kind, (ax, (title, scores)) in enumerate(zip(axes, groups.items(), strict=True)):
        for which, score in enumerate(scores):
            n = step_axis(ax, len(score.accuracy_by_step), title=title, ylim=(lowest, 1.05))
            ax.plot(n, score.accuracy_by_step, **_network(kind, which))
        for which, score in enumerate(scores):
            large = {"markersize": 12, "markerfacecolor": COLOURS[kind], "markeredgecolor": "white", "linestyle": ""}
            ax.plot([score.steps], [score.accuracy], **{**_network(kind, which), **large}, zorder=3)
        ax.axhline(chance, color=BLACK, linestyle=":", linewidth=1.3, label="chance")
    _networks(axes[0], max(map(len, groups.values())))
    axes[0].plot([], [], "o", color=BLACK, markersize=10, label="large: halting as it wants")
    axes[0].set_ylabel("accuracy")
    return legend(figure, columns=5)


@slide
def two_counts(groups: Mapping[str, Sequence[Row]], k: Sequence[int], label: str) -> Figure:
    """Draw steps against two counts of an input: left how many elements are not 0, right how many are +1.

    A row for each group, all with the same axes. groups: {title: networks}, which also have "by_ones", the steps where
    0, 1, 2, ... elements are +1.
    """
    figure, axes = panels(2 * len(groups), width=4.9, height=2.9, rows=len(groups), sharey=True)
    for kind, (title, networks) in enumerate(groups.items()):
        left, right = axes[2 * kind : 2 * kind + 2]
        for which, network in enumerate(networks):
            style = _network(kind, which) | ({} if network["learnt"] else {"color": GREY})
            left.plot(k, network["steps"], **style)
            right.plot(range(len(network["by_ones"])), network["by_ones"], **style)
        left.set(title=title, xlabel="elements that are not 0 ($k$)", ylabel=label)
        right.set(title=title, xlabel="elements that are +1")
        for ax in (left, right):
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylim(0)
    _networks(axes[0], max(map(len, groups.values())))
    if not all(network["learnt"] for networks in groups.values() for network in networks):
        axes[0].plot([], [], color=GREY, label="not learnt")
    return legend(figure, columns=4)


@slide
def traces(
    answers: Sequence[Line], halting: Sequence[Line], p: Sequence[Line], inputs: Sequence[Line], targets: Line,
    kind: int = 0,
) -> Figure:  # fmt: skip
    """Draw single inputs on their way through the steps: above the answer, P(odd), below lambda_n and p_n.

    answers, halting, p: [inputs, N] each. The elements -1, 0 and +1 of the inputs stand over their panels. The answer
    has the colour of the network's kind.
    """
    figure, axes = panels(2 * len(p), width=3.5, height=2.0, rows=2, sharex=True, sharey=True)
    for i, (x, target) in enumerate(zip(inputs, targets, strict=True)):
        above, below = axes[i], axes[i + len(p)]
        n = step_axis(below, len(p[i]), ylim=(-0.05, 1.08))
        signs = " ".join({-1: "\N{MINUS SIGN}", 0: "\N{MIDDLE DOT}", 1: "+"}[round(element)] for element in x)
        above.set_title(signs, family="monospace", fontsize=13, fontweight="bold")
        above.axhline(target, color=BLACK, linestyle=":", linewidth=1.4, label="right answer")
        above.plot(n, answers[i], **look(0, markersize=4, color=COLOURS[kind]), label="answer")
        above.set_xlabel(" ")
        below.bar(n, p[i], color=ORANGE, label="$p_n$")
        line = look(1, markersize=5, linestyle="-", color=ORANGE, markerfacecolor="white")
        below.plot(n, halting[i], **line, label=r"$\lambda_n$")
    axes[0].set_ylabel("P(odd)")
    axes[len(p)].set_ylabel("probability")
    return legend(figure, columns=4)


@slide
def rises(table: DataFrame, limits: tuple[float, float], label: str) -> Figure:
    """Draw mean rises with their intervals against lambda_p, a panel for each size and a mark for each loss.

    The table has a row for each run: size, loss, lambda_p, outcome and rise, which is drawn for those that "learnt".
    Fewer than three make no interval: their runs are crosses. What is beyond the limits is cut off. Above the axes
    stand the numbers of runs that have "not learnt", and in the upper row of those that "crashed", where there are any.
    """
    losses, lambda_ps = list(table["loss"].unique()), sorted(table["lambda_p"].unique())
    figure, axes = panels(table["size"].nunique(), width=5.4, height=4.5, sharey=True)
    heights = {"not learnt": 1.03, "crashed": 1.10}
    for ax, (size, runs) in zip(axes, table.groupby("size", sort=False), strict=True):
        ax.axhline(0, color=BLACK, linewidth=1.2)
        above = ax.get_xaxis_transform()  # x in data, y in heights of the axes
        for which, loss in enumerate(losses):
            ax.plot([], [], **look(which, linestyle="-"), label=loss)
        for (loss, lambda_p), group in runs.groupby(["loss", "lambda_p"], sort=False):
            which = losses.index(loss)
            x = lambda_p + 0.05 * (which - (len(losses) - 1) / 2)
            values = group["rise"][group["outcome"] == "learnt"].tolist()
            if len(values) > 2:
                middle, low, high = interval(values)
                ax.plot([x, x], [low, high], color=COLOURS[which], linewidth=2.2)
                ax.plot([x], [middle], **look(which, markersize=8))
            else:
                ax.plot([x] * len(values), values, "x", color=COLOURS[which], markersize=6)
            for outcome, height in heights.items():
                if number := (group["outcome"] == outcome).sum():
                    ax.text(x, height, str(number), color=COLOURS[which], ha="center", fontsize=11, transform=above)
        ax.set(xlabel=r"$\lambda_p$", ylim=limits, xlim=(lambda_ps[0] - 0.1, lambda_ps[-1] + 0.1))
        ax.set_title(size, pad=44)
        ax.set_xticks(lambda_ps)
    for name, height in heights.items():
        axes[0].text(-0.01, height, f"{name}:", ha="right", fontsize=11, transform=axes[0].transAxes)
    axes[0].set_ylabel(label)
    return legend(figure, columns=3)


@slide
def fractions(table: DataFrame, label: str) -> Figure:
    """Draw the fractions of networks that crashed, and of those that learnt, against lambda_p: a line for each loss.

    The table is that of `rises`; a row of panels for each size, all with the same axes.
    """
    sizes = table["size"].unique()
    figure, axes = panels(2 * len(sizes), width=4.6, height=2.7, rows=len(sizes), sharex=True, sharey=True)
    pairs = [(size, outcome) for size in sizes for outcome in ("crashed", "learnt")]
    for ax, (size, outcome) in zip(axes, pairs, strict=True):
        for which, (loss, runs) in enumerate(table[table["size"] == size].groupby("loss", sort=False)):
            fraction = (runs["outcome"] == outcome).groupby(runs["lambda_p"]).mean()
            ax.plot(fraction.index, fraction, **look(which, markersize=8), label=loss)
        ax.set(title=f"{size}: {outcome}", xlabel=r"$\lambda_p$", ylabel=label, ylim=(-0.04, 1.04))
        ax.set_xticks(sorted(table["lambda_p"].unique()))
    return legend(figure, columns=3)


def _against_k(ax: Axes, k: Sequence[int], networks: Sequence[Row], column: str, border: int, **line: Any) -> None:
    """Draw a line for each network, grey if it has not learnt; beyond the border of training the panel is grey."""
    for network in networks:
        ax.plot(k, network[column], **line | ({} if network["learnt"] else {"color": GREY, "alpha": 1.0}))
    ax.axvspan(border + 0.5, k[-1] + 0.5, color="#DDDDDD", zorder=0, linewidth=0)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.set(xlim=(k[0] - 0.5, k[-1] + 0.5), xlabel="non-zero elements $k$")
    if column == "accuracy":
        ax.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2)
        ax.set_ylim(0, 1.03)


def _title(name: str, networks: Sequence[Row]) -> str:
    return f"{name}\n{sum(network['learnt'] for network in networks)} of {len(networks)} learnt"


@slide
def beyond(
    k: Sequence[int], runs: Mapping[str, Sequence[Row]], border: int, change: Mapping[str, Line], label: str
) -> Figure:
    """Draw the accuracy against k, a panel for each method, and a change of those that learnt in the last.

    The thick line is the mean of the networks that learnt. border: the largest k of training. change: {method: a value
    for each network that learnt}, with its interval; label: its title.
    """
    figure, axes = panels(len(runs) + 1, width=3.6, height=3.4, rows=2)
    for unused in figure.axes[len(axes) :]:
        unused.remove()
    looks = dict(zip(runs, METHODS, strict=False))
    for ax, (name, networks) in zip(axes, runs.items(), strict=False):
        colour = COLOURS[looks[name]]
        grey_first = sorted(networks, key=lambda network: network["learnt"])
        _against_k(ax, k, grey_first, "accuracy", border, color=colour, linewidth=0.9, alpha=0.7)
        if learnt := [network["accuracy"] for network in networks if network["learnt"]]:
            ax.plot(k, np.mean(learnt, axis=0), color=colour, linewidth=3)
        ax.set(title=_title(name, networks), ylabel="accuracy")
    ax = axes[-1]
    ax.axhline(0, color=BLACK, linewidth=1.2)
    for i, (name, values) in enumerate(change.items()):
        middle, low, high = interval(values)
        colour = COLOURS[looks[name]]
        marks(ax, [(i + 0.18, value) for value in values], looks[name], 24)
        ax.plot([i - 0.12] * 2, [low, high], color=colour, linewidth=2.4)
        ax.plot([i - 0.12], [middle], "o", color=colour, markersize=9)
    ax.set(title=label, xlabel="method", xlim=(-0.6, len(change) - 0.4))
    ax.set_xticks(range(len(change)), list(change))
    return figure


@slide
def accuracy_and_steps(k: Sequence[int], runs: Mapping[str, Sequence[Row]], border: int, n_steps: int) -> Figure:
    """Draw accuracy, above, and steps, below, against k: a column for each method, a line for each network.

    border: the largest k of training; n_steps: the cap N.
    """
    figure, axes = panels(2 * len(runs), width=3.0, height=2.5, rows=2, sharex=True, sharey="row")
    for which, (name, networks) in enumerate(runs.items()):
        above, below = axes[which], axes[which + len(runs)]
        _against_k(above, k, networks, "accuracy", border, color=COLOURS[which], linewidth=1.5)
        _against_k(below, k, networks, "steps", border, color=COLOURS[which], linewidth=1.5)
        above.set(title=_title(name, networks), xlabel=" ")
        below.set_ylim(0, n_steps + 0.5)
    axes[0].set_ylabel("accuracy")
    axes[len(runs)].set_ylabel("steps")
    return figure


@slide
def by_ones(networks: Mapping[str, Sequence[Mapping[str, Line]]], ks: Sequence[int], often: float = 0.9) -> Figure:
    """Draw steps against the number of elements that are +1: a panel for each network, a line for each k.

    networks: {title: for each k, "steps" and "accuracy", [k + 1] each}; hollow where fewer than `often` are right.
    """
    figure, axes = panels(len(networks), width=3.6, height=3.3, sharey=True)
    for ax, (title, lines) in zip(axes, networks.items(), strict=True):
        for which, (k, line) in enumerate(zip(ks, lines, strict=True)):
            steps, right = np.asarray(line["steps"]), np.asarray(line["accuracy"]) >= often
            ones = np.arange(len(steps))
            ax.plot(ones, steps, **look(which, linestyle="-", marker=None, linewidth=1.0, alpha=0.6))
            mark = look(which, linestyle="", markersize=7.5 - 1.5 * which)
            ax.plot(ones[right], steps[right], **mark, label=f"$k$ = {k}")
            ax.plot(ones[~right], steps[~right], **mark | {"markerfacecolor": "white"})
        ax.set(title=title, xlabel="elements that are +1", ylim=(0, None))
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes[0].set_ylabel("steps")
    axes[0].plot([], [], "o", color=BLACK, markerfacecolor="white", label="often wrong")
    return legend(figure, columns=5)
