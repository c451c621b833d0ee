"""The figures of lesson 02."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from torch import Tensor, nn

from ponder_course.common import style, verdicts
from ponder_course.common.style import ANSWER, BLACK, DARK_ORANGE, HALTING, LIMIT, PRIOR, Line, panels, slide
from ponder_utils.halting import expected_steps, geometric_log_prior

# (losses [N, ...], logarithm of the prior [N, ...], beta) -> the best p [N, ...]: equation 5, as the lesson has it
BestHalting = Callable[[Tensor, Tensor, float], Tensor]
LogHalting = Callable[[Tensor], Tensor]  # halting logits [N, ...] -> log p_n [N, ...]
Runs = Mapping[str, Sequence[Line]]  # {reduction: [networks, inputs]}: expected steps
ABOVE: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": 13}
DOTTED: dict[str, Any] = {"color": "none", "edgecolor": PRIOR, "linestyle": ":", "linewidth": 1.8}  # bars of a prior


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


def what_still_pulls(gradients: Sequence[Mapping[str, float]]) -> str:
    """Return in a sentence what the reversed divergence does where the coin is smallest."""
    return f"At a dead step only the reversed divergence still pulls: {abs(gradients[-1][style.KL['p_G||p']]):.2f}"


@slide
def draw_pushes(coins: Line, gradients: Sequence[Mapping[str, float]], limit: float) -> Figure:
    """Draw the size of the gradient on a halting logit as its coin goes to 0, part by part: of `pushes`; a limit."""
    figure, (ax,) = panels(1, width=8.2, height=4.4)
    colours = (ANSWER, HALTING, style.PURPLE)
    for part, colour, marker, dashes in zip(gradients[0], colours, style.MARKERS, style.DASHES, strict=False):
        sizes = [abs(at[part]) for at in gradients]
        ax.plot(coins, sizes, dashes, color=colour, marker=marker, markersize=5, markevery=4)
        ax.text(coins[-1] / 1.7, sizes[-1], part, va="center")
    ax.plot([coins[0], coins[-1]], [limit, limit], color=PRIOR, linestyle=":")
    ax.text(coins[0], limit * 1.8, "$p_G(3)$", color=style.DARK_GREY, va="bottom")
    ax.set(xscale="log", yscale="log", xlim=(coins[0] * 1.4, coins[-1] / 90), ylim=(None, limit * 20))
    ax.set(xlabel=r"the coin of step 3, $\lambda_3$", ylabel=r"size of $\partial / \partial a_3$")
    ax.set_xticks([10.0**k for k in range(-1, math.floor(math.log10(coins[-1])) - 1, -2)])
    return figure


@slide
def draw_best_halting(
    best: BestHalting, losses: Tensor, settings: Sequence[tuple[float, float]]
) -> tuple[Figure, list[float]]:
    """Draw the losses of one input, [N], and beside them, for each (beta, lambda_p), the prior and the best p.

    The number is p_n where the loss is smallest; these are returned, too.
    """
    figure, (left, *axes) = panels(1 + len(settings), width=8.8 / (1 + len(settings)), height=3.5)
    n, solved, found = np.arange(1, len(losses) + 1), int(losses.argmin()), []
    bars = left.bar(n, losses.tolist(), 0.8, color=ANSWER)
    left.bar_label(bars, fmt="%.2g", padding=1, fontsize=14)
    left.margins(y=0.12)
    style.step_axis(left, len(losses), xticks=n, yticks=[])
    left.set_title("losses (nats)", fontsize=15)
    for ax, (beta, lambda_p) in zip(axes, settings, strict=True):
        log_g = geometric_log_prior(lambda_p, len(losses))
        p, p_G = best(losses, log_g, beta).tolist(), log_g.exp().tolist()
        style.step_axis(ax, len(losses), ylim=(0, 1.2), xticks=n, yticks=(0, 0.5, 1))
        ax.set_title(f"$\\beta = {beta:.2g}$", fontsize=15)
        ax.bar(n, p, 0.6, color=HALTING, label="best $p_n$")
        ax.bar(n, p_G, 0.9, label="prior", **DOTTED)
        ax.tick_params(labelleft=ax is axes[0])
        top = (solved + 1, max(p[solved], p_G[solved]))
        style.beside(ax, f"{p[solved]:.2f}", top, (0, 3), color=DARK_ORANGE, **ABOVE)
        found.append(p[solved])
    for ax in (left, *axes):
        ax.grid(axis="x", visible=False)
    axes[0].legend(loc="upper right", borderaxespad=0)
    return figure, found


@slide
def draw_on_a_log_axis(log_prior: Tensor, best: Mapping[str, Tensor]) -> Figure:
    """Draw the best p for one input, [N], a panel for each divergence, from 1e-30 on; and the prior."""
    figure, axes = panels(len(best), width=8.8 / len(best), height=3.5)
    for ax, (direction, p) in zip(axes, best.items(), strict=True):
        n = style.step_axis(ax, len(p), xticks=range(1, len(p) + 1), yscale="log", ylim=(1e-30, 1e2))
        ax.set_title(style.KL[direction], fontsize=15)
        heights = p.clamp(1e-30).tolist()
        ax.bar(n, heights, 0.8, color=HALTING)
        ax.plot(n, log_prior.exp(), ":", color=style.DARK_GREY, linewidth=2)
        ax.set_yticks([1e-30, 1e-20, 1e-10, 1])
        ax.grid(axis="x", visible=False)
        ax.tick_params(labelleft=ax is axes[0])
        for place, p_n in zip(n, heights, strict=True):
            text = f"{p_n:.3f}" if p_n >= 0.001 else f"{p_n:.0e}"
            up, colour = (-26, BLACK) if p_n > 1e-10 else (3, DARK_ORANGE)  # in the bar, below the line of the prior
            style.beside(ax, text, (place, p_n), (0, up), color=colour, **ABOVE)
    return figure


def sliders_of(losses: Tensor) -> dict[str, tuple[float, float, float, float]]:
    """Return the sliders of `best_at`, which begin at these losses."""
    sliders = {f"loss_{n}": (0.0, 2.0, 0.05, loss) for n, loss in enumerate(losses.tolist(), 1)}
    return sliders | {"log10_beta": (-2.0, 1.0, 0.1, -1.0), "lambda_p": (0.05, 0.95, 0.05, 0.4)}


def best_at(best: BestHalting, log10_beta: float, lambda_p: float, **losses: float) -> Figure:
    """Draw the optimal halting distribution where the sliders stand."""
    values = torch.tensor([*losses.values()], dtype=torch.float64)
    return draw_best_halting(best, values, [(10**log10_beta, lambda_p)])[0]


def best_by_beta(best: BestHalting, losses: Tensor, betas: Sequence[float], lambda_p: float) -> tuple[Figure, str]:
    """Draw the optimal halting distribution for some betas, and say what the step with the smallest loss gets."""
    figure, found = draw_best_halting(best, losses, [(beta, lambda_p) for beta in betas])
    grip = ", ".join(f"{p_n:.2f}" for p_n in found)
    return figure, f"The smaller β, the more the losses decide: step {int(losses.argmin()) + 1} gets {grip}"


def best_steps(best: BestHalting, losses: Tensor, log_prior: Tensor, beta: float) -> dict[str, Line]:
    """Return the optimal expected steps, [inputs]: with a loss for each input, and averaged first.

    losses: [N, inputs], log_prior: [N, 1].
    """
    given = {"none": losses, "mean": losses.mean(1, keepdim=True).expand_as(losses)}
    return {kind: expected_steps(best(each, log_prior, beta).log()).tolist() for kind, each in given.items()}


@torch.no_grad()
def steps_learnt(networks: Mapping[str, Sequence[nn.Module]], log_halting: LogHalting) -> Runs:
    """Return the expected steps of six inputs, from each network's halting logits."""
    return {
        kind: [expected_steps(log_halting(network(torch.eye(6))[1])).tolist() for network in group]
        for kind, group in networks.items()
    }


