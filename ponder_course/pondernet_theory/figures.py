"""The figures of lesson 02."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from pandas import DataFrame
from torch import Tensor, nn

from ponder_course.common import style, verdicts
from ponder_utils.halting import expected_steps, geometric_log_prior

# (losses [N, ...], logarithm of the prior [N, ...], beta) -> the best p [N, ...]: equation 5, as the lesson has it
BestHalting = Callable[[Tensor, Tensor, float], Tensor]
LogHalting = Callable[[Tensor], Tensor]  # halting logits [N, ...] -> log p_n [N, ...]


def pushes(
    lambda_3: float, losses: Tensor, log_prior: Tensor, log_halting: LogHalting, kl: Callable[[Tensor, Tensor], Tensor]
) -> dict[str, float]:
    """Return the gradients on the third halting logit, {part of the loss: gradient}, where its coin is lambda_3.

    The other coins are 0.2. losses, log_prior: [N]; log_halting, kl: the lesson's own.
    """
    coins = torch.full_like(losses, 0.2)
    coins[2] = lambda_3
    leaf = coins.logit().requires_grad_()
    log_p = log_halting(leaf)
    parts = {"losses": (log_p.exp() * losses).sum()}
    parts |= {style.KL["p||p_G"]: kl(log_p, log_prior), style.KL["p_G||p"]: kl(log_prior, log_p)}
    slopes = [torch.autograd.grad(part, leaf, retain_graph=True)[0] for part in parts.values()]
    return {name: slope[2].item() for name, slope in zip(parts, slopes, strict=True)}


def sizes_of(gradients: Iterable[Mapping[str, float]]) -> dict[str, list[float]]:
    """Return the sizes of gradients by part of the loss, {part: [coins]}: for `draw_pushes`."""
    return {str(part): sizes for part, sizes in DataFrame(gradients).abs().to_dict("list").items()}


def what_still_pulls(sizes: Mapping[str, style.Line]) -> str:
    """Return in a sentence what the reversed divergence does where the coin is smallest."""
    return f"At a dead step only the reversed divergence still pulls: {sizes[style.KL['p_G||p']][-1]:.2f}"


@style.slide
def draw_pushes(coins: style.Line, parts: Mapping[str, style.Line], limit: float) -> Figure:
    """Size of the gradient on a halting logit as its coin goes to 0, {part: [coins]}; a limit."""
    figure, (ax,) = style.panels(1, width=8.2, height=4.4)
    looks = ((style.ANSWER, "o", "-"), (style.HALTING, "s", "--"), (style.PURPLE, "^", "-."))
    for (label, sizes), (colour, marker, dashes) in zip(parts.items(), looks, strict=True):
        ax.plot(coins, sizes, dashes, color=colour, marker=marker, markersize=5, markevery=4)
        ax.text(coins[-1] / 1.7, sizes[-1], label, va="center")
    ax.plot([coins[0], coins[-1]], [limit, limit], color=style.PRIOR, linestyle=":")
    ax.text(coins[0], limit * 1.8, "$p_G(3)$", color=style.DARK_GREY, va="bottom")
    ax.set(xscale="log", yscale="log", xlabel=r"the coin of step 3, $\lambda_3$")
    ax.set(ylabel=r"size of $\partial / \partial a_3$", xlim=(coins[0] * 1.4, coins[-1] / 90))
    ax.set_ylim(top=limit * 20)
    ax.set_xticks([10.0**k for k in range(-1, math.floor(math.log10(coins[-1])) - 1, -2)])
    return figure


@style.slide
def draw_best_halting(
    losses: style.Line,
    columns: Sequence[tuple[str, style.Line, style.Line]],
    lowest: float = 0.0,  # a number above 0: on a log axis from there
) -> Figure:
    """Losses of one input [N]; beside them a panel for each (title, prior [N], best p [N]).

    The number is p_n where the loss is smallest. On a log axis, without the losses, all p_n.
    """
    count = len(columns) + (not lowest)
    figure, axes = style.panels(count, width=8.8 / count, height=3.5)
    losses = [float(value) for value in losses]
    n = np.arange(1, len(losses) + 1)
    if not lowest:
        left = axes.pop(0)
        bars = left.bar(n, losses, 0.8, color=style.ANSWER)
        left.bar_label(bars, fmt="%.2g", padding=1, fontsize=14)
        left.margins(y=0.12)
        left.grid(axis="x", visible=False)
        style.step_axis(left, len(losses), xticks=n, yticks=[])
        left.set_title("losses (nats)", fontsize=15)
    outline: dict[str, Any] = {"color": "none", "edgecolor": style.PRIOR, "linestyle": ":", "linewidth": 1.8}
    for ax, (title, *lines) in zip(axes, columns, strict=True):
        prior, best = (np.maximum([float(value) for value in line], lowest) for line in lines)
        style.step_axis(ax, len(losses), ylim=(0, 1.2), xticks=n, yticks=(0, 0.5, 1))
        ax.set_title(title, fontsize=15)
        width = 0.8 if lowest else 0.6
        ax.bar(n, best, width, color=style.HALTING, label="best $p_n$")
        ax.grid(axis="x", visible=False)
        if lowest:
            ax.plot(n, prior, ":", color=style.DARK_GREY, linewidth=2, label="prior")
            ax.set(yscale="log", ylim=(lowest, 1e2), yticks=[1e-30, 1e-20, 1e-10, 1])
        else:
            ax.bar(n, prior, 0.9, label="prior", **outline)
        ax.tick_params(labelleft=ax is axes[0])
        for place, p_n, behind in zip(n, best, prior, strict=True):
            text = f"{p_n:.3f}" if p_n >= 0.001 else f"{p_n:.0e}"
            if not lowest:
                text = f"{p_n:.2f}"
                if place != n[np.argmin(losses)]:
                    continue
            if lowest and p_n > 1e-10:  # in the bar, below the line of the prior
                offset, colour = -26, style.BLACK
            else:
                offset, colour = 3, style.DARK_ORANGE
            top = p_n if lowest else max(p_n, behind)
            ax.annotate(text, (place, top), fontsize=13, ha="center", va="bottom", color=colour, xytext=(0, offset),
                        textcoords="offset points")  # fmt: skip
    if not lowest:
        axes[0].legend(loc="upper right", borderaxespad=0)
    return figure


def best_columns(
    best: BestHalting, losses: Tensor, settings: Sequence[tuple[float, float]]
) -> list[tuple[str, style.Line, style.Line]]:
    """Return for `draw_best_halting` the prior and the best p for each (beta, lambda_p). losses: [N]."""
    columns: list[tuple[str, style.Line, style.Line]] = []
    for beta, lambda_p in settings:
        log_g = geometric_log_prior(lambda_p, len(losses))
        columns.append((f"$\\beta = {beta:.2g}$", log_g.exp().tolist(), best(losses, log_g, beta).tolist()))
    return columns


def sliders_of(losses: Tensor) -> dict[str, tuple[float, float, float, float]]:
    """Return the sliders of `best_at`, which begin at these losses."""
    sliders = {f"loss_{n}": (0.0, 2.0, 0.05, loss) for n, loss in enumerate(losses.tolist(), 1)}
    return sliders | {"log10_beta": (-2.0, 1.0, 0.1, -1.0), "lambda_p": (0.05, 0.95, 0.05, 0.4)}


def best_at(best: BestHalting, log10_beta: float, lambda_p: float, **losses: float) -> Figure:
    """Draw the best halting where the sliders stand."""
    values = torch.tensor([*losses.values()], dtype=torch.float64)
    return draw_best_halting(values.tolist(), best_columns(best, values, [(10**log10_beta, lambda_p)]))


def best_by_beta(best: BestHalting, losses: Tensor, betas: Sequence[float], lambda_p: float) -> tuple[Figure, str]:
    """Draw the best halting for some betas, and say in a sentence what the step with the smallest loss gets."""
    columns = best_columns(best, losses, [(beta, lambda_p) for beta in betas])
    solved = int(losses.argmin())
    grip = ", ".join(f"{p[solved]:.2f}" for _, _, p in columns)
    finding = f"The smaller β, the more the losses decide: step {solved + 1} gets {grip}"
    return draw_best_halting(losses.tolist(), columns), finding


def best_steps(best: BestHalting, losses: Tensor, log_prior: Tensor, beta: float) -> dict[str, style.Line]:
    """Return the expected steps of the best halting, [inputs]: with a loss for each, and averaged first.

    losses: [N, inputs], log_prior: [N, 1].
    """
    given = {"none": losses, "mean": losses.mean(1, keepdim=True).expand_as(losses)}
    return {kind: expected_steps(best(each, log_prior, beta).log()).tolist() for kind, each in given.items()}


@torch.no_grad()
def steps_learnt(networks: Mapping[str, Sequence[nn.Module]], log_halting: LogHalting) -> dict[str, list[style.Line]]:
    """Return the expected steps of six inputs, {kind: [networks, inputs]}, from each network's halting logits."""
    return {
        kind: [expected_steps(log_halting(network(torch.eye(6))[1])).tolist() for network in group]
        for kind, group in networks.items()
    }


