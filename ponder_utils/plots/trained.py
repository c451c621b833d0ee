"""Figures of trained networks: how they learnt, when they halt, how they answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_utils.plots import BLACK, BLUE, COLOURS, DASHES, MARKERS, RED, SKY, mark_runs, panels, spread, styled


@styled
def learning_curves(table: DataFrame, columns: dict[str, str], level: dict[str, float] | None = None) -> Figure:
    """Logged numbers against the update: a panel for each column, a line for each network.

    Args:
        table: a row for each network and evaluation: kind, network, update, and the columns.
        columns: {column: title of the panel}.
        level: {column: a value to mark by a dotted line}.
    """
    figure, axes = panels(len(columns), width=3.0)
    for ax, (column, title) in zip(axes, columns.items(), strict=True):
        for which, (kind, networks) in enumerate(table.groupby("kind", sort=False)):
            for i, (_, rows) in enumerate(networks.groupby("network")):
                style: dict[str, Any] = {
                    "color": COLOURS[which],
                    "linestyle": DASHES[which],
                    "alpha": 0.8,
                    "linewidth": 1.2,
                }
                ax.plot(rows["update"], rows[column], label=kind if i == 0 else None, **style)
        if level and column in level:
            ax.axhline(level[column], color=BLACK, linestyle=":", linewidth=1.2)
        ax.set(title=title, xlabel="update")
        ax.set_xlim(left=0)
        ax.xaxis.set_major_locator(MaxNLocator(4))
    axes[0].legend()
    return figure


@styled
def halting_distribution(p: Sequence[Sequence[float]], prior: Sequence[float], labels: Sequence[str]) -> Figure:
    """p_n of several networks [networks, N] beside the prior they were drawn to [N]."""
    figure, axes = panels(len(p), sharey=True)
    n = np.arange(1, len(prior) + 1)
    for ax, p_n, label in zip(axes, p, labels, strict=True):
        ax.bar(n, p_n, color=BLUE, label="$p_n$, learnt")
        ax.plot(n, prior, color=RED, marker="s", markersize=4, linestyle="--", label="$p_G(n)$, prior")
        ax.set(title=label, xlabel="step $n$")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("probability to halt at $n$")
    axes[0].legend()
    return figure


@styled
def accuracy_by_step(by_seed: Sequence[Sequence[float]], sampled: Sequence[float], chance: float) -> Figure:
    """Accuracy if one always stopped at step n [seeds, N], beside that of sampled halting [seeds]."""
    figure, (ax,) = panels(1, width=6)
    n = range(1, len(by_seed[0]) + 1)
    spread(ax, n, by_seed, "always stopping at step $n$")
    ax.axhline(float(np.mean(sampled)), color=RED, linestyle="--", label="halting sampled from $p_n$")
    ax.axhline(chance, color=BLACK, linestyle=":", label="chance")
    ax.set(xlabel="step $n$", ylabel="accuracy", ylim=(0, 1.03))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="lower right" if chance > 0.3 else "center right")
    return figure


@styled
def by_difficulty(
    k: Sequence[int],
    groups: Sequence[dict[str, Sequence[Sequence[float]]]],
    labels: Sequence[str],
    border: float | None = None,
    live: int = 0,
    x_label: str = "non-zero elements $k$",
) -> Figure:
    """Numbers that depend on the difficulty k, with the spread over runs, and the border of the training range.

    Args:
        k: difficulties, the x axis, evenly spaced.
        groups: one dict for each panel, {network: [runs, len(k)]}.
        labels: of the panels' y axes.
        border: training ended at this k; what lies beyond is grey.
        live: so many runs of each network, the first, are of this session; they are drawn darker.
        x_label: of all panels.
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
def by_lambda_p(table: DataFrame, columns: dict[str, str], theory: dict[str, dict[str, Sequence[float]]]) -> Figure:
    """Numbers that depend on lambda_p: a mark for every run, full if it is of this session, beside lines of theory.

    Args:
        table: a row for each run: form (of the loss), lambda_p, live (of this session?), and the columns.
        columns: {column: label of the panel's y axis}.
        theory: {column: {label of a line: a value for each lambda_p of the table, in rising order}}.
    """
    figure, axes = panels(len(columns), width=4.8, height=3.7)
    lambda_ps = sorted(table["lambda_p"].unique())
    for ax, (column, label) in zip(axes, columns.items(), strict=True):
        groups = table.groupby("form", sort=False)
        for which, (form, runs) in enumerate(groups):
            shift = 0.03 * (which - (len(groups) - 1) / 2)  # groups side by side
            points = {live: part[["lambda_p", column]].to_numpy() for live, part in runs.groupby("live")}
            mark_runs(ax, points, which, 26, lambda x, shift=shift: x + shift)
            ax.scatter([], [], s=26, marker=MARKERS[which], color=COLOURS[which], label=form)
        for which, (name, y) in enumerate(theory.get(column, {}).items()):
            ax.plot(lambda_ps, y, color=BLACK, linewidth=1.2, linestyle=DASHES[which + 1], label=name)
        ax.set(xlabel=r"$\lambda_p$", ylabel=label, xticks=lambda_ps)
    figure.legend(*axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@styled
def traces(
    answers: Sequence[Sequence[float]], halting: Sequence[Sequence[float]], p: Sequence[Sequence[float]],
    titles: Sequence[str], targets: Sequence[float],
) -> Figure:  # fmt: skip
    """Single inputs on their way through the steps: P(odd) after each step, lambda_n and p_n, each [inputs, N]."""
    figure, axes = panels(len(titles), sharey=True)
    n = np.arange(1, len(p[0]) + 1)
    for ax, answer, lambda_n, p_n, title, target in zip(axes, answers, halting, p, titles, targets, strict=True):
        ax.bar(n, p_n, color=SKY, label="$p_n$")
        ax.plot(n, answer, color=BLUE, marker="o", markersize=4, label="answer, P(odd)")
        ax.plot(n, lambda_n, color=RED, marker="s", markersize=3, linestyle="--", label=r"$\lambda_n$")
        ax.axhline(target, color=BLACK, linestyle=":", linewidth=1.2, label="target")
        ax.set(title=title, xlabel="step $n$", ylim=(-0.03, 1.03))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