def what_was_learnt(runs: Runs, updates: int) -> tuple[str, str]:
    """Return in a sentence whether inputs that need more take more if weighted first, and how many more in numbers."""
    weighted, averaged = ([run[-1] - run[0] for run in runs[kind]] for kind in ("none", "mean"))
    sizes, of_averaged = (verdicts.span(np.abs(rises).tolist(), ".1f") for rises in (weighted, averaged))
    numbers = f"input 6 takes {sizes} steps more than input 1; averaged first {of_averaged}"
    if min(weighted) > 4 and max(map(abs, averaged)) < 0.5:
        alike = f"averaged first, all take {np.mean(runs['mean']):.0f}"
        return f"Weighted first, inputs that need more steps take more;\n{alike}", numbers
    return f"After {updates} updates input 6 takes {sizes} steps more than input 1", numbers


@slide
def draw_learnt(needs: Line, theory: Mapping[str, Line], runs: Runs) -> Figure:
    """Draw the expected steps of inputs: lines of theory, {reduction: [inputs]}, and marks of networks."""
    figure, (ax,) = panels(1, width=8.4, height=4.6)
    for kind, colour, marker, dashes in (("none", HALTING, "o", "-"), ("mean", style.WRONG, "s", "--")):
        ax.plot(needs, theory[kind], color=colour, linestyle=dashes)
        for run in runs[kind]:
            ax.plot(needs, run, marker, color=colour, markersize=8, markerfacecolor="none")
    ax.plot(needs, needs, color=LIMIT, linewidth=1.2)
    ax.text(needs[-1] + 0.15, needs[-1], "needed", color=LIMIT, va="center")
    ax.text(needs[2], theory["none"][2] + 0.3, "weighted first ", color=DARK_ORANGE, ha="right", va="bottom")
    ax.text(needs[0], theory["mean"][0] + 0.2, "averaged first", color=style.WRONG, va="bottom")
    top = max(max(line) for line in theory.values())
    ax.set(xlabel="steps that the input needs", ylabel="expected steps", xticks=list(needs))
    ax.set(ylim=(0, 1.18 * top), xlim=(needs[0] - 0.2, needs[-1] + 1.6))
    return figure


