"""Figures of prices: the words that are written beside those that are needed, and who answers at which price."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from ponder_course.common import style
from ponder_course.common.store import Row
from ponder_course.common.style import beside, curves, panels, percent_axis, slide

ByDepth = Mapping[int, float]  # a number for each depth
ByPrice = Mapping[float, Sequence[float]]  # a number for each network, by price


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
