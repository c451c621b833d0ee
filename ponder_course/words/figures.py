"""Figures of words, dots and votes: what is read for each word, and who is right how far up."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from ponder_course.alone_and_together import figures as trees
from ponder_course.common import style
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import bare, beside, beyond, curves, panels, percent_axis, slide

ByDepth = Mapping[int, float]  # a number for each depth
Kinds = Mapping[str, Sequence[ByDepth]]  # by name, of each network
STOP = "STOP"
ARROW = "\N{RIGHTWARDS ARROW}"
NUMBERS = {2: "two", 4: "four"}
CARRIED = {"a word": "word", "its state": "state"}  # as figures call what is carried


@slide
def reading(parents: Sequence[int], order: Sequence[int], asked: int) -> Figure:
    """Draw a text, a box for each node with its parent, and under it the words of a node's chain, up to STOP.

    parents: of each node, a root its own; order: in which the boxes stand. A line leads from each word to the box that
    is read for the next one.
    """
    words = [asked, *_ancestors(parents, asked)]
    figure, (ax,) = panels(1, width=9.0, height=3.2)
    bare(ax)
    place = {node: i for i, node in enumerate(order)}
    stretch = (len(order) - 1) / len(words)
    boxes: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 14.5}
    frame = {"boxstyle": "round,pad=0.35", "facecolor": "white"}
    for node, x in place.items():
        colour = style.BLUE if node in words else style.PALE_GREY
        ax.text(x, 1, f"{node}{ARROW}{parents[node]}", bbox=frame | {"edgecolor": colour}, **boxes)
    for i, word in enumerate([*words, STOP]):
        colour = style.HALTING if word == STOP else style.BLACK if i else style.GREY
        ax.text(i * stretch, 0, f"{word}{'' if i else '?'}", bbox=frame | {"edgecolor": colour}, **boxes)
    for i, word in enumerate(words):
        ax.plot([i * stretch, place[word]], [0.14, 0.86], color=style.BLUE, linewidth=1.4)
        ax.text((i + 0.5) * stretch, -0.02, ARROW, ha="center", va="center", color=style.GREY)
        ax.text((i + 0.5) * stretch, -0.3, f"step {i + 1}", ha="center", va="center", color=style.GREY)
    ax.set(xlim=(-0.7, len(order) - 0.3), ylim=(-0.45, 1.3))
    return figure


def _ancestors(parents: Sequence[int], node: int) -> list[int]:
    above = []
    while parents[node] != node:
        node = parents[node]
        above.append(node)
    return above


@slide
def right_far_up(left: Kinds, right: Kinds, titles: tuple[str, str]) -> Figure:
    """Draw the fraction of nodes that are right against their depth, a line for each network, in two panels.

    The name of a kind stands in the legend of its panel. All kinds of the right panel have the colour of the second
    kind of the left, of which they are variants.
    """
    figure, axes = panels(2, width=4.9, height=3.9, sharey=True)
    of_second = {"color": style.look(1)["color"]}
    for ax, kinds, title, shared in zip(axes, (left, right), titles, ({}, of_second), strict=True):
        for which, (name, networks) in enumerate(kinds.items()):
            looks = style.look(which, markersize=5, linewidth=1.3, alpha=0.8, **shared)
            curves(ax, networks, label=name, **looks)
        ax.axhline(0.25, color=style.LIMIT, linewidth=1.0)
        percent_axis(ax, xlabel="depth of the node", title=title, ylim=(0, 1.05))
        ax.legend(loc="upper right")
    axes[0].set(ylabel="roots named right")
    beside(axes[0], "one guess in four", (0, 0.25), (0, -17), color=style.DARK_GREY)
    return figure


@slide
def trained_on_few(panels_of: Mapping[int, Kinds], ours: Mapping[str, Sequence[Row]]) -> Figure:
    """Draw the fraction of nodes that are right against their depth, a panel for each depth of training.

    panels_of: {deepest tree in training: {what is carried: [networks]}}; the first of the first panel, as many as are
    `ours`, are drawn as marks.
    """
    figure, axes = panels(len(panels_of), width=9.6 / len(panels_of), height=3.7, sharey=True)
    looks: tuple[dict[str, Any], ...] = (
        {"color": style.DARK_GREY, "linewidth": 1.8},
        {"color": style.ANSWER, "linewidth": 1.4, "linestyle": "--"},
    )
    for ax, (border, kinds) in zip(axes, panels_of.items(), strict=True):
        last = max(max(network) for networks in kinds.values() for network in networks)
        beyond(ax, border, last)
        for look, (name, networks) in zip(looks, reversed([*kinds.items()]), strict=True):  # the first kind on top
            mine = len(ours.get(name, [])) if ax is axes[0] else 0
            curves(ax, networks[:mine], color=look["color"], linestyle="", marker="o", markersize=4)
            curves(ax, networks[mine:], **look)
            ax.plot([], [], label=f"carries {name}", **look)
        arrows = "one arrow" if border == 1 else f"{NUMBERS.get(border, border)} arrows"
        percent_axis(ax, xlabel="depth of the node", title=f"trained on {arrows}", ylim=(-0.03, 1.05))
        ax.set(xlim=(0, last + 0.5))
    axes[0].set(ylabel="roots named right")
    axes[0].legend(loc="center right", bbox_to_anchor=(1.0, 0.3))
    return figure


def by_votes(rows: Sequence[Row], n_votes: int) -> list[dict[int, float]]:
    """Return for each run the fraction right by the majority of so many votes, by depth."""
    return [{int(d): part["votes"][str(n_votes)] for d, part in row["by_depth"].items()} for row in rows]


def by_training(ours: Mapping[str, Sequence[Row]], stored: Sequence[Row]) -> dict[int, dict[str, list[ByDepth]]]:
    """Return the fraction right by depth of each network: {deepest tree in training: {what is carried: [networks]}}.

    ours: trained on one arrow, by what is carried; they come first.
    """
    depths = sorted({1} | {row["max_depth"] for row in stored})
    panels: dict[int, dict[str, list[ByDepth]]] = {depth: {} for depth in depths}
    for depth, kinds in panels.items():
        for name, carried in CARRIED.items():
            mine = ours.get(name, []) if depth == 1 else []
            kinds[name] = [*trees.by_depth([*mine, *matching(stored, carried=carried, max_depth=depth)], "right")]
    return panels


def by_room(wide: Sequence[Row]) -> tuple[Kinds, Kinds]:
    """Return the fraction right by depth of stored networks: by passes, and of two passes by dots or votes."""
    passes = {n: matching(wide, n_dots=0, n_passes=n) for n in (1, 2, 3)}
    left = {f"{n} pass{'es' * (n > 1)}": trees.by_depth(rows, "right") for n, rows in passes.items()}
    right = {"no dots": left["2 passes"]}
    right["32 dots"] = trees.by_depth(matching(wide, n_dots=32), "right")
    right["65 votes"] = by_votes(passes[2], 65)
    return left, right
