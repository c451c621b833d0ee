"""Figures of Adaptive Computation Time: how it halts, what that costs, and how it answers to its time penalty."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ponder_utils.plots import BLACK, BLUE, SKY, Line, Runs, legend, look, mark_runs, marks, panels, step_axis, styled


@styled
def halting(h: Sequence[Line], p: Sequence[Line], epsilon: Line) -> Figure:
    """Halting by threshold, a panel for each case: h_n and their sum against 1 - epsilon, and the weights p_n."""
    figure, axes = panels(len(h), width=max(2.7, 4.6 / len(h)), sharey=True)
    for ax, h_n, p_n, eps in zip(axes, h, p, epsilon, strict=True):
        n_updates, remainder = len(p_n), p_n[-1]
        title = f"$N$ = {n_updates}, $R$ = {remainder:.2f}, $P$ = {n_updates + remainder:.2f}"
        n = step_axis(ax, len(h_n), xlabel="update $n$", title=title, xlim=(0.5, len(h_n) + 0.5), ylim=(0, 1.55))
        made, never = slice(n_updates), slice(n_updates, None)
        dots = look(0, markersize=5, linestyle="none")
        ax.bar(n[made], p_n, color=SKY, label="weight $p_n$")
        ax.plot(n[made], h_n[made], **dots, label="halting unit $h_n$")
        ax.plot(n[never], h_n[never], **dots, fillstyle="none", label="$h_n$ of updates never made")
        ax.plot(n[made], np.cumsum(h_n[made]), **look(1, markersize=4), label="$h_1 + ... + h_n$")
        ax.axhline(1 - eps, color=BLACK, linestyle=":", label=r"$1 - \epsilon$")
    return legend(figure, columns=5 if len(h) > 1 else 2)


@styled
def jumps(logit: Line, n_updates: Line, remainder: Line, cost: Line, told: Line) -> Figure:
    """N, R and P as one halting logit slides, and the cost that the gradient alone would tell of."""
    figure, axes = panels(3)
    titles = ("updates $N$", "remainder $R$", "ponder cost $P = N + R$")
    breaks = np.diff(n_updates, append=n_updates[-1]) != 0  # no line across a jump
    for ax, values, title in zip(axes, (n_updates, remainder, cost), titles, strict=True):
        ax.plot(logit, np.where(breaks, np.nan, values), color=BLUE, label="as it is")
        ax.set(title=title, xlabel="halting logit of update 1")
    axes[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    axes[2].plot(logit, told, **look(1, marker=None), label="as its gradient tells")
    axes[2].legend()
    return figure


@styled
def by_setting(
    measured: Sequence[dict[str, Runs]], x_labels: Sequence[str], y_labels: Sequence[str], log: Sequence[bool],
    rows: int = 1,
) -> Figure:  # fmt: skip
    """A mark for every run, full if it is of this session, and a line through the means.

    Each panel, in so many rows of them, has its groups, {group: {of this session?: [(setting, value), ...]}}, its
    labels, and an x axis that is logarithmic or not.
    """
    figure, axes = panels(len(measured), width=4.6, height=3.3 if rows == 1 else 2.7, rows=rows)
    for ax, groups, x_label, y_label, is_log in zip(axes, measured, x_labels, y_labels, log, strict=True):
        settings = sorted({setting for runs in groups.values() for points in runs.values() for setting, _ in points})
        for which, (name, runs) in enumerate(groups.items()):
            aside = 1.08 ** (which - (len(groups) - 1) / 2) if is_log else 1  # groups side by side
            mark_runs(ax, runs, which, 22, factor=aside)
            x, y = np.reshape([*runs.get(False, []), *runs.get(True, [])], (-1, 2)).T
            means = [y[x == setting].mean() for setting in np.unique(x)]
            line = look(which, linestyle="-", linewidth=1.2, markersize=5, markevery=[])  # marks in the legend alone
            ax.plot(np.unique(x) * aside, means, **line, label=name)
        y_range = (0.45, 1.02) if y_label == "accuracy" else (0, max(1.1 * ax.get_ylim()[1], 5))
        ax.set(xlabel=x_label, ylabel=y_label, ylim=y_range, xscale="log" if is_log else "linear")
        if len(settings) < 6:
            ax.set_xticks(settings, [f"{setting:g}" for setting in settings])
            ax.minorticks_off()
        if len(groups) > 1:
            ax.legend()
    return figure


@styled
def trade_off(runs: dict[str, Sequence[tuple[float, float]]], chance: float) -> Figure:
    """Accuracy against updates per answer, a mark for every run: {kind of network: [(updates, accuracy), ...]}."""
    figure, (ax,) = panels(1, width=6, height=3.5)
    for which, (name, points) in enumerate(runs.items()):
        marks(ax, points, which, 26, label=name)
    ax.axhline(chance, color=BLACK, linestyle=":", label="chance")
    ax.set(xlabel="updates for an answer (mean)", ylabel="accuracy", ylim=(0.45, 1.02), xscale="log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("{x:g}")
    ax.legend(loc="center", bbox_to_anchor=(0.7, 0.45))  # where no run lies
    return figure


@styled
def small_test_sets(
    epochs: Line, curves: Sequence[Line], live: int, counts: dict[int, Sequence[int]], printed: Sequence[int]
) -> Figure:
    """Accuracy on all inputs while training, and what sets of 16 say about one network at the end.

    The curves are [runs, points], the first `live` of this session, which may be shorter. Counts are {epochs: on how
    many test sets of 16 the networks then had 0, 1, ..., 16 right [17]}, and printed: how many were right in each of
    the scores that were published.
    """
    figure, (left, right) = panels(2, width=4.6, height=3.4)
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