def rises_of(runs: Mapping[str, Sequence[style.Line]]) -> dict[str, list[float]]:
    """Return the steps of the last input less those of the first, {kind: [networks]}."""
    return {kind: [run[-1] - run[0] for run in group] for kind, group in runs.items()}


def size_of_rises(rises: style.Line) -> str:
    """Return the smallest and the largest of them, without their signs."""
    return verdicts.span([abs(rise) for rise in rises], ".1f")


def what_was_learnt(runs: Mapping[str, Sequence[style.Line]], updates: int) -> str:
    """Return in a sentence whether inputs that need more take more, if weighted first."""
    rises = rises_of(runs)
    if min(rises["none"]) > 4 and max(map(abs, rises["mean"])) < 0.5:
        alike = f"averaged first, all take {np.mean(runs['mean']):.0f}"
        return f"Weighted first, inputs that need more steps take more;\n{alike}"
    return f"After {updates} updates input 6 takes {size_of_rises(rises['none'])} steps more than input 1"


def more_for_the_hardest(runs: Mapping[str, Sequence[style.Line]]) -> str:
    """Return what input 6 takes more than input 1, weighted and averaged first."""
    last, first = (size_of_rises(rises_of(runs)[kind]) for kind in ("none", "mean"))
    return f"input 6 takes {last} steps more than input 1; averaged first {first}"


