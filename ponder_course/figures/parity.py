"""Figures of trained networks: how they learnt, when they halt, how they answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_course.verdicts import interval
from ponder_course.figures import (
    BLACK,
    COLOURS,
    GREY,
    ORANGE,
    Line,
    legend,
    look,
    marks,
    panels,
    slide,
    step_axis,
)

METHODS = (0, 3, 5, 6, 4)  # colours of PonderNet, which has the paper's loss, and of others than the forms of `rises`
PRIOR: dict[str, Any] = {"color": "#777777", "linestyle": ":", "linewidth": 1.8}


@slide
def learning_curves(table: DataFrame, columns: dict[str, str], level: dict[str, float] | None = None) -> Figure:
    """Logged numbers against the update: a panel for each column, a line for each network.

    The table has a row for each network and evaluation: kind, network, update, and the columns, {column: title of its
    panel}. The level, {column: value}, is marked by a dotted line.
    """
    figure, axes = panels(len(columns), width=3.4)
    for ax, (column, title) in zip(axes, columns.items(), strict=True):
        for which, (kind, networks) in enumerate(table.groupby("kind", sort=False)):
            for i, (_, rows) in enumerate(networks.groupby("network")):
                line = look(which, marker=None, alpha=0.8, linewidth=1.2, label=kind if i == 0 else None)
                ax.plot(rows["update"], rows[column], **line)
        if level and column in level:
            ax.axhline(level[column], color=BLACK, linestyle=":", linewidth=1.2)
        ax.set(title=title, xlabel="update", xlim=(0, None))
        ax.xaxis.set_major_locator(MaxNLocator(4))
    if table["kind"].nunique() > 1:
        axes[0].legend()
    return figure


@slide
def over_training(
    table: DataFrame, inputs: Mapping[str, str], prior: Line, moments: Sequence[int], last: int | None = None
) -> Figure:
    """p_n at moments of training, and at the right the accuracy all through it: a row for each kind of network.

    The table is that of `learning_curves`; for each of the inputs, {column: label}, it has p_n [N] in that column and
    the accuracy in "<column> right". A line for each network, full with a filled area for the first inputs, dashed for
    the others. The prior [N] is dotted, and so are the moments. Up to step `last`.
    """
    kinds = [*table.groupby("kind", sort=False)]
    n = np.arange(1, len(prior) + 1)
    wide = max(1.75, 5.4 / len(moments))
    figure = Figure(figsize=(wide * len(moments) + 2.9, 2.45 * len(kinds)), layout="constrained")
    ratios = [wide] * len(moments) + [2.6]
    hard: dict[str, Any] = {"color": BLACK, "linewidth": 1.6, "linestyle": "--"}
    rows = figure.subplots(len(kinds), len(ratios), sharey=True, squeeze=False, width_ratios=ratios)
    for i, (axes, (kind, its)) in enumerate(zip(rows, kinds, strict=True)):
        looks = [{"color": COLOURS[i], "linewidth": 1.6}, hard]
        for ax, update in zip(axes, moments, strict=False):
            at = its[its["update"] == update]
            for column, line in zip(inputs, looks, strict=True):
                for p_n in at[column]:
                    if line is looks[0]:
                        ax.fill_between(n, p_n, color=line["color"], alpha=0.16, linewidth=0)
                    ax.plot(n, p_n, **line)
            ax.plot(n, prior, **PRIOR)
            ax.set(title=f"{update:,} updates" if i == 0 else "", xlim=(0.5, last or len(prior)), ylim=(0, 1.03))
            ax.set_xlabel("step $n$" if i == len(kinds) - 1 else " ")
            ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        for column, line in zip(inputs, looks, strict=True):
            for _, network in its.groupby("network"):
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
    """The look of a network in every figure: the colour is its kind's, the marker and the dashes are its own."""
    return {**look(which, color=COLOURS[kind]), "markersize": 5.5, "markerfacecolor": "white", "linewidth": 1.5}


