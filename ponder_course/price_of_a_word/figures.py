"""Figures of prices: the words that are written beside those that are needed, and who answers at which price."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ponder_course.common import style
from ponder_course.common.machines import ARROW
from ponder_course.common.store import Row
from ponder_course.common.style import bare, beside, curves, panels, percent_axis, slide

ByDepth = Mapping[int, float]  # a number for each depth
ByPrice = Mapping[float, Sequence[float]]  # a number for each network, by price


@slide
def answers(chain: Sequence[str], tau: float) -> Figure:
    """Draw a chain from the asked node to its root, and two answers: each name once, and twice; a word costs tau."""
    figure, (ax,) = panels(1, width=7.6, height=4.2)
    bare(ax)
    ax.set(xlim=(-0.6, 7.4), ylim=(-4.1, 1))
    middle: dict[str, Any] = {"ha": "center", "va": "center_baseline", "fontsize": 18}
    for x, node in enumerate(chain):
        ax.scatter(1.6 * x, 0, s=900, color=style.HEARD, edgecolor=style.GREY)
        ax.text(1.6 * x, 0, node, **middle)
        if x:
            ax.annotate("", (1.6 * x - 0.3, 0), (1.6 * x - 1.3, 0), arrowprops={**ARROW, "color": style.BLACK})
    ax.text(0, 0.6, "asked", **middle)
    ax.text(1.6 * (len(chain) - 1), 0.6, "root", **middle)
    for y, times in ((-1.4, 1), (-3.0, 2)):
        words = np.repeat(chain[1:], times)
        for x, word in enumerate(words):
            ax.scatter(x, y, marker="s", s=900, color=style.HALTING)
            ax.text(x, y, word, **middle)
            ax.text(x, y - 0.7, f"\N{MINUS SIGN}{tau}", color=style.DARK_ORANGE, **middle)
        price = tau * len(words)
        ax.text(len(words) + 0.1, y, "STOP", **middle)
        ax.text(6.2, y, f"right: 1 \N{MINUS SIGN} {price:.1f} = {1 - price:.1f}", **middle)
    return figure


@slide
def words_and_need(stages: Mapping[str, Sequence[ByDepth]]) -> Figure:
    """Draw the words that are written against those that are needed, a panel for each stage, a line for each network.

    stages: {title: [words by depth]}; black: one word for each arrow.
    """
    figure, axes = panels(len(stages), width=9.8 / len(stages), height=3.9, sharey=True)
    for ax, (title, networks) in zip(axes, stages.items(), strict=True):
        needed = [*networks[0]]
        ax.plot(needed, needed, color=style.LIMIT, linewidth=2.6)
        curves(ax, networks, color=style.HALTING, linewidth=1.6)
        ax.set(title=title, xlabel="words that are needed")
    axes[0].set(ylabel="words that are written")
    return figure


@slide
def right_by_price(trees: Mapping[str, tuple[Mapping[str, ByPrice], float]]) -> Figure:
    """Draw the fraction of right answers at each price, a panel for each kind of trees, a mark for each network.

    trees: {title: ({label: {price: [fractions]}}, tau*)}; a black line stands at tau*. Marks of one price stand side by
    side, so that all are seen.
    """
    width = 6.4 if len(trees) == 1 else 3.3
    figure, axes = panels(len(trees), width=width, height=3.6, sharey=True)
    for ax, (title, (kinds, tau)) in zip(axes, trees.items(), strict=True):
        ax.axvline(tau, color=style.LIMIT, linewidth=2.2)
        beside(ax, rf"$\tau^* = {tau:.2f}$", (tau, 1.06), (5, 0))
        last = max(max(kind) for kind in kinds.values())
        for which, (label, by_price) in enumerate(kinds.items()):
            points = []
            for price, fractions in by_price.items():
                middle = (len(fractions) - 1) / 2
                for i, fraction in enumerate(sorted(fractions)):
                    points.append((price + 0.003 * last * (i - middle), fraction))
            style.marks(ax, points, which, 34, label=label)
        percent_axis(ax, xlabel=r"price of a word, $\tau$", title=title, ylim=(-0.05, 1.15), xlim=(0, last * 1.12))
        if len(kinds) > 1:
            ax.legend(loc="lower left")
    axes[0].set(ylabel="right, of questions with an arrow")
    return figure


def words_by_depth(rows: Sequence[Row]) -> list[dict[int, float]]:
    """Return the words that are written, by depth, of each measured row."""
    lines = []
    for row in rows:
        numbers = {int(depth): part["words"] for depth, part in row["by_depth"].items()}
        lines.append(dict(sorted(numbers.items())))
    return lines


def right_at(rows: Sequence[Row], stage: int = 0) -> dict[float, list[float]]:
    """Return the fraction right after a stage at each price, {price: [of each stored run]}."""
    return {float(price): [row["by_price"][price][stage]["right"] for row in rows] for price in rows[0]["by_price"]}
