"""Figures of who leaves when: what a question knows, loops of the tokens of a text, and loops by arrows."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ponder_course.common import style
from ponder_course.common.machines import ARROW
from ponder_course.common.store import Row
from ponder_course.common.style import bare, beyond, curves, panels, slide

ByArrows = Mapping[int, float]  # a number for each number of arrows


@slide
def known(text: Sequence[str], ways: Mapping[str, Sequence[int]]) -> Figure:
    """Draw who copies whom, and which arrows a question knows, a row for the start and for each loop.

    text: the statements of one chain, the digit's first, and the question; ways: {title: arrows known, from the start
    on}, the question's own arrow the first.
    """
    figure, axes = panels(len(ways), width=4.8, height=3.6, sharey=True)
    n_rows = max(map(len, ways.values()))
    for ax, (title, counts) in zip(axes, ways.items(), strict=True):
        bare(ax)
        ax.tick_params(length=0)
        for place in range(1, len(text)):
            arc = {**ARROW, "connectionstyle": "arc3,rad=0.5", "color": style.BLACK}
            ax.annotate("", (place - 0.85, -0.45), (place, -0.45), arrowprops=arc)
        for n, count in enumerate(counts):
            for place, token in enumerate(text):
                colour = style.HEARD if place >= len(text) - count else "white"
                edge = style.ANSWER if place == len(text) - 1 else style.GREY  # the question's
                ax.scatter(place, n, s=560, marker="s", color=colour, edgecolor=edge, linewidth=1.8)
                ax.text(place, n, token, ha="center", va="center_baseline", fontsize=13)
            if count >= len(text):
                ax.text(len(text) - 0.3, n, "knows", va="center_baseline")
        ax.set(title=title, xlim=(-0.6, len(text) + 1.2), ylim=(n_rows - 0.4, -1.0))
    axes[0].set_yticks(range(n_rows), ["start", *(f"loop {n}" for n in range(1, n_rows))])
    return figure


@slide
def tokens(text: Sequence[str], ways: Mapping[str, tuple[Sequence[int], Sequence[int]]]) -> Figure:
    """Draw after how many loops each token of a text leaves, a panel for each way, and black lines for the need.

    ways: {title: (loops, needed)}, one number for each token.
    """
    figure, axes = panels(len(ways), width=9.6, height=2.2, rows=len(ways), sharex=True, sharey=True)
    places = range(len(text))
    for ax, (title, (loops, needed)) in zip(axes, ways.items(), strict=True):
        ax.bar(places, loops, color=style.HALTING, width=0.8)
        for place, need in enumerate(needed):
            ax.plot([place - 0.45, place + 0.45], [need, need], color=style.LIMIT, linewidth=2.4)
        ax.set(ylabel="loops", xlim=(-0.6, len(text) - 0.4))
        ax.set_title(title, loc="left")
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.grid(visible=False, axis="x")
    axes[-1].set_xticks(places, text, fontsize=12.5)
    return figure


@slide
def against_arrows(ways: Mapping[str, tuple[Sequence[ByArrows], Sequence[ByArrows]]], border: int) -> Figure:
    """Draw the loops that questions take against their arrows, a panel for each way, with a line for each network.

    ways: {title: (loops, needed)}, both for each network; of the needs the mean is drawn, in black. border: the largest
    number of arrows in training.
    """
    figure, axes = panels(len(ways), width=9.8 / len(ways), height=4.0, sharey=True)
    for ax, (title, (loops, needed)) in zip(axes, ways.items(), strict=True):
        arrows = [*needed[0]]
        need = {d: sum(network[d] for network in needed) / len(needed) for d in arrows}
        _loops(ax, loops, need, border)
        ax.set(title=title, xlabel="arrows to the digit")
    axes[0].set(ylabel="loops of the question", ylim=(0, None))
    return figure


@slide
def thinking_for_others(kinds: Mapping[str, Sequence[ByArrows]], border: int) -> Figure:
    """Draw the loops that statements take against their own arrows: a panel for each kind, a line for each network."""
    figure, axes = panels(len(kinds), width=4.8, height=3.4, sharey=True)
    for ax, (title, networks) in zip(axes, kinds.items(), strict=True):
        _loops(ax, networks, dict.fromkeys(networks[0], 1.0), border)
        ax.set(title=title, xlabel="arrows to its digit")
    axes[0].set(ylabel="loops of the statement", ylim=(0, None))
    return figure


def _loops(ax: Axes, networks: Sequence[ByArrows], need: ByArrows, border: int) -> None:
    last = max(need)
    if border < last:
        beyond(ax, border, last)
    curves(ax, [need], color=style.LIMIT, linewidth=3.0, drawstyle="steps-mid")
    curves(ax, networks, color=style.HALTING, linestyle="--", linewidth=1.6)
    ax.set(xlim=(min(need) - 0.5, last + 0.5))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))


def of_statements(rows: Sequence[Row]) -> list[dict[int, float]]:
    """Return the loops that statements take, by the arrows to their own digit, of each measured row."""
    return _by_arrows(rows, "statements_by_arrows", "steps")


def loops_and_need(rows: Sequence[Row]) -> tuple[list[dict[int, float]], list[dict[int, float]]]:
    """Return the loops that questions take and need, by arrows, of each measured row."""
    return _by_arrows(rows, "by_arrows", "steps"), _by_arrows(rows, "by_arrows", "needed")


def _by_arrows(rows: Sequence[Row], of: str, what: str) -> list[dict[int, float]]:
    found = []
    for row in rows:
        numbers = {int(arrows): part[what] for arrows, part in row[of].items()}
        found.append(dict(sorted(numbers.items())))
    return found