@style.slide
def draw_learnt(
    needs: style.Line, theory: Mapping[str, style.Line], runs: Mapping[str, Sequence[style.Line]]
) -> Figure:
    """Expected steps of inputs: theory {kind: [inputs]} and trained {kind: [runs, inputs]}."""
    figure, (ax,) = style.panels(1, width=8.4, height=4.6)
    looks = {"none": (style.HALTING, "o", "-"), "mean": (style.WRONG, "s", "--")}
    for kind, steps in theory.items():
        colour, marker, dashes = looks[kind]
        ax.plot(needs, steps, color=colour, linestyle=dashes)
        for run in runs[kind]:
            ax.plot(needs, run, marker, color=colour, markersize=8, markerfacecolor="none")
    ax.plot(needs, needs, color=style.LIMIT, linewidth=1.2)
    ax.text(needs[-1] + 0.15, needs[-1], "needed", color=style.LIMIT, va="center")
    right, wrong = theory["none"], theory["mean"]
    ax.text(
        needs[2],
        right[2] + 0.3,
        "weighted first ",
        color=style.DARK_ORANGE,
        ha="right",
        va="bottom",
    )
    ax.text(needs[0], wrong[0] + 0.2, "averaged first", color=style.WRONG, va="bottom")
    top = max(max(line) for line in theory.values())
    ax.set(xlabel="steps that the input needs", ylabel="expected steps", xticks=list(needs))
    ax.set(ylim=(0, 1.18 * top), xlim=(needs[0] - 0.2, needs[-1] + 1.6))
    return figure


@style.slide
def draw_noise(rows: Sequence[Sequence[float]]) -> Figure:
    """Rows of (update, gradient squared, variance of a sample, of one with a baseline)."""
    figure, (ax,) = style.panels(1, width=8.4, height=4.4)
    update, *lines = (list(line) for line in zip(*rows, strict=True))
    names = ("the gradient, squared", "variance,\none sampled step", "variance,\nwith a baseline")
    looks = (
        (style.HALTING, "-", style.DARK_ORANGE),
        (style.PURPLE, "--", "#A8447F"),
        (style.GREEN, "-.", "#00704F"),
    )
    for line, name, (colour, dashes, dark) in zip(lines, names, looks, strict=True):
        ax.plot(update, line, color=colour, linestyle=dashes, linewidth=2.2)
        ax.text(update[-1] * 1.02, line[-1], name, color=dark, va="center")
    ax.set(yscale="log", xlabel="update", ylabel="gradient² and variance, all logits")
    ax.set(xlim=(0, update[-1] * 1.42), xticks=np.linspace(0, update[-1], 4))
    return figure


def how_noisy(rows: Sequence[Sequence[float]]) -> str:
    """Return in a sentence the variance of one sampled step by the gradient squared, in the first and the last row."""
    first, last = (row[2] / row[1] for row in (rows[0], rows[-1]))
    return (
        f"One sampled step: its variance is {first:.0f} times\n"
        f"the gradient squared at first, {float(f'{last:.1g}'):,.0f} times at the end"
    )