@slide
def draw_noise(rows: Sequence[Line]) -> Figure:
    """Draw rows of (update, gradient squared, variance of a sample, of one with a baseline)."""
    figure, (ax,) = panels(1, width=8.4, height=4.4)
    update, squared, sampled, centred = np.transpose(rows)
    for line, name, colour, dashes, dark in (
        (squared, "the gradient, squared", HALTING, "-", DARK_ORANGE),
        (sampled, "variance,\none sampled step", style.PURPLE, "--", "#A8447F"),
        (centred, "variance,\nwith a baseline", style.GREEN, "-.", "#00704F"),
    ):
        ax.plot(update, line, color=colour, linestyle=dashes, linewidth=2.2)
        ax.text(update[-1] * 1.02, line[-1], name, color=dark, va="center")
    ax.set(yscale="log", xlabel="update", ylabel="gradient² and variance, all logits")
    ax.set(xlim=(0, update[-1] * 1.42), xticks=np.linspace(0, update[-1], 4))
    return figure


def how_noisy(rows: Sequence[Line]) -> str:
    """Return in a sentence the variance of one sampled step by the gradient squared, in the first and the last row."""
    first, last = (row[2] / row[1] for row in (rows[0], rows[-1]))
    at_first = f"One sampled step: its variance is {first:.0f} times\nthe gradient squared at first"
    return f"{at_first}, {float(f'{last:.1g}'):,.0f} times at the end"


