"""Figures of the theory: the halting distribution, its prior, the two divergences, and what rounding does to them."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from matplotlib.figure import Figure

from ponder_utils.plots import BLACK, BLUE, ORANGE, RED, SKY, Line, legend, look, panels, step_axis, styled


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
def bound_path(sharpness: Line, bound: Line, loss: Line, exact: float, p: dict[str, Line]) -> Figure:
    """The bound, the beta-loss [points] and the exact value along a path of p; three p of the path, each [N]."""
    figure, (left, right) = panels(2, width=4.8, height=3.6)
    left.plot(sharpness, bound, color=BLUE, label=r"bound ($\beta = 1$)")
    left.axhline(exact, color=BLACK, linestyle=":", label="exact value")
    left.plot(sharpness, loss, color=RED, linestyle="--", label=r"$L_\beta$ at its minimum")
    left.fill_between(sharpness, exact, bound, color=SKY, alpha=0.45, linewidth=0, label="gap")
    left.set_xscale("symlog", linthresh=1)
    left.set(xlabel=r"sharpness $1/\beta$ of $p \propto p_G\, e^{-\ell/\beta}$", ylabel="nats", xlim=(0, sharpness[-1]))
    left.set_xticks([0, 0.5, 1, 10, 100], ["0\nprior", "", "1\nposterior", "10", "100"])
    left.legend()
    for which, (label, p_n) in enumerate(p.items()):
        n = step_axis(right, len(p_n), ylabel="$p_n$", ylim=(-0.03, 1.03))
        right.plot(n, p_n, **look(which, markersize=5), label=label)
    right.legend()
    return figure


@styled
def priors(settings: dict[str, dict[str, Line]]) -> Figure:
    """Truncated priors: a panel for each setting, {title: {"renormalise": [N], "remainder": [N], "geometric": [N]}}."""
    figure, axes = panels(len(settings), width=3.4 if len(settings) > 1 else 6, height=3.1)
    for ax, (title, forms) in zip(axes, settings.items(), strict=True):
        n = step_axis(ax, len(forms["geometric"]), title=title)
        hollow = look(1, markersize=5, linewidth=1, markerfacecolor="none")
        ax.bar(n, forms["geometric"], color="#BBBBBB", label="geometric, cut off")
        ax.plot(n, forms["renormalise"], **look(0, markersize=3.5, linewidth=1), label="renormalised")
        ax.plot(n, forms["remainder"], **hollow, label="remainder on the last step")
    axes[0].set_ylabel("$p_G(n)$")
    return legend(figure, columns=3)


@styled
def prior_mean(lambda_ps: Line, means: dict[str, Line], N: int) -> Figure:
    """Mean number of steps against lambda_p, {label: [points]}; N is where it is cut off."""
    figure, (ax,) = panels(1, width=6, height=3.4)
    for which, (label, mean) in enumerate(means.items()):
        ax.plot(lambda_ps, mean, **look(which, marker=None), label=label)
    ax.axhline(N, color="#777777", linewidth=1)
    ax.text(lambda_ps[-1], N * 1.06, f"$N = {N}$", ha="right")
    ax.set(xlabel=r"$\lambda_p$", ylabel="mean of the prior, steps", yscale="log", xlim=(0, 1))
    ax.set_yticks([1, 2, 5, 10, 20, 50], ["1", "2", "5", "10", "20", "50"])
    ax.minorticks_off()
    ax.legend()
    return figure


@styled
def two_divergences(off_mass: Line, divergences: dict[str, Line], limit: float) -> Figure:
    """Divergences {label: [points]} as the mass away from one step vanishes; `limit` is the bound of the first."""
    figure, (ax,) = panels(1, width=6, height=3.4)
    for which, (label, value) in enumerate(divergences.items()):
        ax.plot(off_mass, value, **look(which, markersize=5), label=label)
    ax.axhline(limit, color=BLACK, linestyle=":", label=r"$-\log p_G(5)$")
    ax.set(xlabel="probability to halt elsewhere than at step 5", xscale="log")
    ax.set(ylabel="divergence (nats)", ylim=(0, None))
    ax.invert_xaxis()
    ax.legend()
    return figure


@styled
def fitted(
    closed: Sequence[dict[str, Line]], fits: Sequence[dict[str, Line]], losses: Sequence[Line], titles: Sequence[str]
) -> Figure:
    """Halting distributions by gradient descent (marks) on their closed forms (lines), {label: [N]} for each case;
    losses [cases, N] as a grey step line on the same axis."""
    figure, axes = panels(len(titles), width=3.5, height=3.5, sharey=True)
    for ax, lines, marks, loss, title in zip(axes, closed, fits, losses, titles, strict=True):
        n = step_axis(ax, len(loss), title=title, yscale="log", ylim=(1e-4, 2))
        ax.step(n, loss, where="mid", color="#777777", linewidth=1.2, label=r"loss $\ell_n$ (nats)")
        for which, label in enumerate(lines):
            mark = look(which, markersize=5, linestyle="none", markerfacecolor="none" if which else None)
            ax.plot(n, lines[label], **look(which, marker=None, linewidth=1.2))
            ax.plot(n, marks[label], **mark, label=label)
    axes[0].set_ylabel("$p_n$, and loss (log scale)")
    return legend(figure, columns=3)


@styled
def underflow(logits: Line, survival: dict[str, Line], log_space: Line) -> Figure:
    """log10 of a product of survival probabilities against the logit: {label: [points]}, and in log space."""
    figure, (ax,) = panels(1, width=7, height=3.6)
    a = np.asarray(logits)
    ax.plot(a, log_space, color=BLACK, linestyle=":", label="sum of logarithms, float32")
    for which, (name, values) in enumerate(survival.items()):
        alive = np.asarray(values) > 0
        x, y = a[alive], np.log10(np.asarray(values)[alive])
        ax.plot(x, y, **look(which, marker=None), label=name)
        ax.plot(x[-1], y[-1], **look(which, marker="X", markersize=10, linestyle="none"))
    ax.set(xlabel=r"halting logit $a$, the same at every step", ylabel=r"$\log_{10}$ of the survival")
    ax.legend(loc="lower left")
    return figure


@styled
def assignments(losses: dict[str, Line], names: Sequence[str]) -> Figure:
    """The reconstruction loss under several ways to halt [names], for each reduction: grouped bars."""
    figure, (ax,) = panels(1, width=7, height=3.3)
    place = np.arange(len(names))
    looks = ((-0.19, SKY, ""), (0.19, ORANGE, "///"))
    for (label, values), (shift, face, hatch) in zip(losses.items(), looks, strict=False):
        bars = ax.bar(place + shift, values, 0.36, color=face, hatch=hatch, label=label, edgecolor=BLACK, linewidth=0.8)
        ax.bar_label(bars, fmt="%.2f", fontsize="small", padding=2)
    ax.set(xlabel="who halts where", ylabel="reconstruction loss (nats)", xticks=place, xticklabels=names)
    ax.margins(y=0.15)
    ax.grid(axis="x", visible=False)
    ax.legend(loc="upper left")
    return figure


@styled
def stopping(p: Line, answer: Line, rules: dict[str, tuple[float, float, float, float]]) -> Figure:
    """p_n and the answer after each step [N]; for each rule mean and deviation of the steps computed and the answer."""
    figure, (left, right) = panels(2, width=4.8, height=3.5)
    n = step_axis(left, len(p), ylabel="probability", ylim=(0, 1.03))
    left.bar(n, p, color=SKY, label="$p_n$")
    left.plot(n, answer, **look(0, markersize=4), label="answer, P(odd)")
    left.legend()
    for which, (name, (cost, cost_sd, mean, sd)) in enumerate(rules.items()):
        mark = look(which, markersize=8, linestyle="none", capsize=3, linewidth=1.2)
        right.errorbar(cost, mean, xerr=cost_sd or None, yerr=sd or None, **mark, label=name)
    right.set(xlabel="steps computed", ylabel="answer, P(odd)", ylim=(0, 1.03), xlim=(0, len(p) + 0.5))
    right.legend(loc="lower left")
    return figure
