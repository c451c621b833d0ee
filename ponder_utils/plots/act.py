"""Figures of Adaptive Computation Time: how it halts, what that costs, and how it answers to its time penalty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, MaxNLocator, PercentFormatter

from ponder_utils.plots import BLACK, BLUE, COLOURS, MARKERS, RED, SKY, panels, styled


@styled
def halting(h: Sequence[Sequence[float]], p: Sequence[Sequence[float]], epsilon: Sequence[float]) -> Figure:
    """Halting by threshold, a panel for each case: h_n and their sum against 1 - epsilon, and the weights p_n."""
    figure, axes = panels(len(h), width=max(2.7, 4.6 / len(h)), sharey=True)
    for ax, h_n, p_n, eps in zip(axes, h, p, epsilon, strict=True):
        n = np.arange(1, len(h_n) + 1)
        n_updates, remainder = len(p_n), p_n[-1]
        ax.bar(n[:n_updates], p_n, color=SKY, label="weight $p_n$")
        ax.plot(n, h_n, color=BLUE, marker="o", markersize=5, linestyle="none", label="halting unit $h_n$")
        ax.plot(n, np.cumsum(h_n), color=RED, marker="s", markersize=4, linestyle="--", label="$h_1 + ... + h_n$")
        ax.axhline(1 - eps, color=BLACK, linestyle=":", label=r"$1 - \epsilon$")
        ax.set(
            title=f"$N$ = {n_updates}, $R$ = {remainder:.2f}, $P$ = {n_updates + remainder:.2f}", xlabel="update $n$"
        )
        ax.set_ylim(0, max(1.3, ax.get_ylim()[1]))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4 if len(h) > 1 else 2)
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
) -> Figure:
    """A mark for every run, full if it is of this session, and a line through the means.

    Args:
        measured: one dict for each panel, {group: {of this session?: [(setting, value), ...]}}.
        x_labels, y_labels: of the panels.
        log: is the x axis logarithmic?
    """
    figure, axes = panels(len(measured), width=max(3.1, 4.6 - 0.5 * len(measured)), height=3.3)
    for ax, groups, x_label, y_label, is_log in zip(axes, measured, x_labels, y_labels, log, strict=True):
        for which, (name, runs) in enumerate(groups.items()):
            colour, marker = COLOURS[which], MARKERS[which]
            for live in (False, True):
                x, y = np.reshape(runs.get(live, []), (-1, 2)).T
                ax.scatter(x, y, s=22, marker=marker, facecolor=colour if live else "none", edgecolor=colour, zorder=3)
            x, y = np.reshape([*runs.get(False, []), *runs.get(True, [])], (-1, 2)).T
            settings = np.unique(x)
            means = [y[x == setting].mean() for setting in settings]
            ax.plot(settings, means, color=colour, linewidth=1.2, marker=marker, markersize=1, label=name)
        ax.set(xlabel=x_label, ylabel=y_label)
        if is_log:
            ax.set_xscale("log")
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
    ax.legend(loc="lower right")
    return figure


@styled
def small_test_sets(
    epochs: Sequence[float], curves: Sequence[Sequence[float]], live: int, scores: Sequence[float],
    printed: Sequence[float],
) -> Figure:  # fmt: skip
    """Accuracy on all inputs while training, and what sets of 16 say about one network at the end.

    Args:
        epochs: of the points of the curves.
        curves: [runs, points]; a run of this session may be shorter. The first `live` are of this session.
        scores: of one network on many test sets of 16.
        printed: the scores, each on 16 inputs, that were published.
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
    sixteenths = np.arange(17) / 16
    share = [np.isclose(scores, score).mean() for score in sixteenths]
    right.bar(sixteenths, share, width=1 / 20, color=SKY, label="one network of ours")
    for i, score in enumerate(sorted(printed)):
        stacked = sum(np.isclose(score, earlier) for earlier in sorted(printed)[:i])
        label = "printed in the presentation" if i == 0 else None
        right.plot(score, 0.01 + 0.02 * stacked, color=RED, marker="D", markersize=5, linestyle="none", label=label)
    right.set(xlabel="score on 16 random inputs", ylabel="share of test sets")
    right.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    right.legend(loc="upper left")
    return figure
