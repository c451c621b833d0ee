"""Figures of trained networks: how they learnt, when they halt, how they answer."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_utils.plots import (
    BLACK,
    BLUE,
    SKY,
    Line,
    legend,
    look,
    mark_runs,
    marks,
    panels,
    slide,
    spread,
    step_axis,
    styled,
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


@styled
def halting_distribution(p: Sequence[Line], prior: Line, labels: Sequence[str]) -> Figure:
    """p_n of several networks [networks, N] beside the prior they were drawn to [N]."""
    figure, axes = panels(len(p), sharey=True)
    for ax, p_n, label in zip(axes, p, labels, strict=True):
        n = step_axis(ax, len(prior), title=label)
        ax.bar(n, p_n, color=BLUE, label="$p_n$, learnt")
        ax.plot(n, prior, **look(1, markersize=4), label="$p_G(n)$, prior")
    axes[0].set_ylabel("probability to halt at $n$")
    axes[0].legend()
    return figure


@styled
def accuracy_by_step(by_seed: Sequence[Line], sampled: Line, chance: float) -> Figure:
    """Accuracy if one always stopped at step n [seeds, N], beside that of sampled halting [seeds]."""
    figure, (ax,) = panels(1, width=6)
    n = step_axis(ax, len(by_seed[0]), ylabel="accuracy", ylim=(0, 1.03))
    spread(ax, list(n), by_seed, "always stopping at step $n$")
    ax.axhline(float(np.mean(sampled)), **look(1, marker=None), label="halting sampled from $p_n$")
    ax.axhline(chance, color=BLACK, linestyle=":", label="chance")
    ax.legend(loc="lower right" if chance > 0.3 else "center right")
    return figure


@styled
def by_difficulty(
    k: Sequence[int], groups: Sequence[dict[str, Sequence[Line]]], labels: Sequence[str], border: float | None = None,
    live: int = 0, x_label: str = "non-zero elements $k$",
) -> Figure:  # fmt: skip
    """Numbers that depend on the difficulty k, evenly spaced, with the spread over runs.

    Each panel has its group, {network: [runs, len(k)]}, and the label of its y axis. The first `live` runs of each
    network, those of this session, are drawn darker. What lies beyond the border, where training ended, is grey.
    """
    figure, axes = panels(len(groups), width=4.6 if len(groups) < 3 else 3.8, height=3.5)
    half = (k[1] - k[0]) / 2
    for ax, group, label in zip(axes, groups, labels, strict=True):
        for which, (name, runs) in enumerate(group.items()):
            spread(ax, k, runs, name, which, live)
        if border is not None:
            edge = (max(i for i in k if i <= border) + min(i for i in k if i > border)) / 2
            ax.axvspan(edge, k[-1] + half, color="#EEEEEE", zorder=0)
        ax.set(xlabel=x_label, ylabel=label, xlim=(k[0] - half, k[-1] + half))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.legend()
    return figure


@styled
def by_lambda_p(table: DataFrame, columns: dict[str, str], theory: dict[str, dict[str, Line]]) -> Figure:
    """Numbers that depend on lambda_p: a mark for every run, full if it is of this session, beside lines of theory.

    The table has a row for each run: form (of the loss), lambda_p, live (of this session?), and the columns, {column:
    label of its panel's y axis}. Theory is {column: {label of a line: [a value for each lambda_p, in rising order]}}.
    """
    figure, axes = panels(len(columns), width=4.8, height=3.7)
    lambda_ps = sorted(table["lambda_p"].unique())
    for ax, (column, label) in zip(axes, columns.items(), strict=True):
        groups = table.groupby("form", sort=False)
        for which, (form, runs) in enumerate(groups):
            shift = 0.03 * (which - (len(groups) - 1) / 2)  # groups side by side
            points = {live: part[["lambda_p", column]].to_numpy() for live, part in runs.groupby("live")}
            mark_runs(ax, points, which, 26, shift=shift)
            marks(ax, [], which, 26, full=True, label=form)
        for which, (name, y) in enumerate(theory.get(column, {}).items()):
            ax.plot(lambda_ps, y, **look(which + 1, color=BLACK, marker=None, linewidth=1.2), label=name)
        ax.set(xlabel=r"$\lambda_p$", ylabel=label, xticks=lambda_ps)
    return legend(figure, columns=3)


@styled
def traces(
    answers: Sequence[Line], halting: Sequence[Line], p: Sequence[Line], titles: Sequence[str], targets: Line
) -> Figure:
    """Single inputs on their way through the steps: P(odd) after each step, lambda_n and p_n, each [inputs, N]."""
    figure, axes = panels(len(titles), sharey=True)
    for ax, answer, lambda_n, p_n, title, target in zip(axes, answers, halting, p, titles, targets, strict=True):
        n = step_axis(ax, len(p_n), title=title, ylim=(-0.03, 1.03))
        ax.bar(n, p_n, color=SKY, label="$p_n$")
        ax.plot(n, answer, **look(0, markersize=4), label="answer, P(odd)")
        ax.plot(n, lambda_n, **look(1, markersize=3), label=r"$\lambda_n$")
        ax.axhline(target, color=BLACK, linestyle=":", linewidth=1.2, label="target")
    return legend(figure, columns=4)
