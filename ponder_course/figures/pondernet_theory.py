"""Figures of the theory: the halting distribution, its prior, the two divergences, and what rounding does to them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from ponder_course.figures.style import BLACK, BLUE, ORANGE, PURPLE, SKY, Line, legend, look, panels, slide, step_axis

GREY = "#BBBBBB"
DARK = "#8A5F00"  # orange, for writing
KL = {"p||p_G": r"$\mathrm{KL}(p\,\|\,p_G)$", "p_G||p": r"$\mathrm{KL}(p_G\,\|\,p)$"}  # as it is written on a figure


@slide
def best_halting(losses: Line, columns: Sequence[tuple[str, Line, Line]]) -> Figure:
    """Losses of one input [N] in the upper row; below, a column for each (title, prior [N], best p [N])."""
    count = len(columns)
    figure, axes = panels(2 * count, width=3.5 if count > 1 else 5.4, height=2.4, rows=2, sharex=True, sharey="row")
    for above, below, (title, prior, best) in zip(axes[:count], axes[count:], columns, strict=True):
        losses, prior, best = ([float(value) for value in values] for values in (losses, prior, best))
        n = step_axis(above, len(losses), title=title, xlabel=" ")
        bars = above.bar(n, losses, 0.7, color=BLUE, label=r"loss $\ell_n$")
        above.bar_label(bars, fmt="%.2f", padding=1, fontsize=11)
        above.margins(y=0.2)
        step_axis(below, len(losses), ylim=(0, 1.42), xticks=n, yticks=(0, 0.5, 1))
        below.bar(n, prior, 0.9, color="#DDDDDD", edgecolor="#999999", label="prior $p_G(n)$")
        below.bar(n, best, 0.5, color=ORANGE, label="best $p_n$")
        for place, p_n, behind in zip(n, best, prior, strict=True):
            text = f"{p_n:.3f}" if p_n >= 0.001 else "< .001"
            below.text(place, max(p_n, behind) + 0.03, text, ha="center", color=DARK, fontsize=11)
        for p, colour in ((prior, "#777777"), (best, ORANGE)):
            below.plot(np.dot(n, p), 1.34, "v", color=colour, markersize=9)
        for ax in (above, below):
            ax.grid(axis="x", visible=False)
    axes[0].set_ylabel("nats")
    axes[count].set_ylabel("probability")
    return legend(figure, columns=3)


@slide
def pushes(coins: Line, parts: Mapping[str, Line], limit: float) -> Figure:
    """Size of the gradient on one halting logit as its coin goes to 0, {part of the loss: [coins]}, and its limit."""
    figure, (ax,) = panels(1, width=7.4, height=4.2)
    for which, (label, sizes) in enumerate(parts.items()):
        ax.plot(coins, sizes, **look(which, markersize=5, markevery=4), label=label)
    ax.axhline(limit, color=BLACK, linestyle=":", label="$p_G(3)$")
    ax.set(xscale="log", yscale="log", xlabel=r"the coin of step 3, $\lambda_3$")
    ax.set_ylabel(r"size of $\partial / \partial a_3$")
    ax.invert_xaxis()
    ax.legend()
    return figure


@slide
def learnt(needs: Line, theory: Mapping[str, Line], runs: Mapping[str, Sequence[Line]]) -> Figure:
    """Expected steps of inputs that need so many: theory {kind: [inputs]} and trained {kind: [runs, inputs]}."""
    figure, (ax,) = panels(1, width=7, height=4.2)
    names = {"none": "averaged last", "mean": "averaged first"}
    for which, (kind, steps) in enumerate(theory.items()):
        ax.plot(needs, steps, **look(which, marker=None), label=f"{names.get(kind, kind)}: equation 6")
        style = look(which, linestyle="none", markersize=8, markerfacecolor="none")
        for i, run in enumerate(runs[kind]):
            ax.plot(needs, run, **style, label=f"{names.get(kind, kind)}: a network" if i == 0 else None)
    ax.plot(needs, needs, color="#777777", linewidth=1, label="needed")
    ax.set(xlabel="steps that the input needs", ylabel="expected steps", xticks=list(needs), ylim=(0, None))
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


@slide
def bound_path(sharpness: Line, curves: Mapping[str, Line], exact: float) -> Figure:
    """Values {label: [points]} along a path of p from the prior on, at 1 / beta; the first is a bound on `exact`."""
    figure, (ax,) = panels(1, width=7.4, height=4.6)
    sharpness, *lines = ([float(value) for value in line] for line in (sharpness, *curves.values()))
    bound = lines[0]
    inset = ax.inset_axes((0.12, 0.48, 0.38, 0.42))
    for part in (ax, inset):
        for label, line, colour, dashes in zip(curves, lines, (BLACK, BLUE, ORANGE), ("-", "--", "-."), strict=False):
            part.plot(sharpness, line, color=colour, linestyle=dashes, label=label)
        part.axhline(exact, color=BLACK, linestyle=":", label="exact, averaged with the prior")
        part.fill_between(sharpness, exact, bound, color=GREY, linewidth=0, label="gap")
        part.plot(1, exact, "o", color=BLACK, markersize=8, label="they touch")
    ax.set_xscale("symlog", linthresh=1)
    ax.set(xlabel=r"$1 / \beta$", ylabel="nats", xlim=(0, sharpness[-1]))
    ax.set_xticks([0, 0.5, 1, 10, 100], ["0: prior", "", "1: posterior", "10", "100"])
    inset.set(title=r"enlarged, around $1 / \beta = 1$", xlim=(0, 2), xticks=(0, 1, 2))
    inset.set_ylim(exact - 0.02, bound[0] + 0.01)
    return legend(figure, columns=3)


@slide
def priors(settings: dict[str, dict[str, Line]]) -> Figure:
    """Truncated priors: a panel for each setting, {title: {"renormalise": [N], "remainder": [N], "geometric": [N]}}.

    A triangle for the mean of each repair, with its number.
    """
    figure, axes = panels(len(settings), width=3.6 if len(settings) > 1 else 7, height=3.1, sharey=True)
    looks: dict[str, dict[str, Any]] = {
        "renormalise": {"color": BLACK, "marker": "o", "markersize": 3.5, "label": "renormalised"},
        "remainder": {"color": PURPLE, "marker": "s", "markersize": 5, "markerfacecolor": "none", "linestyle": "--",
                      "label": "remainder on the last step"},
    }  # fmt: skip
    for ax, (title, forms) in zip(axes, settings.items(), strict=True):
        n = step_axis(ax, len(forms["geometric"]), title=title)
        ax.bar(n, forms["geometric"], color=GREY, label="geometric, cut off")
        for height, (name, style) in zip((0.94, 0.82), looks.items(), strict=True):
            ax.plot(n, forms[name], linewidth=1, **style)
            mean, place = float(np.dot(n, forms[name])), ax.get_xaxis_transform()
            ax.plot(mean, height, **style | {"marker": "v", "markersize": 9, "label": None}, transform=place)
            side, text = ("left", f"   {mean:.1f}") if mean < 0.7 * n[-1] else ("right", f"{mean:.1f}   ")
            ax.text(mean, height, text, transform=place, ha=side, va="center")
    axes[0].set_ylabel("$p_G(n)$")
    return legend(figure, columns=3)


@slide
def fitted(
    losses: Mapping[str, Line], closed: Mapping[str, Sequence[Line]], fits: Mapping[str, Sequence[Line]]
) -> Figure:
    """Halting distributions by gradient descent (marks) on their closed forms (lines), and losses in grey.

    Losses are {title of a case: [N]}, closed forms and fits {label: [cases, N]}.
    """
    figure, axes = panels(len(losses), width=3.5, height=3.5, sharey=True)
    for i, (ax, (title, loss)) in enumerate(zip(axes, losses.items(), strict=True)):
        n = step_axis(ax, len(loss), title=title, yscale="log", ylim=(1e-4, 2))
        ax.step(n, loss, where="mid", color="#777777", linewidth=1.2, label=r"loss $\ell_n$ (nats)")
        for which, label in enumerate(closed):
            mark = look(which, markersize=5, linestyle="none", markerfacecolor="none" if which else None)
            ax.plot(n, closed[label][i], **look(which, marker=None, linewidth=1.2))
            ax.plot(n, fits[label][i], **mark, label=label)
    axes[0].set_ylabel("$p_n$, and loss (log scale)")
    return legend(figure, columns=3)


@slide
def underflow(logits: Line, survival: dict[str, Line], log_space: Line) -> Figure:
    """log10 of a product of survival probabilities against the logit: {label: [points]}, and in log space."""
    figure, (ax,) = panels(1, width=7, height=3.6)
    ax.plot(logits, log_space, color=BLACK, linestyle=":", label="sum of logarithms, float32")
    for which, (name, values) in enumerate(survival.items()):
        alive = np.asarray(values) > 0
        x, y = np.asarray(logits)[alive], np.log10(np.asarray(values)[alive])
        ax.plot(x, y, **look(which, marker=None), label=name)
        ax.plot(x[-1], y[-1], **look(which, marker="X", markersize=10, linestyle="none"))
    ax.set(xlabel=r"halting logit $a$, the same at every step", ylabel=r"$\log_{10}$ of the survival")
    ax.legend(loc="lower left")
    return figure


@slide
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


@slide
def stopping(p: Line, answer: Line, rules: DataFrame) -> Figure:
    """p_n and the answer after each step [N]; for each rule, how many steps it computes and what it answers.

    The table has a row for each rule: steps, answer, and their standard deviations steps_sd, answer_sd.
    """
    figure, (left, right) = panels(2, width=4.8, height=3.5)
    n = step_axis(left, len(p), ylabel="probability", ylim=(0, 1.03))
    left.bar(n, p, color=SKY, label="$p_n$")
    left.plot(n, answer, **look(0, markersize=4), label="answer, P(odd)")
    left.legend()
    for which, (name, rule) in enumerate(rules.iterrows()):
        mark = look(which, markersize=8, linestyle="none", capsize=3, linewidth=1.2, label=name)
        right.errorbar(rule.steps, rule.answer, xerr=rule.steps_sd or None, yerr=rule.answer_sd or None, **mark)
    right.set(xlabel="steps computed", ylabel="answer, P(odd)", ylim=(0, 1.03), xlim=(0, len(p) + 0.5))
    right.legend(loc="lower left")
    return figure