@style.slide
def draw_kl_bars(prior: style.Line, cases: Mapping[str, style.Line]) -> Figure:
    """A panel for each {name: p [N]}, beside the prior; over each bar what it adds to the KL."""
    figure, axes = style.panels(len(cases), width=4.4, height=3.6, sharey=True)
    prior = [float(value) for value in prior]
    for ax, (name, values) in zip(axes, cases.items(), strict=True):
        p = np.asarray(values, float)
        parts = p * np.log2(np.where(p > 0, p, 1) / prior)
        n = style.step_axis(ax, len(p), title=f"{name}: {parts.sum():.2f} bits")
        ax.set_xticks(n)
        dotted: dict[str, Any] = {"edgecolor": style.PRIOR, "linestyle": ":", "linewidth": 1.8}
        ax.bar(n - 0.22, prior, 0.34, color="none", **dotted)
        ax.bar(n + 0.22, p, 0.38, color=style.HALTING)
        for place, p_n, part in zip(n, p, parts, strict=True):
            number = f"{part:+.2f}" if p_n else "0"
            ax.text(place + 0.22, p_n + 0.02, number, color=style.DARK_ORANGE, ha="center", va="bottom")
        ax.set_ylim(0, 1.15)
        ax.grid(axis="x", visible=False)
    axes[0].text(n[0] - 0.22, prior[0] + 0.02, "$p_G$", color=style.DARK_GREY, ha="center", va="bottom")
    axes[0].set_ylabel("probability")
    return figure


@style.slide
def draw_prior_means(coins: style.Line, means: Mapping[str, style.Line], cap: int) -> Figure:
    """Mean steps of a prior cut off at `cap`, {repair: [coins]}, beside 1 / lambda_p."""
    figure, (ax,) = style.panels(1, width=8.2, height=4.2)
    ax.plot(coins, [1 / coin for coin in coins], color=style.LIMIT, linewidth=1.2)
    ax.plot([coins[0], coins[-1]], [cap, cap], color=style.LIMIT, linewidth=0.8)
    looks = {"renormalise": (":", -1.6), "remainder": ("--", 1.3)}
    for name, line in means.items():
        dashes, up = looks[name]
        ax.plot(coins, line, color=style.PRIOR, linestyle=dashes, linewidth=2.6)
        ax.text(coins[0] * 1.03, line[0] + up, name, color=style.DARK_GREY, va="center")
    ax.text(0.9 / cap, cap * 1.2, "$1 / \\lambda_p$, before the cut", color=style.LIMIT)
    ax.text(coins[-1], cap * 1.03, "cap $N$", color=style.LIMIT, ha="right", va="bottom")
    ax.set(xscale="log", xlabel=r"$\lambda_p$", ylabel="mean steps", ylim=(0, 1.35 * cap))
    ax.set_xticks([0.02, 0.05, 0.1, 0.2, 0.5, 1], ["0.02", "0.05", "0.1", "0.2", "0.5", "1"])
    ax.xaxis.set_minor_locator(style.mpl.ticker.NullLocator())
    return figure


def prior_mean(coin: float, repair: str) -> float:
    """Return the mean step of a geometric prior that is cut off at 20 steps and repaired so."""
    return expected_steps(geometric_log_prior(coin, 20, repair)).item()


@style.slide
def draw_bounds(sharpness: style.Line, pairs: Mapping[str, Sequence[tuple[str, style.Line]]]) -> Figure:
    """A panel for each {title: [(name, upper line), (name, lower line)]}, at each 1 / beta."""
    figure, axes = style.panels(len(pairs), width=4.6, height=3.8)
    sharpness = [float(value) for value in sharpness]
    colours = ((style.PURPLE, style.LIMIT), (style.ANSWER, style.HALTING))
    for ax, (title, pair), (above, below) in zip(axes, pairs.items(), colours, strict=False):
        (upper_name, lower_name), lines = zip(*pair, strict=True)
        upper, lower = ([float(value) for value in line] for line in lines)
        ax.fill_between(sharpness, lower, upper, color="#E6E6E6", linewidth=0)
        ax.plot(sharpness, upper, color=above, label=upper_name)
        ax.plot(sharpness, lower, "--", color=below, label=lower_name)
        ax.set(xscale="log", title=title, xlabel=r"$1 / \beta$", ylim=(0, 1.45 * max(upper)))
        ax.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
        ax.legend(loc="upper left")
    axes[0].set_ylabel("nats")
    return figure


