"""Figures of the theory: the halting distribution, its prior, the two divergences, and what rounding does to them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ponder_utils.plots import BLACK, BLUE, COLOURS, DASHES, MARKERS, ORANGE, RED, SKY, panels, styled


@styled
def coin_tree(lambdas: Sequence[Fraction], p: Sequence[Fraction]) -> Figure:
    """The tree of coin flips with its exact branch probabilities: lambdas [N], p [N]; likely ones are thick."""
    figure, (ax,) = panels(1, width=8.4, height=3.1)
    survival, box = Fraction(1), {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": BLUE}
    for n, (lambda_n, p_n) in enumerate(zip(lambdas, p, strict=True), start=1):
        last = n == len(p)
        ax.plot([n, n], [1, 0], color=BLUE, linewidth=0.8 + 9 * float(p_n), solid_capstyle="butt", zorder=1)
        ax.text(n + 0.06, 0.52, "1" if last else str(lambda_n), color=BLUE, ha="left", va="center")
        ax.text(n, -0.08, f"$p_{n}$ = {p_n}", ha="center", va="center", bbox=box)
        if not last:
            survival *= 1 - lambda_n
            ax.plot([n, n + 1], [1, 1], color=RED, linewidth=0.8 + 9 * float(survival), zorder=1)
            ax.text(n + 0.5, 1.13, str(1 - lambda_n), color=RED, ha="center", va="bottom")
        ax.plot(n, 1, "o", color="white", markeredgecolor=BLACK, markersize=15, zorder=2)
        ax.text(n, 0.992, str(n), ha="center", va="center", zorder=3)
    ax.plot([], [], color=RED, label=r"go on, $1-\lambda_n$")
    ax.plot([], [], color=BLUE, label=r"halt, $\lambda_n$")
    ax.set(xlabel="step $n$", xlim=(0.5, len(p) + 0.6), ylim=(-0.3, 1.45), xticks=[], yticks=[])
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.grid(visible=False)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


@styled
def bound_path(
    sharpness: Sequence[float], bound: Sequence[float], loss: Sequence[float], exact: float,
    p: dict[str, Sequence[float]],
) -> Figure:  # fmt: skip
    """The bound, the beta-loss [points] and the exact value along a path of p; three p of the path, each [N]."""
    figure, axes = panels(2, width=4.8, height=3.6)
    left, right = axes
    left.plot(sharpness, bound, color=BLUE, label=r"bound ($\beta = 1$)")
    left.axhline(exact, color=BLACK, linestyle=":", label="exact value")
    left.plot(sharpness, loss, color=RED, linestyle="--", label=r"$L_\beta$ at its minimum")
    left.fill_between(sharpness, exact, bound, color=SKY, alpha=0.45, linewidth=0, label="gap")
    left.set_xscale("symlog", linthresh=1)
    left.set(xlabel=r"sharpness $1/\beta$ of $p \propto p_G\, e^{-\ell/\beta}$", ylabel="nats", xlim=(0, sharpness[-1]))
    left.set_xticks([0, 0.5, 1, 10, 100], ["0\nprior", "", "1\nposterior", "10", "100"])
    left.legend()
    for which, (label, p_n) in enumerate(p.items()):
        n = np.arange(1, len(p_n) + 1)
        style: dict[str, Any] = {"color": COLOURS[which], "marker": MARKERS[which], "linestyle": DASHES[which]}
        right.plot(n, p_n, markersize=5, label=label, **style)
    right.set(xlabel="step $n$", ylabel="$p_n$", ylim=(-0.03, 1.03))
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.legend()
    return figure


@styled
def priors(settings: dict[str, dict[str, Sequence[float]]]) -> Figure:
    """Truncated priors: a panel for each setting, {title: {"renormalise": [N], "remainder": [N], "geometric": [N]}}."""
    figure, axes = panels(len(settings), width=3.4 if len(settings) > 1 else 6, height=3.1)
    for ax, (title, forms) in zip(axes, settings.items(), strict=True):
        n = np.arange(1, len(forms["geometric"]) + 1)
        ax.bar(n, forms["geometric"], color="#BBBBBB", label="geometric, cut off")
        ax.plot(n, forms["renormalise"], color=BLUE, marker="o", markersize=3.5, linewidth=1, label="renormalised")
        ax.plot(
            n, forms["remainder"], color=RED, marker="s", markersize=5, markerfacecolor="none", linewidth=1,
            linestyle="--", label="remainder on the last step",
        )  # fmt: skip
        ax.set(title=title, xlabel="step $n$")
        ax.set_ylim(bottom=0)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("$p_G(n)$")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@styled
def prior_mean(lambda_ps: Sequence[float], means: dict[str, Sequence[float]], N: int) -> Figure:
    """Mean number of steps against lambda_p, {label: [points]}; N is where it is cut off."""
    figure, (ax,) = panels(1, width=6, height=3.4)
    for which, (label, mean) in enumerate(means.items()):
        ax.plot(lambda_ps, mean, color=COLOURS[which], linestyle=DASHES[which], label=label)
    ax.axhline(N, color="#777777", linewidth=1)
    ax.text(lambda_ps[-1], N * 1.06, f"$N = {N}$", ha="right")
    ax.set(xlabel=r"$\lambda_p$", ylabel="mean of the prior, steps", yscale="log", xlim=(0, 1))
    ax.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    ax.minorticks_off()
    ax.legend()
    return figure


@styled
def two_divergences(off_mass: Sequence[float], divergences: dict[str, Sequence[float]], limit: float) -> Figure:
    """Divergences {label: [points]} as the mass away from one step vanishes; `limit` is the bound of the first."""
    figure, (ax,) = panels(1, width=6, height=3.4)
    for which, (label, value) in enumerate(divergences.items()):
        style: dict[str, Any] = {"color": COLOURS[which], "marker": MARKERS[which], "linestyle": DASHES[which]}
        ax.plot(off_mass, value, markersize=5, label=label, **style)
    ax.axhline(limit, color=BLACK, linestyle=":", label=r"$-\log p_G(5)$")
    ax.set(xlabel="probability to halt elsewhere than at step 5", ylabel="divergence (nats)", xscale="log")
    ax.set_ylim(bottom=0)
    ax.invert_xaxis()
    ax.legend()
    return figure


@styled
def fitted(
    closed: Sequence[dict[str, Sequence[float]]], fits: Sequence[dict[str, Sequence[float]]],
    losses: Sequence[Sequence[float]], titles: Sequence[str],
) -> Figure:  # fmt: skip
    """Halting distributions by gradient descent (marks) on their closed forms (lines), {label: [N]} for each case;
    losses [cases, N] as a grey step line on the same axis."""
    figure, axes = panels(len(titles), width=3.5, height=3.5, sharey=True)
    for ax, lines, marks, loss, title in zip(axes, closed, fits, losses, titles, strict=True):
        n = np.arange(1, len(loss) + 1)
        ax.step(n, loss, where="mid", color="#777777", linewidth=1.2, label=r"loss $\ell_n$ (nats)")
        for which, label in enumerate(lines):
            ax.plot(n, lines[label], color=COLOURS[which], linestyle=DASHES[which], linewidth=1.2)
            ax.plot(n, marks[label], color=COLOURS[which], marker=MARKERS[which], markersize=5, linestyle="none",
                    markerfacecolor="none" if which else None, label=label)  # fmt: skip
        ax.set(title=title, xlabel="step $n$", yscale="log", ylim=(1e-4, 2))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].set_ylabel("$p_n$, and loss (log scale)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


@styled
def underflow(logits: Sequence[float], survival: dict[str, Sequence[float]], log_space: Sequence[float]) -> Figure:
    """log10 of a product of survival probabilities against the logit: {label: [points]}, and in log space."""
    figure, (ax,) = panels(1, width=7, height=3.6)
    a = np.asarray(logits)
    ax.plot(a, log_space, color=BLACK, linestyle=":", label="sum of logarithms, float32")
    for which, (name, values) in enumerate(survival.items()):
        alive = np.asarray(values) > 0
        x, y = a[alive], np.log10(np.asarray(values)[alive])
        ax.plot(x, y, color=COLOURS[which], linestyle=DASHES[which], label=name)
        ax.plot(x[-1], y[-1], color=COLOURS[which], marker="X", markersize=10, linestyle="none")
    ax.set(xlabel=r"halting logit $a$, the same at every step", ylabel=r"$\log_{10}$ of the survival")
    ax.legend(loc="lower left")
    return figure


@styled
def assignments(losses: dict[str, Sequence[float]], names: Sequence[str]) -> Figure:
    """The reconstruction loss under several ways to halt [names], for each reduction: grouped bars."""
    figure, (ax,) = panels(1, width=7, height=3.3)
    place, faces = np.arange(len(names)), (SKY, ORANGE)
    for which, (label, values) in enumerate(losses.items()):
        bars = ax.bar(
            place + 0.38 * (which - 0.5), values, 0.36, color=faces[which], edgecolor=BLACK, linewidth=0.8,
            hatch=("", "///")[which], label=label,
        )  # fmt: skip
        ax.bar_label(bars, fmt="%.2f", fontsize="small", padding=2)
    ax.set(xlabel="who halts where", ylabel="reconstruction loss (nats)")
    ax.set_xticks(place, names)
    ax.margins(y=0.15)
    ax.grid(axis="x", visible=False)
    ax.legend(loc="upper left")
    return figure


@styled
def stopping(
    p: Sequence[float], answer: Sequence[float], rules: dict[str, tuple[float, float, float, float]]
) -> Figure:
    """p_n and the answer after each step [N]; for each rule mean and deviation of the steps computed and the answer."""
    figure, (left, right) = panels(2, width=4.8, height=3.5)
    n = np.arange(1, len(p) + 1)
    left.bar(n, p, color=SKY, label="$p_n$")
    left.plot(n, answer, color=BLUE, marker="o", markersize=4, label="answer, P(odd)")
    left.set(xlabel="step $n$", ylabel="probability", ylim=(0, 1.03))
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.legend()
    for which, (name, (cost, cost_sd, mean, sd)) in enumerate(rules.items()):
        right.errorbar(
            cost, mean, xerr=cost_sd or None, yerr=sd or None, color=COLOURS[which], marker=MARKERS[which],
            markersize=8, capsize=3, linewidth=1.2, linestyle="none", label=name,
        )  # fmt: skip
    right.set(xlabel="steps computed", ylabel="answer, P(odd)", ylim=(0, 1.03), xlim=(0, len(p) + 0.5))
    right.legend(loc="lower left")
    return figure