def _networks(ax: Axes, number: int) -> None:
    for which in range(number):
        ax.plot([], [], **{**_network(0, which), "color": BLACK}, label=f"network {which}")


@slide
def stopped_at(
    groups: Mapping[str, tuple[Sequence[Line], Sequence[tuple[float, float]]]],
    chance: float = 0.5,
    lowest: float = 0.38,
) -> Figure:
    """Accuracy if all inputs were stopped at the same step n, a panel for each group, and where halting lands.

    groups: {title: ([networks, N], [(mean steps, accuracy) of each network])}.
    """
    figure, axes = panels(len(groups), width=4.9, height=3.6, sharey=True)
    for kind, (ax, (title, (by_step, halting))) in enumerate(zip(axes, groups.items(), strict=True)):
        for which, line in enumerate(by_step):
            n = step_axis(ax, len(line), title=title, ylim=(lowest, 1.05))
            ax.plot(n, line, **_network(kind, which))
        for which, (steps, accuracy) in enumerate(halting):
            large = {"markersize": 12, "markerfacecolor": COLOURS[kind], "markeredgecolor": "white", "linestyle": ""}
            ax.plot([steps], [accuracy], **{**_network(kind, which), **large}, zorder=3)
        ax.axhline(chance, color=BLACK, linestyle=":", linewidth=1.3, label="chance")
    _networks(axes[0], max(len(by_step) for by_step, _ in groups.values()))
    axes[0].plot([], [], "o", color=BLACK, markersize=10, label="large: halting as it wants")
    axes[0].set_ylabel("accuracy")
    return legend(figure, columns=5)


@slide
def two_counts(groups: Mapping[str, Sequence[tuple[Line, Line, bool]]], k: Sequence[int], label: str) -> Figure:
    """Numbers against two counts of an input: left how many elements are not 0, right how many are +1.

    A row for each group, all with the same axes. groups: {title: [(against k, against 0, 1, 2, ... ones, learnt?)]}, of
    each network.
    """
    figure, axes = panels(2 * len(groups), width=4.9, height=2.9, rows=len(groups), sharey=True)
    for kind, (title, networks) in enumerate(groups.items()):
        row = axes[2 * kind : 2 * kind + 2]
        for which, (*lines, learnt) in enumerate(networks):
            style = _network(kind, which) | ({} if learnt else {"color": GREY})
            for ax, x, line in zip(row, (k, range(len(lines[1]))), lines, strict=True):
                ax.plot(x, line, **style)
        for ax, count in zip(row, ("elements that are not 0 ($k$)", "elements that are +1"), strict=True):
            ax.set(title=title, xlabel=count)
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        row[0].set(ylabel=label)
    axes[0].set_ylim(0)
    _networks(axes[0], max(map(len, groups.values())))
    if not all(learnt for networks in groups.values() for *_, learnt in networks):
        axes[0].plot([], [], color=GREY, label="not learnt")
    return legend(figure, columns=4)


