"""Figures of trained networks: how they learnt, when they halt, how they answer."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_utils.experiments.verdicts import interval
from ponder_utils.notebook.plots import (
    BLACK,
    BLUE,
    COLOURS,
    GREY,
    SKY,
    Line,
    legend,
    look,
    marks,
    panels,
    slide,
    step_axis,
)


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
    groups: Mapping[str, Mapping[str, Mapping[int, Sequence[Line]]]], prior: Line, last: int | None = None
) -> Figure:
    """p_n at several moments of training: a row for each group, a column for each moment, a line for each network.

    groups: {title of the row: {label: {update: [networks, N]}}}; the prior [N] is dotted. Up to step `last`.
    """
    rows = [[*its.values()] for its in groups.values()]
    moments = [*rows[0][0]]
    n = np.arange(1, len(prior) + 1)
    wide = max(1.75, 5.4 / len(moments))
    figure, axes = panels(len(rows) * len(moments), wide, 2.45, rows=len(rows), sharex=True, sharey=True)
    for i, (title, its) in enumerate(groups.items()):
        for j, update in enumerate(moments):
            ax = axes[i * len(moments) + j]
            for which, (label, at) in enumerate(its.items()):
                for k, p_n in enumerate(at[update]):
                    ax.fill_between(n, p_n, color=COLOURS[which], alpha=0.16, linewidth=0)
                    line = look(which, marker=None, linewidth=1.6)
                    ax.plot(n, p_n, **line, label=label if k == 0 else None)
            ax.plot(n, prior, color=BLACK, linestyle=":", linewidth=1.3, label="prior")
            ax.set(title=f"{update:,} updates" if i == 0 else "", xlim=(0.5, last or len(prior)), ylim=(0, 1.02))
            ax.set_xlabel("step $n$" if i == len(rows) - 1 else " ")
            ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes[i * len(moments)].set_ylabel(f"{title}\n$p_n$")
    return legend(figure, columns=4)


@slide
def stopped_at(
    groups: Mapping[str, tuple[Sequence[Line], Sequence[tuple[float, float]]]], chance: float = 0.5
) -> Figure:
    """Accuracy if all inputs were stopped at the same step n, a panel for each group, and where halting lands.

    groups: {title: ([networks, N], [(mean steps, accuracy) of each network])}.
    """
    figure, axes = panels(len(groups), width=4.4, height=3.4, sharey=True)
    for ax, (title, (by_step, halting)) in zip(axes, groups.items(), strict=True):
        for i, line in enumerate(by_step):
            n = step_axis(ax, len(line), title=title, ylim=(0.4, 1.03))
            ax.plot(n, line, color=BLUE, linewidth=1.5, alpha=0.8, label="all stopped at step $n$" if i == 0 else None)
        marks(ax, halting, 1, 60, full=True, label="halting as it wants", zorder=3)
        ax.axhline(chance, color=BLACK, linestyle=":", linewidth=1.3, label="chance")
    axes[0].set_ylabel("accuracy")
    return legend(figure, columns=3)


@slide
def against_k(groups: Mapping[str, tuple[Sequence[Line], Sequence[Line]]], k: Sequence[int], label: str) -> Figure:
    """Numbers against k, a panel for each group with the same axes, a line for each run: (learnt, not learnt)."""
    figure, axes = panels(len(groups), width=4.4, height=3.4, sharey=True)
    for which, (ax, (title, (learnt, failed))) in enumerate(zip(axes, groups.items(), strict=True)):
        for i, line in enumerate(failed):
            ax.plot(k, line, color=GREY, linewidth=1, label="not learnt" if i == 0 else None)
        for i, line in enumerate(learnt):
            ax.plot(k, line, **look(which, markersize=5), label="one network" if i == 0 else None)
        ax.set(title=title, xlabel="non-zero elements $k$")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set(ylabel=label, ylim=(0, None))
    return legend(figure, columns=3) if any(failed for _, failed in groups.values()) else figure


@slide
def traces(
    answers: Sequence[Line], halting: Sequence[Line], p: Sequence[Line], inputs: Sequence[Line], targets: Line
) -> Figure:
    """Single inputs on their way through the steps: above the answer, P(odd), below lambda_n and p_n, [inputs, N] each.

    The inputs' elements -1, 0 and +1 stand over their panels.
    """
    figure, axes = panels(2 * len(p), width=3.5, height=2.2, rows=2, sharex=True, sharey=True)
    for i, (x, target) in enumerate(zip(inputs, targets, strict=True)):
        above, below = axes[i], axes[i + len(p)]
        n = step_axis(below, len(p[i]), ylim=(-0.03, 1.06))
        signs = " ".join({-1: "\N{MINUS SIGN}", 0: "\N{MIDDLE DOT}", 1: "+"}[round(its)] for its in x)
        above.set_title(signs, family="monospace", fontsize=13, fontweight="bold")
        above.axhline(target, color=BLACK, linestyle=":", linewidth=1.4, label="right answer")
        above.plot(n, answers[i], **look(0, markersize=4), label="answer, P(odd)")
        above.set_xlabel(" ")
        below.bar(n, p[i], color=SKY, label="$p_n$")
        below.plot(n, halting[i], **look(1, markersize=4, linestyle="-"), label=r"$\lambda_n$")
    return legend(figure, columns=4)


@slide
def rises(
    groups: Mapping[str, Mapping[str, Mapping[float, Line]]], runs: int, limits: tuple[float, float], label: str
) -> Figure:
    """Mean differences with their intervals against lambda_p, a panel for each group and a mark for each form.

    groups: {title: {form: {lambda_p: a value for each run that learnt}}}. Fewer than three make no interval: their
    runs are crosses. Where not all of the `runs` are there, their number stands above. What is beyond the limits is
    cut off.
    """
    figure, axes = panels(len(groups), width=5.2, height=4.3, sharey=True)
    for ax, (title, forms) in zip(axes, groups.items(), strict=True):
        ax.axhline(0, color=BLACK, linewidth=1.2)
        for which, (form, its) in enumerate(forms.items()):
            ax.plot([], [], **look(which, linestyle="-"), label=form)
            for lambda_p, values in its.items():
                x = lambda_p + 0.045 * (which - (len(forms) - 1) / 2)
                middle, low, high = interval(values)
                if len(values) > 2:
                    ax.plot([x, x], [low, high], color=COLOURS[which], linewidth=2.2)
                    ax.plot([x], [middle], **look(which, markersize=8))
                else:
                    ax.plot([x] * len(values), values, "x", color=COLOURS[which], markersize=6)
                if len(values) < runs:
                    ax.annotate(str(len(values)), (x, limits[1]), color=COLOURS[which], ha="center", va="top")
        lambda_ps = sorted({lambda_p for its in forms.values() for lambda_p in its})
        ax.set(title=title, xlabel=r"$\lambda_p$", ylim=limits, xlim=(lambda_ps[0] - 0.1, lambda_ps[-1] + 0.1))
        ax.set_xticks(lambda_ps)
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
    for which, (ax, (name, (learnt, failed))) in enumerate(zip(axes, runs.items(), strict=False)):
        ax.axvspan((border + border + 1) / 2, k[-1] + 0.5, color="#EEEEEE", zorder=0)
        for line in failed:
            ax.plot(k, line, color=GREY, linewidth=0.9)
        for line in learnt:
            ax.plot(k, line, color=COLOURS[which], linewidth=0.9, alpha=0.35)
        if learnt:
            ax.plot(k, np.mean(learnt, axis=0), **look(which, marker=None, linestyle="-", linewidth=3))
        ax.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2)
        ax.set(title=f"{name}\n{len(learnt)} of {len(learnt) + len(failed)} learnt", xlabel="non-zero elements $k$")
        ax.set(ylim=(0, 1.03), xlim=(k[0] - 0.5, k[-1] + 0.5))
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        ax.set_ylabel("accuracy")
    ax = axes[-1]
    ax.axhline(0, color=BLACK, linewidth=1.2)
    for which, (name, values) in enumerate(change.items()):
        middle, low, high = interval(values)
        colour = COLOURS[list(runs).index(name)]
        marks(ax, [(which + 0.18, value) for value in values], list(runs).index(name), 24)
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
