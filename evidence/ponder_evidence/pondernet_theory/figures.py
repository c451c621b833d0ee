"""Figures of the evidence of lesson 02."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from pandas import DataFrame

from ponder_course.common import style
from ponder_course.common.style import BLACK, Line, look, panels, slide


@slide
def draw_underflow(logits: Line, survival: Mapping[str, Line], log_space: Line) -> Figure:
    """Draw log10 of a product of survival probabilities against the logit, and in log space."""
    figure, (ax,) = panels(1, width=8.2, height=4.2)
    ax.plot(logits, log_space, color=BLACK, linestyle=":", label="sum of logarithms, float32")
    for which, (name, values) in enumerate(survival.items()):
        alive = np.array(values) > 0
        x, y = np.array(logits)[alive], np.log10(np.array(values)[alive])
        ax.plot(x, y, **look(which, marker=None), label=name)
        ax.plot(x[-1], y[-1], **look(which, marker="X", markersize=10, linestyle="none"))
    ax.set(xlabel=r"halting logit $a$, the same at every step", ylabel=r"$\log_{10}$ of the survival")
    ax.legend(loc="lower left")
    return figure


@slide
def draw_fitted(
    losses: Mapping[str, Line], closed: Mapping[str, Sequence[Line]], fits: Mapping[str, Sequence[Line]]
) -> Figure:
    """Draw halting distributions by descent (marks) on closed forms (lines), and losses in grey.

    Losses are {title of a case: [N]}, closed forms and fits {label: [cases, N]}.
    """
    figure, axes = panels(len(losses), width=3.3, height=3.8, sharey=True)
    for i, (ax, (title, loss)) in enumerate(zip(axes, losses.items(), strict=True)):
        n = style.step_axis(ax, len(loss), title=title, yscale="log", ylim=(1e-4, 2))
        ax.step(n, loss, where="mid", color="#777777", linewidth=1.2, label=r"loss $\ell_n$ (nats)")
        for which, label in enumerate(closed):
            mark = look(which, markersize=5, linestyle="none", markerfacecolor="none" if which else None)
            ax.plot(n, closed[label][i], **look(which, marker=None, linewidth=1.2))
            ax.plot(n, fits[label][i], **mark, label=label)
    axes[0].set_ylabel("$p_n$, and loss (log scale)")
    return style.legend(figure, columns=3)


@slide
def draw_assignments(losses: Mapping[str, Line], names: Sequence[str]) -> Figure:
    """Draw the reconstruction loss under several ways to halt, {reduction: [names]}, as grouped bars."""
    figure, (ax,) = panels(1, width=8.6, height=4.2)
    place = np.arange(len(names))
    looks = ((-0.19, style.SKY, ""), (0.19, style.ORANGE, "///"))
    for (label, values), (shift, face, hatch) in zip(losses.items(), looks, strict=True):
        edge: dict[str, Any] = {"edgecolor": BLACK, "linewidth": 0.8, "hatch": hatch}
        bars = ax.bar(place + shift, values, 0.36, color=face, label=label, **edge)
        ax.bar_label(bars, fmt="%.2f", fontsize="small", padding=2)
    ax.set(xlabel="who halts where", ylabel="reconstruction loss (nats)")
    ax.set_xticks(place, names)
    ax.margins(y=0.15)
    ax.grid(axis="x", visible=False)
    ax.legend(loc="upper left")
    return figure


@slide
def draw_stopping(p: Line, answer: Line, rules: DataFrame) -> Figure:
    """Draw p_n and the answer after each step, [N]; for each rule, how many steps it computes and what it answers.

    The table has a row for each rule: steps, answer, and their standard deviations steps_sd, answer_sd.
    """
    figure, (left, right) = panels(2, width=4.8, height=3.5)
    n = style.step_axis(left, len(p), ylabel="probability", ylim=(0, 1.03))
    left.bar(n, p, color=style.SKY, label="$p_n$")
    left.plot(n, answer, **look(0, markersize=4), label="answer, P(odd)")
    left.legend()
    for which, (name, rule) in enumerate(rules.iterrows()):
        mark = look(which, markersize=8, linestyle="none", capsize=3, linewidth=1.2, label=name)
        right.errorbar(rule.steps, rule.answer, xerr=rule.steps_sd or None, yerr=rule.answer_sd or None, **mark)
    right.set(xlabel="steps computed", ylabel="answer, P(odd)", ylim=(0, 1.03), xlim=(0, len(p) + 0.5))
    right.legend(loc="lower left")
    return figure