@slide
def traces(
    answers: Sequence[Line], halting: Sequence[Line], p: Sequence[Line], inputs: Sequence[Line], targets: Line,
    kind: int = 0,
) -> Figure:  # fmt: skip
    """Single inputs on their way through the steps: above the answer, P(odd), below lambda_n and p_n, [inputs, N] each.

    The inputs' elements -1, 0 and +1 stand over their panels. The answer has the colour of the network's kind.
    """
    figure, axes = panels(2 * len(p), width=3.5, height=2.0, rows=2, sharex=True, sharey=True)
    for i, (x, target) in enumerate(zip(inputs, targets, strict=True)):
        above, below = axes[i], axes[i + len(p)]
        n = step_axis(below, len(p[i]), ylim=(-0.05, 1.08))
        signs = " ".join({-1: "\N{MINUS SIGN}", 0: "\N{MIDDLE DOT}", 1: "+"}[round(its)] for its in x)
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
def rises(
    groups: Mapping[str, Mapping[str, Mapping[float, tuple[Line, int, int]]]], limits: tuple[float, float], label: str
) -> Figure:
    """Mean differences with their intervals against lambda_p, a panel for each group and a mark for each form.

    groups: {title: {form: {lambda_p: (a value for each run that learnt, how many did not, how many crashed)}}}. Fewer
    than three values make no interval: their runs are crosses. What is beyond the limits is cut off. Above the axes
    stand the numbers of those without a value, where there are any: not learnt, and in the upper row, crashed.
    """
    figure, axes = panels(len(groups), width=5.4, height=4.5, sharey=True)
    heights = {"not learnt": 1.03, "crashed": 1.10}
    for ax, (title, forms) in zip(axes, groups.items(), strict=True):
        ax.axhline(0, color=BLACK, linewidth=1.2)
        above = ax.get_xaxis_transform()  # x in data, y in heights of the axes
        for which, (form, its) in enumerate(forms.items()):
            ax.plot([], [], **look(which, linestyle="-"), label=form)
            for lambda_p, (values, *missing) in its.items():
                x = lambda_p + 0.05 * (which - (len(forms) - 1) / 2)
                middle, low, high = interval(values)
                if len(values) > 2:
                    ax.plot([x, x], [low, high], color=COLOURS[which], linewidth=2.2)
                    ax.plot([x], [middle], **look(which, markersize=8))
                else:
                    ax.plot([x] * len(values), values, "x", color=COLOURS[which], markersize=6)
                for number, height in zip(missing, heights.values(), strict=True):
                    if number:
                        ax.text(x, height, str(number), color=COLOURS[which], ha="center", fontsize=11, transform=above)
        lambda_ps = sorted({lambda_p for its in forms.values() for lambda_p in its})
        ax.set(xlabel=r"$\lambda_p$", ylim=limits, xlim=(lambda_ps[0] - 0.1, lambda_ps[-1] + 0.1))
        ax.set_title(title, pad=44)
        ax.set_xticks(lambda_ps)
    for name, height in heights.items():
        axes[0].text(-0.01, height, f"{name}:", ha="right", fontsize=11, transform=axes[0].transAxes)
    axes[0].set_ylabel(label)
    return legend(figure, columns=3)


@slide
def beyond(
    k: Sequence[int], border: int, runs: Mapping[str, tuple[Sequence[Line], Sequence[Line]]],
    change: Mapping[str, Line], label: str,
) -> Figure:  # fmt: skip
    """Accuracy against k, thin lines of runs that learnt and a thick mean, grey those that did not; and a change.

    runs: {method: (learnt, not learnt)}; change: {method: a value for each run that learnt}, with its interval.
    """
    figure, axes = panels(len(runs) + 1, width=3.6, height=3.4, rows=2)
    for unused in figure.axes[len(axes) :]:
        unused.remove()
    looks = dict(zip(runs, METHODS, strict=False))
    for ax, (name, (learnt, failed)) in zip(axes, runs.items(), strict=False):
        ax.axvspan((border + border + 1) / 2, k[-1] + 0.5, color="#DDDDDD", zorder=0)
        for line in failed:
            ax.plot(k, line, color=GREY, linewidth=0.9)
        for line in learnt:
            ax.plot(k, line, color=COLOURS[looks[name]], linewidth=0.9, alpha=0.7)
        if learnt:
            ax.plot(k, np.mean(learnt, axis=0), color=COLOURS[looks[name]], linewidth=3)
        ax.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2)
        ax.set(title=f"{name}\n{len(learnt)} of {len(learnt) + len(failed)} learnt", xlabel="non-zero elements $k$")
        ax.set(ylim=(0, 1.03), xlim=(k[0] - 0.5, k[-1] + 0.5))
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        ax.set_ylabel("accuracy")
    ax = axes[-1]
    ax.axhline(0, color=BLACK, linewidth=1.2)
    for which, (name, values) in enumerate(change.items()):
        middle, low, high = interval(values)
        colour = COLOURS[looks[name]]
        marks(ax, [(which + 0.18, value) for value in values], looks[name], 24)
        ax.plot([which - 0.12] * 2, [low, high], color=colour, linewidth=2.4)
        ax.plot([which - 0.12], [middle], "o", color=colour, markersize=9)
    ax.set(title=label, xlabel="method", xlim=(-0.6, len(change) - 0.4))
    ax.set_xticks(range(len(change)), list(change))
    return figure


