"""The figures of lesson 02."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from ponder_course.act_background.scripted import halt
from ponder_course.common import style
from ponder_course.common.machines import ARROW
from ponder_course.common.style import ANSWER, BLACK, DARK_GREEN, LIMIT, PRIOR, Line, panels, slide
from ponder_course.pondernet_theory.lesson import best, kl, log_halting
from ponder_utils.halting import expected_steps, geometric_log_prior, halting_log_probs
from ponder_utils.pondernet import PonderNet

Point = tuple[float, float]
Runs = Mapping[str, Sequence[Line]]  # {reduction: [networks, inputs]}: expected steps
DOTTED: dict[str, Any] = {"color": "none", "edgecolor": PRIOR, "linestyle": ":", "linewidth": 1.8}  # bars of a prior


def steps_as_the_first_grows(lambda_2: float, epsilon: float) -> tuple[np.ndarray, ...]:
    """Return lambda_1, the steps of ACT, and the expected steps of PonderNet, [1101] each, at most three steps."""
    first = torch.linspace(-4, 7, 1101, dtype=torch.float64).sigmoid()
    steps = [len(halt([lambda_1, lambda_2, 1.0], epsilon)) for lambda_1 in first.tolist()]
    lambdas = torch.stack([first, torch.full_like(first, lambda_2), torch.full_like(first, 0.5)])  # the last: not read
    return first.numpy(), np.array(steps, float), expected_steps(halting_log_probs(lambdas.logit())).numpy()


Side = tuple[Line, Line, tuple[float, float]]  # weights [steps], steps [points], (lambda_1, steps) of the example


@slide
def side_by_side(first: Line, act: Side, pondernet: Side) -> Figure:
    """The same halting values in ACT and in PonderNet: what is averaged above, the steps as the first grows below."""
    figure, axes = panels(4, width=4.7, height=2.9, rows=2, sharey="row")
    sides = (
        ("ACT", averaged_states, "steps", style.ACT, style.DARK_PURPLE),
        ("PonderNet", coins, "expected steps", style.PONDERNET, DARK_GREEN),
    )
    for above, below, side, look in zip(axes[:2], axes[2:], (act, pondernet), sides, strict=True):
        (weights, steps, point), (name, machine, label, colour, dark) = side, look
        style.bare(above)
        above.set(xlim=(-0.5, len(weights) - 0.4), ylim=(-0.05, 2.75))
        above.set_title(name, fontsize=18, color=dark, fontweight="bold")
        machine(above, [f"{Fraction(weight).limit_denominator(100)}" for weight in weights], dark)
        below.plot(first, steps, color=colour, linewidth=2.8)
        below.plot(*point, "o", color=BLACK, markersize=8)
        style.logit_axis(below, (first[0], first[-1]), (0.05, 0.5, 0.9, 0.99), r"$\lambda_1$")
        below.set(ylim=(0.8, 3.3), yticks=(1, 2, 3))
        below.text(0.03, 1.1, label, color=dark)
    trapped = np.asarray(first)[np.asarray(act[1]) == 1]  # ACT takes one step there
    axes[2].axvspan(trapped[0], first[-1], color="#E6E6E6", linewidth=0, zorder=0)
    return figure


def _box(ax: Axes, x: float, y: float, words: str, colour: str) -> None:
    frame = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": colour}
    ax.text(x, y, words, ha="center", va="center", bbox=frame, fontsize=13)


def _arrow(ax: Axes, start: Point, end: Point, words: str, colour: str, lift: float = 0.0) -> None:
    ax.annotate("", end, start, arrowprops={**ARROW, "color": colour, "linewidth": 1.6})
    x, y = np.mean([start, end], axis=0)
    white = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    ax.text(x, y + lift, words, color=colour, ha="center", va="center", bbox=white, fontsize=13)


def averaged_states(ax: Axes, weights: Sequence[str], colour: str) -> None:
    """ACT: all states go into one average, with these weights, and it gives one answer and one loss."""
    middle = (len(weights) - 1) / 2
    for n, weight in enumerate(weights):
        _arrow(ax, (n, 1.9), (middle + 0.25 * (n - middle), 1.22), weight, colour)
        _box(ax, n, 2.1, f"state {n + 1}", colour)
    _arrow(ax, (middle, 0.85), (middle, 0.38), "", colour)
    _box(ax, middle, 1.02, "average of the states", colour)
    _box(ax, middle, 0.18, "one answer, one loss", colour)


def coins(ax: Axes, p: Sequence[str], colour: str) -> None:
    """PonderNet: after each step a coin decides, to stop or to go on; each step has an answer and a loss of its own."""
    left = Fraction(1)
    for n, p_n in enumerate(map(Fraction, p)):
        stop = p_n / left
        _arrow(ax, (n, 1.9), (n, 1.22), f"stop {stop}", colour)
        if n + 1 < len(p):
            _arrow(ax, (n + 0.26, 2.1), (n + 0.74, 2.1), f"go on\n{1 - stop}", colour, lift=0.32)
        _box(ax, n, 2.1, f"step {n + 1}", colour)
        _box(ax, n, 0.9, f"answer {n + 1},\nloss {n + 1}", colour)
        ax.text(n, 0.3, f"$p_{n + 1}$ = {p_n}", ha="center", va="center", fontsize=14)
        left -= p_n


@slide
def draw_descents(act: Line, pondernet: Line, without_prior: Line) -> Figure:
    """Draw lambda_1 after each update, [updates] each; grey: in this trap ACT takes one step."""
    figure, (ax,) = panels(1, width=7.6, height=4.9)
    end, updates = len(act), range(1, len(act) + 1)
    ax.axhspan(0.99, 0.99993, color="#E6E6E6", linewidth=0)
    style.beside(ax, "the trap", (end / 10, 0.999), (0, 7), color=style.DARK_GREY, fontsize=17)
    ax.plot(updates, without_prior, "--", color=style.PONDERNET, linewidth=2)
    style.beside(ax, "without its prior", (end / 3, 0.001), (0, 7), color=DARK_GREEN, fontsize=17)
    labels = (
        ("ACT", "no gradient: it never moves", act, style.ACT, style.DARK_PURPLE),
        ("PonderNet", "a weight of 0.001 is not 0", pondernet, style.PONDERNET, DARK_GREEN),
    )
    for name, reason, path, colour, dark in labels:
        ax.plot(updates, path, color=colour, linewidth=5)
        style.beside(ax, name, (end, path[-1]), (0, 7), color=dark, ha="right", fontsize=22, weight="bold")
        style.beside(ax, reason, (end, path[-1]), (0, -6), color=dark, ha="right", va="top", fontsize=17)
    style.logit_axis(ax, (0.0004, 0.99993), (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999), "", along="y")
    ax.set_xticks([0, end // 2, end])
    ax.tick_params(labelsize=16)
    ax.set_xlabel("updates", fontsize=17)
    ax.set_ylabel(r"$\lambda_1$: how far it wants to stop at step 1", fontsize=17)
    return figure


def pushes(lambda_3: float, losses: Tensor, log_prior: Tensor, beta: float = 1.0) -> dict[str, float]:
    """Return the gradients on the third halting logit, {part of the loss: gradient}, where it says lambda_3.

    The other halting probabilities are 0.2; beta multiplies the divergences. losses, log_prior: [N].
    """
    lambdas = torch.full_like(losses, 0.2)
    lambdas[2] = lambda_3
    leaf = lambdas.logit().requires_grad_()
    log_p = log_halting(leaf)
    parts = {"losses": (log_p.exp() * losses).sum()}
    parts |= {style.KL["p||p_G"]: beta * kl(log_p, log_prior), style.KL["p_G||p"]: beta * kl(log_prior, log_p)}
    slopes = [torch.autograd.grad(part, leaf, retain_graph=True)[0] for part in parts.values()]
    return {name: slope[2].item() for name, slope in zip(parts, slopes, strict=True)}


@slide
def draw_best_halting(inputs: Mapping[str, Tensor], beta: float, lambda_p: float) -> Figure:
    """Draw in a row for each input, {name: losses [N]}, its losses, and beside them the prior and the best p."""
    figure, axes = panels(2 * len(inputs), width=4.6, height=2.4, rows=len(inputs), sharex=True)
    for (name, losses), left, right in zip(inputs.items(), axes[::2], axes[1::2], strict=True):
        log_g = geometric_log_prior(lambda_p, len(losses))
        last = "step $n$" if right is axes[-1] else ""
        n = style.step_axis(left, len(losses), xlabel=last, yticks=[], ylabel="loss (nats)")
        style.step_axis(right, len(losses), xlabel=last, ylim=(0, 1), yticks=(0, 0.5, 1))
        left.bar_label(left.bar(n, losses.tolist(), 0.7, color=ANSWER), fmt="%.2g", padding=1, fontsize=14.5)
        left.set(ylim=(0, 1.25 * max(losses.max().item(), 0.6)))
        p = best(losses, log_g, beta)
        bars = right.bar(n, p.tolist(), 0.6, color=style.GREEN, label="best $p_n$")
        labels = [f"{bar.get_height():.2f}" if bar.get_height() >= 0.005 else "" for bar in bars]
        right.bar_label(bars, labels, padding=3, fontsize=14.5, color=DARK_GREEN)
        right.bar(n, log_g.exp().tolist(), 0.85, label="prior", **DOTTED)
        left.set_title(name, fontsize=17)
        right.set_title(f"{expected_steps(p.log()).item():.1f} steps on average", fontsize=17)
        for ax in (left, right):
            ax.set_xticks(n)
            ax.grid(axis="x", visible=False)
    axes[1].legend(loc="upper right", borderaxespad=0)
    return figure


def sliders_of(losses: Tensor) -> dict[str, tuple[float, float, float, float]]:
    """Return the sliders of `best_at`, which begin at these losses."""
    sliders = {f"loss_{n}": (0.0, 2.0, 0.05, loss) for n, loss in enumerate(losses.tolist(), 1)}
    return sliders | {"log10_beta": (-2.0, 1.0, 0.1, -1.0), "lambda_p": (0.05, 0.95, 0.05, 0.4)}


def best_at(log10_beta: float, lambda_p: float, **losses: float) -> Figure:
    """Draw the optimal halting distribution where the sliders stand."""
    values = torch.tensor([*losses.values()], dtype=torch.float64)
    return draw_best_halting({"your losses": values}, 10**log10_beta, lambda_p)


def best_steps(losses: Tensor, log_prior: Tensor, beta: float) -> dict[str, Line]:
    """Return the optimal expected steps, [inputs]: with a loss for each input, and averaged first.

    losses: [N, inputs], log_prior: [N, 1].
    """
    given = {"none": losses, "mean": losses.mean(1, keepdim=True).expand_as(losses)}
    return {kind: expected_steps(best(each, log_prior, beta).log()).tolist() for kind, each in given.items()}


@torch.no_grad()
def steps_learnt(networks: Mapping[str, Sequence[PonderNet]]) -> Runs:
    """Return the expected steps of six inputs, from each network's halting logits."""
    six_inputs, found = torch.eye(6), {}
    for kind, group in networks.items():
        logits = [network(six_inputs).halt_logits for network in group]
        found[kind] = [expected_steps(log_halting(a)).tolist() for a in logits]
    return found