@style.slide
def draw_underflow(logits: style.Line, survival: dict[str, style.Line], log_space: style.Line) -> Figure:
    """log10 of a product of survival probabilities against the logit, and in log space."""
    figure, (ax,) = style.panels(1, width=8.2, height=4.2)
    ax.plot(logits, log_space, color=style.BLACK, linestyle=":", label="sum of logarithms, float32")
    for which, (name, values) in enumerate(survival.items()):
        alive = np.asarray(values) > 0
        x, y = np.asarray(logits)[alive], np.log10(np.asarray(values)[alive])
        ax.plot(x, y, **style.look(which, marker=None), label=name)
        ax.plot(x[-1], y[-1], **style.look(which, marker="X", markersize=10, linestyle="none"))
    ax.set(xlabel=r"halting logit $a$, the same at every step", ylabel=r"$\log_{10}$ of the survival")
    ax.legend(loc="lower left")
    return figure


@style.slide
def draw_fitted(
    losses: Mapping[str, style.Line],
    closed: Mapping[str, Sequence[style.Line]],
    fits: Mapping[str, Sequence[style.Line]],
) -> Figure:
    """Halting distributions by descent (marks) on closed forms (lines), and losses in grey.

    Losses are {title of a case: [N]}, closed forms and fits {label: [cases, N]}.
    """
    figure, axes = style.panels(len(losses), width=3.3, height=3.8, sharey=True)
    for i, (ax, (title, loss)) in enumerate(zip(axes, losses.items(), strict=True)):
        n = style.step_axis(ax, len(loss), title=title, yscale="log", ylim=(1e-4, 2))
        ax.step(n, loss, where="mid", color="#777777", linewidth=1.2, label=r"loss $\ell_n$ (nats)")
        for which, label in enumerate(closed):
            mark = style.look(which, markersize=5, linestyle="none", markerfacecolor="none" if which else None)
            ax.plot(n, closed[label][i], **style.look(which, marker=None, linewidth=1.2))
            ax.plot(n, fits[label][i], **mark, label=label)
    axes[0].set_ylabel("$p_n$, and loss (log scale)")
    return style.legend(figure, columns=3)


@style.slide
def draw_assignments(losses: dict[str, style.Line], names: Sequence[str]) -> Figure:
    """The reconstruction loss under several ways to halt [names], by reduction: grouped bars."""
    figure, (ax,) = style.panels(1, width=8.6, height=4.2)
    place = np.arange(len(names))
    looks = ((-0.19, style.SKY, ""), (0.19, style.ORANGE, "///"))
    for (label, values), (shift, face, hatch) in zip(losses.items(), looks, strict=False):
        bars = ax.bar(
            place + shift,
            values,
            0.36,
            color=face,
            hatch=hatch,
            label=label,
            edgecolor=style.BLACK,
            linewidth=0.8,
        )
        ax.bar_label(bars, fmt="%.2f", fontsize="small", padding=2)
    ax.set(
        xlabel="who halts where",
        ylabel="reconstruction loss (nats)",
        xticks=place,
        xticklabels=names,
    )
    ax.margins(y=0.15)
    ax.grid(axis="x", visible=False)
    ax.legend(loc="upper left")
    return figure


@style.slide
def draw_stopping(p: style.Line, answer: style.Line, rules: DataFrame) -> Figure:
    """p_n and the answer after each step [N]; for each rule, how many steps it computes and what it
    answers.

    The table has a row for each rule: steps, answer, and their standard deviations steps_sd,
    answer_sd.
    """
    figure, (left, right) = style.panels(2, width=4.8, height=3.5)
    n = style.step_axis(left, len(p), ylabel="probability", ylim=(0, 1.03))
    left.bar(n, p, color=style.SKY, label="$p_n$")
    left.plot(n, answer, **style.look(0, markersize=4), label="answer, P(odd)")
    left.legend()
    for which, (name, rule) in enumerate(rules.iterrows()):
        mark = style.look(which, markersize=8, linestyle="none", capsize=3, linewidth=1.2, label=name)
        right.errorbar(rule.steps, rule.answer, xerr=rule.steps_sd or None, yerr=rule.answer_sd or None, **mark)
    right.set(xlabel="steps computed", ylabel="answer, P(odd)", ylim=(0, 1.03), xlim=(0, len(p) + 0.5))
    right.legend(loc="lower left")
    return figure