@slide
def shares(groups: Mapping[str, Mapping[str, Line]], x: Line, label: str) -> Figure:
    """Shares of networks against lambda_p: two panels a row with the same axes, a line for each form."""
    figure, axes = panels(len(groups), width=4.6, height=2.7, rows=-(-len(groups) // 2), sharex=True, sharey=True)
    for ax, (title, forms) in zip(axes, groups.items(), strict=True):
        for which, (form, line) in enumerate(forms.items()):
            ax.plot(x, line, **look(which, markersize=8), label=form)
        ax.set(title=title, xlabel=r"$\lambda_p$", ylabel=label, ylim=(-0.04, 1.04))
        ax.set_xticks(list(x))
    return legend(figure, columns=3)


@slide
def accuracy_and_steps(
    k: Sequence[int], runs: Mapping[str, Sequence[tuple[Line, Line, bool]]], border: int, n_steps: int
) -> Figure:
    """Accuracy, above, and steps, below, against k: a column for each method, a line for each network.

    runs: {method: [(accuracy, steps, learnt?)]}; grey ones have not learnt. Beyond the border, the largest k of
    training, the panels are grey. n_steps: the most there can be.
    """
    figure, axes = panels(2 * len(runs), width=3.0, height=2.5, rows=2, sharex=True, sharey="row")
    for which, (above, below, (name, its)) in enumerate(
        zip(axes[: len(runs)], axes[len(runs) :], runs.items(), strict=True)
    ):
        for accuracy, steps, learnt in its:
            line: dict[str, Any] = {"color": COLOURS[which] if learnt else GREY, "linewidth": 1.5}
            above.plot(k, accuracy, **line)
            below.plot(k, steps, **line)
        for ax in (above, below):
            ax.axvspan(border + 0.5, k[-1] + 0.5, color="#DDDDDD", zorder=0, linewidth=0)
            ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        above.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2)
        above.set(title=f"{name}\n{sum(one[2] for one in its)} of {len(its)} learnt", ylim=(0, 1.03), xlabel=" ")
        below.set(xlabel="non-zero elements $k$", ylim=(0, n_steps + 0.5), xlim=(k[0] - 0.5, k[-1] + 0.5))
    axes[0].set_ylabel("accuracy")
    axes[len(runs)].set_ylabel("steps")
    return figure


@slide
def by_ones(networks: Mapping[str, Mapping[int, tuple[Line, Line]]], least: float = 0.9) -> Figure:
    """Steps against the number of elements that are +1: a panel for each network, a line for each k.

    networks: {title: {k: (steps, accuracy)}}, [k + 1] each; hollow where fewer than `least` are right.
    """
    figure, axes = panels(len(networks), width=3.6, height=3.3, sharey=True)
    for ax, (title, its) in zip(axes, networks.items(), strict=True):
        for which, (k, (steps, accuracy)) in enumerate(its.items()):
            ones, line, often = np.arange(len(steps)), np.asarray(steps), np.asarray(accuracy) >= least
            ax.plot(ones, line, **look(which, linestyle="-", marker=None, linewidth=1.0, alpha=0.6))
            mark = look(which, linestyle="", markersize=7.5 - 1.5 * which)
            ax.plot(ones[often], line[often], **mark, label=f"$k$ = {k}")
            ax.plot(ones[~often], line[~often], **mark | {"markerfacecolor": "white"})
        ax.set(title=title, xlabel="elements that are +1", ylim=(0, None))
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes[0].set_ylabel("steps")
    axes[0].plot([], [], "o", color=BLACK, markerfacecolor="white", label="often wrong")
    return legend(figure, columns=5)