@slide
def draw_kl_bars(prior: Line, cases: Mapping[str, Line]) -> Figure:
    """Draw a panel for each {name: p [N]}, beside the prior; over each bar what it adds to the KL."""
    figure, axes = panels(len(cases), width=4.4, height=3.6, sharey=True)
    p_G = np.array(prior, float)
    for ax, (name, values) in zip(axes, cases.items(), strict=True):
        p = np.array(values, float)
        parts = p * np.log2(np.where(p > 0, p, 1) / p_G)
        n = style.step_axis(ax, len(p), title=f"{name}: {parts.sum():.2f} bits", ylim=(0, 1.15))
        ax.set_xticks(n)
        ax.bar(n - 0.22, p_G, 0.34, **DOTTED)
        ax.bar(n + 0.22, p, 0.38, color=HALTING)
        for place, p_n, part in zip(n, p, parts, strict=True):
            number = f"{part:+.2f}" if p_n else "0"
            ax.text(place + 0.22, p_n + 0.02, number, color=DARK_ORANGE, ha="center", va="bottom")
        ax.grid(axis="x", visible=False)
    axes[0].text(0.78, p_G[0] + 0.02, "$p_G$", color=style.DARK_GREY, ha="center", va="bottom")
    axes[0].set_ylabel("probability")
    return figure


def prior_mean(coin: float, N: int, repair: str) -> float:
    """Return the mean step of a geometric prior that is cut off at N and repaired so."""
    return expected_steps(geometric_log_prior(coin, N, repair)).item()


@slide
def draw_prior_means(N: int) -> Figure:
    """Draw the mean steps of a prior cut off at N, with either repair, beside 1 / lambda_p."""
    figure, (ax,) = panels(1, width=8.2, height=4.2)
    coins = np.geomspace(0.02, 1, 60)
    ax.plot(coins, 1 / coins, color=LIMIT, linewidth=1.2)
    ax.plot([coins[0], coins[-1]], [N, N], color=LIMIT, linewidth=0.8)
    for repair, dashes, up in (("renormalise", ":", -1.6), ("remainder", "--", 1.3)):
        means = [prior_mean(coin, N, repair) for coin in coins.tolist()]
        ax.plot(coins, means, color=PRIOR, linestyle=dashes, linewidth=2.6)
        ax.text(coins[0] * 1.03, means[0] + up, repair, color=style.DARK_GREY, va="center")
    ax.text(0.9 / N, N * 1.2, "$1 / \\lambda_p$, before the cut", color=LIMIT)
    ax.text(coins[-1], N * 1.03, "cap $N$", color=LIMIT, ha="right", va="bottom")
    ax.set(xscale="log", xlabel=r"$\lambda_p$", ylabel="mean steps", ylim=(0, 1.35 * N))
    ax.set_xticks([0.02, 0.05, 0.1, 0.2, 0.5, 1], ["0.02", "0.05", "0.1", "0.2", "0.5", "1"])
    ax.xaxis.set_minor_locator(NullLocator())
    return figure


@slide
def draw_bounds(sharpness: Line, pairs: Mapping[str, Sequence[tuple[str, Line]]]) -> Figure:
    """Draw a panel for each {title: [(name, upper line), (name, lower line)]}, at each 1 / beta."""
    figure, axes = panels(len(pairs), width=4.6, height=3.8)
    colours = ((style.PURPLE, LIMIT), (ANSWER, HALTING))
    for ax, (title, pair), (above, below) in zip(axes, pairs.items(), colours, strict=False):
        (upper_name, upper), (lower_name, lower) = pair
        ax.fill_between(sharpness, lower, upper, color="#E6E6E6", linewidth=0)
        ax.plot(sharpness, upper, color=above, label=upper_name)
        ax.plot(sharpness, lower, "--", color=below, label=lower_name)
        ax.set(xscale="log", title=title, xlabel=r"$1 / \beta$", ylim=(0, 1.45 * float(max(upper))))
        ax.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
        ax.legend(loc="upper left")
    axes[0].set_ylabel("nats")
    return figure