@slide
def draw_learnt(needs: Line, theory: Mapping[str, Line], runs: Runs) -> Figure:
    """Draw the expected steps of inputs: lines of theory, {reduction: [inputs]}, and marks of networks."""
    figure, (ax,) = panels(1, width=8.4, height=4.6)
    for kind, colour, marker, dashes in (("none", style.PONDERNET, "o", "-"), ("mean", style.DARK_GREY, "s", "--")):
        ax.plot(needs, theory[kind], color=colour, linestyle=dashes)
        for run in runs[kind]:
            ax.plot(needs, run, marker, color=colour, markersize=8, markerfacecolor="none")
    ax.plot(needs, needs, color=LIMIT, linewidth=1.2)
    ax.text(needs[-1] + 0.15, needs[-1], "needed", color=LIMIT, va="center")
    ax.text(needs[2], theory["none"][2] + 0.3, "weighted first ", color=DARK_GREEN, ha="right", va="bottom")
    ax.text(needs[0], theory["mean"][0] + 0.2, "averaged first", color=style.DARK_GREY, va="bottom")
    top = max(max(line) for line in theory.values())
    ax.set(xlabel="steps that the input needs", ylabel="expected steps", xticks=list(needs))
    ax.set(ylim=(0, 1.18 * top), xlim=(needs[0] - 0.2, needs[-1] + 0.75))
    return figure
