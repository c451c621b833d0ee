"""Figures of Adaptive Computation Time: how it halts, what that costs, and how it answers to its time penalty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, MaxNLocator

from ponder_utils.plots import BLACK, BLUE, COLOURS, MARKERS, RED, SKY, mark_runs, panels, styled


@styled
def halting(h: Sequence[Sequence[float]], p: Sequence[Sequence[float]], epsilon: Sequence[float]) -> Figure:
    """Halting by threshold, a panel for each case: h_n and their sum against 1 - epsilon, and the weights p_n."""
    figure, axes = panels(len(h), width=max(2.7, 4.6 / len(h)), sharey=True)
    for ax, h_n, p_n, eps in zip(axes, h, p, epsilon, strict=True):
        n = np.arange(1, len(h_n) + 1)
        n_updates, remainder = len(p_n), p_n[-1]
        ax.bar(n[:n_updates], p_n, color=SKY, label="weight $p_n$")
        made, never = slice(n_updates), slice(n_updates, None)
        dots: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 5, "linestyle": "none"}
        ax.plot(n[made], h_n[made], **dots, label="halting unit $h_n$")
        ax.plot(n[never], h_n[never], **dots, fillstyle="none", label="$h_n$ of updates never made")
        total = np.cumsum(h_n[made])
        ax.plot(n[made], total, color=RED, marker="s", markersize=4, linestyle="--", label="$h_1 + ... + h_n$")
        ax.axhline(1 - eps, color=BLACK, linestyle=":", label=r"$1 - \epsilon$")
        ax.set(
            title=f"$N$ = {n_updates}, $R$ = {remainder:.2f}, $P$ = {n_updates + remainder:.2f}", xlabel="update $n$"
        )
        ax.set_xlim(0.5, len(h_n) + 0.5)
        ax.set_ylim(0, 1.55)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5 if len(h) > 1 else 2)
    return figure


@styled
def jumps(
    logit: Sequence[float], n_updates: Sequence[float], remainder: Sequence[float], cost: Sequence[float],
    told: Sequence[float],
) -> Figure:  # fmt: skip
    """N, R and P as one halting logit slides, and the cost that the gradient alone would tell of."""
    figure, axes = panels(3)
    titles = ("updates $N$", "remainder $R$", "ponder cost $P = N + R$")
    breaks = np.diff(n_updates, append=n_updates[-1]) != 0  # no line across a jump
    for ax, values, title in zip(axes, (n_updates, remainder, cost), titles, strict=True):
        drawn = np.where(breaks, np.nan, values)
        ax.plot(logit, drawn, color=BLUE, label="as it is")
        ax.set(title=title, xlabel="halting logit of update 1")
    axes[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    axes[2].plot(logit, told, color=RED, linestyle="--", label="as its gradient tells")
    axes[2].legend()
    return figure


@styled
def by_setting(
    measured: Sequence[dict[str, dict[bool, Sequence[tuple[float, float]]]]],
    x_labels: Sequence[str],
    y_labels: Sequence[str],
    log: Sequence[bool],
    rows: int = 1,
) -> Figure:
    """A mark for every run, full if it is of this session, and a line through the means.

    Args:
        measured: one dict for each panel, {group: {of this session?: [(setting, value), ...]}}.
        x_labels, y_labels: of the panels.
        log: is the x axis logarithmic?
        rows: of panels.
    """
    figure, axes = panels(len(measured), width=4.6, height=3.3 if rows == 1 else 2.7, rows=rows)
    for ax, groups, x_label, y_label, is_log in zip(axes, measured, x_labels, y_labels, log, strict=True):
        settings: set[float] = set()
        for which, (name, runs) in enumerate(groups.items()):
            colour = COLOURS[which]
            aside = 1.08 ** (which - (len(groups) - 1) / 2) if is_log else 1  # groups side by side
            mark_runs(ax, runs, which, 22, lambda x, aside=aside: x * aside)
            x, y = np.reshape([*runs.get(False, []), *runs.get(True, [])], (-1, 2)).T
            means = [y[x == setting].mean() for setting in np.unique(x)]
            ax.plot(np.unique(x) * aside, means, color=colour, linewidth=1.2)
            ax.plot([], [], color=colour, linewidth=1.2, marker=MARKERS[which], markersize=5, label=name)
            settings |= set(x)
        ax.set(xlabel=x_label, ylabel=y_label)
        ax.set_ylim((0.45, 1.02) if y_label == "accuracy" else (0, max(1.1 * ax.get_ylim()[1], 5)))
        if is_log:
            ax.set_xscale("log")
        if len(settings) < 6:
            ax.set_xticks(sorted(settings), [f"{setting:g}" for setting in sorted(settings)])
            ax.minorticks_off()
        if len(groups) > 1:
            ax.legend()
    return figure


@styled
def trade_off(runs: dict[str, Sequence[tuple[float, float]]], chance: float) -> Figure:
    """Accuracy against updates per answer, a mark for every run: {kind of network: [(updates, accuracy), ...]}."""
    figure, (ax,) = panels(1, width=6, height=3.5)
    for which, (name, points) in enumerate(runs.items()):
        x, y = np.reshape(points, (-1, 2)).T
        ax.scatter(x, y, s=26, marker=MARKERS[which], facecolor="none", edgecolor=COLOURS[which], label=name)
    ax.axhline(chance, color=BLACK, linestyle=":", label="chance")
    ax.set(xlabel="updates for an answer (mean)", ylabel="accuracy", ylim=(0.45, 1.02), xscale="log")
    ax.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    ax.xaxis.set_minor_formatter(FormatStrFormatter("%g"))
    ax.legend(loc="center", bbox_to_anchor=(0.7, 0.45))  # where no run lies
    return figure


@styled
def small_test_sets(
    epochs: Sequence[float], curves: Sequence[Sequence[float]], live: int, counts: dict[int, Sequence[int]],
    printed: Sequence[int],
) -> Figure:  # fmt: skip
    """Accuracy on all inputs while training, and what sets of 16 say about one network at the end.

    Args:
        epochs: of the points of the curves.
        curves: [runs, points]; a run of this session may be shorter. The first `live` are of this session.
        counts: {epochs: [17]}, on how many test sets of 16 the networks then had 0, 1, ..., 16 right.
        printed: how many of 16 were right in each of the scores that were published.
    """
    figure, (left, right) = panels(2, width=4.6, height=3.4)
    for i, curve in enumerate(curves):
        session = i < live
        label = {0: "this session", live: "stored"}.get(i)
        left.plot(
            epochs[: len(curve)], curve, color=RED if session else BLUE, linestyle="-" if session else "--",
            linewidth=1.6 if session else 0.9, alpha=1 if session else 0.6, label=label,
        )  # fmt: skip
    left.axhline(0.5, color=BLACK, linestyle=":", label="chance")
    left.set(xlabel="epoch of 160 inputs", ylabel="accuracy on all possible inputs", ylim=(0.4, 1.02))
    left.legend()
    for (after, sets), colour, shift in zip(counts.items(), (SKY, BLUE), (-0.2, 0.2), strict=False):
        x, share = np.arange(17) + (shift if len(counts) > 1 else 0), np.divide(sets, sum(sets))
        right.bar(x, share, width=0.4, color=colour, label=f"ours after {after} epochs")
    for score in sorted(set(printed)):
        times = printed.count(score)
        right.plot(
            [score] * times, 0.012 + 0.02 * np.arange(times), color=RED, marker="D", markersize=5, linestyle="none",
            label="printed in the presentation" if score == min(printed) else None,
        )  # fmt: skip
    right.set(xlabel="right of 16 random inputs", ylabel="share of test sets")
    right.set_ylim(0, 1.3 * right.get_ylim()[1])
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.legend(loc="upper left")
    return figure
