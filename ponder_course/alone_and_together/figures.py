"""Figures of forests: who points at whom, how many steps nodes take to find their roots, and whom they ask."""

from collections.abc import Mapping, Sequence
from itertools import count
from statistics import mean, median_low
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, FancyArrowPatch
from numpy.typing import ArrayLike
from torch import Tensor

from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common import style, verdicts
from ponder_course.common.machines import ARROW
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import bare, beyond, curves, panels, slide
from ponder_utils.pondernet import PonderNet

ByDepth = Mapping[int, float]  # a number for each depth
Networks = Sequence[ByDepth]
Kinds = Mapping[str, Networks]  # by name


@slide
def forest(parents: Sequence[int], depths: Sequence[int]) -> Figure:
    """Draw each node below its parent, with its number and an arrow to the parent; blue roots point at themselves."""
    figure, (ax,) = panels(1, width=7.4, height=0.65 * max(depths) + 1.3)
    x: dict[int, float] = {}
    column = count()

    def put(node: int) -> None:
        """Place a node above the middle of those that point at it, which come first; a leaf in a column of its own."""
        below = [child for child, parent in enumerate(parents) if parent == node != child]
        for child in below:
            put(child)
        x[node] = float(np.mean([x[child] for child in below])) if below else next(column)

    for node, parent in enumerate(parents):
        if node == parent:
            put(node)
    for node in x:
        place, parent = (x[node], -depths[node]), parents[node]
        face, edge, letters = ("white", style.GREY, "black") if node != parent else (style.BLUE, style.BLUE, "white")
        ax.scatter(*place, s=480, color=face, edgecolor=edge, zorder=3)
        ax.text(*place, str(node), color=letters, ha="center", va="center", zorder=4)
        if node != parent:
            arrow = ARROW | {"shrinkA": 12, "shrinkB": 12, "color": "black"}
            ax.annotate("", (x[parent], -depths[parent]), place, arrowprops=arrow)
        else:
            loop = ARROW | {"mutation_scale": 11, "connectionstyle": "arc3,rad=-2.4", "color": style.BLUE}
            left, right = ((x[node] + aside, 0.2 - depths[node]) for aside in (-0.1, 0.1))
            ax.add_patch(FancyArrowPatch(left, right, **loop))
    last = max(depths)
    ax.set(xlim=(-0.7, next(column) - 0.3), ylim=(-last - 0.6, 0.9), xticks=[], ylabel="depth")
    ax.set_yticks(range(-last, 1), [str(d) for d in range(last, -1, -1)])
    ax.grid(visible=False)
    return figure


def of_several_trees(x: Tensor, y: Tensor, deepest: int = 5) -> tuple[list[int], list[int]]:
    """Return parents and depths of the forest whose largest tree is the smallest, of those that are so deep.

    x, y: parents and roots, [forests, nodes].
    """
    depth = ForestTask.depths(x)
    largest_tree = torch.stack([roots.bincount().max() for roots in y])
    picked = int((largest_tree + 100 * (depth.amax(1) < deepest)).argmin())
    return x[picked].tolist(), depth[picked].tolist()


@slide
def against_depth(
    kinds: Kinds,
    limits: Mapping[str, ByDepth],
    border: int,
    others: Networks = (),
    name_of_others: str = "not learnt",
    colour: str = style.HALTING,
) -> Figure:
    """Draw a dashed line for each network of each kind, and its limit in black; depths beyond the border are grey.

    kinds and limits: by name, as it is written above the end of its lines; others: lines in light grey.
    """
    last = max(map(max, limits.values()))
    figure, (ax,) = panels(1, width=8.6, height=4.8)
    beyond(ax, border, last)
    curves(ax, others, color=style.NOT_LEARNT, linewidth=1.6)
    if others:
        end = min(network[max(network)] for network in others)
        ax.text(last, end - 0.2, name_of_others, color=style.DARK_GREY, ha="right", va="top", fontweight="bold")
    for name, networks in kinds.items():
        curves(ax, [limits[name]], color=style.LIMIT, linewidth=4.0)
        curves(ax, networks, color=colour, linestyle="--", linewidth=1.6)
        height = 0.86 * limits[name][max(limits[name])] + 1.2
        ax.text(0.86 * last, height, name, color=style.DARK_GREY, ha="right", va="bottom", fontweight="bold")
    ax.text(border + 1, 0.97 * ax.get_ylim()[1], "beyond training", va="top", color=style.DARK_GREY)
    ax.set(xlabel="depth of a node", ylabel="steps taken", xlim=(0, last + 0.5), ylim=(0, None))
    return figure


def needed_by_depth(n_nodes: int, how: Mapping[str, str]) -> dict[str, dict[int, int]]:
    """Return the steps that a node of each depth needs, of kinds {name: its memory, "initial" or "current"}.

    They are also the step at which news of the arrow so far above a node can come.
    """
    chain = forests.chains(1, n_nodes)
    depth, limits = ForestTask.depths(chain)[0].tolist(), {}
    for kind, memory in how.items():
        needed = ForestTask.needed_steps(chain, memory)[0].tolist()
        limits[kind] = dict(sorted(zip(depth, needed, strict=True)))
    return limits


def by_depth(rows: Sequence[Row], what: str) -> list[dict[int, Any]]:
    """Return what each run has measured of nodes by depth: mean "steps", the fraction "right", or "by_step", [N]."""
    return [{int(d): part[what] for d, part in row["by_depth"].items()} for row in rows]


def steps_at_depth(kinds: Kinds, depth: int) -> str:
    """The finding: the mean steps at this depth, alone and together."""
    alone, together = (mean(network[depth] for network in kinds[kind]) for kind in ("alone", "together"))
    return f"Depth {depth}: {alone:.1f} steps alone, {together:.1f} together"


@slide
def when_felt(felt: Kinds, laws: Mapping[str, ByDepth], border: int) -> Figure:
    """Draw, as `against_depth` does, the step at which a turned arrow is felt by how far up it is, and the law."""
    figure = against_depth(felt, laws, border, colour=style.GREEN)
    figure.axes[0].set(xlabel="how far up the arrow is turned", ylabel="step at which it is felt")
    return figure


def felt_too_soon(felt: Kinds, laws: Mapping[str, ByDepth]) -> str:
    """The finding: how many turned arrows are felt before the law allows it."""
    early = [line[k] < laws[kind][k] for kind, networks in felt.items() for line in networks for k in line]
    return f"{sum(early)} of {len(early)} turned arrows are felt\nbefore a name can bring the news"


@torch.no_grad()
def whom(model: PonderNet, chain: Tensor, n_steps: int) -> tuple[Tensor, Tensor]:
    """Return whom each node of a chain [1, nodes] reads the most, and its weight: [n_steps, nodes], both by depth."""
    depth = ForestTask.depths(chain)[0]
    weights = forests.attention_by_step(model.step, chain, n_steps)[:, 0, depth.argsort()]
    weight, node = weights.max(2)
    return depth[node], weight


def how_far_up(asks: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> str:
    """The finding: how far up the last node reads at each step, alone and together. asks: as for `arcs`."""
    far = {}
    for kind, (target, _) in asks.items():
        depths = np.asarray(target)
        far[kind] = ", ".join(map(str, depths.shape[1] - 1 - depths[:, -1]))
    return f"The last node reads {far['alone']} up alone,\nand {far['together']} up together"


@slide
def arcs(kinds: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """Draw whom each node of a chain reads, a row for each step and a column for each kind; the root is on the left.

    kinds: {title: (depth of the node that is read the most, its weight)}, [steps, nodes] each, nodes by depth. Arcs of
    small weight are pale; that of the last node is black.
    """
    n_steps = max(len(np.asarray(target)) for target, _ in kinds.values())
    figure, axes = panels(n_steps * len(kinds), width=9.4 / len(kinds), height=1.05, rows=n_steps, squeeze=False)
    for i, (title, (target, weight)) in enumerate(kinds.items()):
        axes[i].set_title(title)
        for ax, read, how_much in zip(axes[i :: len(kinds)], np.asarray(target), np.asarray(weight), strict=True):
            bare(ax)
            _arcs(ax, read, how_much)
    for n, ax in enumerate(axes[:: len(kinds)], 1):
        ax.set_ylabel(f"step {n}", rotation=0, ha="right", va="center")
    return figure


def _arcs(ax: Axes, target: np.ndarray, weight: np.ndarray) -> None:
    nodes = np.arange(len(target))
    far, middle, last = np.abs(nodes - target), (nodes + target) / 2, nodes[-1]
    for node in nodes:
        look = {"color": style.DARK_GREY, "linewidth": 0.9, "alpha": weight[node], "zorder": 2}
        if node == last:
            look = {"color": style.BLACK, "linewidth": 2.6, "zorder": 3}
        ax.add_patch(Arc((middle[node], 0), far[node], far[node], theta1=0, theta2=180, **look))
    colours = [style.BLUE, *[style.GREY] * (last - 1), style.BLACK]
    ax.scatter(nodes, 0 * nodes, s=14, color=colours, zorder=4)
    height = max(1.0, far.max() / 2)
    ax.text(last, 1.08 * height, f"{last - target[-1]} up", ha="right", va="bottom")
    ax.set(xlim=(-1, last + 1), ylim=(-0.12 * height, 1.6 * height))


@slide
def knows(right_from: ByDepth, halts_at: ByDepth, can_know: ByDepth) -> Figure:
    """Draw the step at which nodes are right, that at which they halt, and, in black, that at which they can know.

    A bar is blue where a node is right before it can know, and grey where it could know and still thinks.
    """
    figure, (ax,) = panels(1, width=8.6, height=3.9)
    depths, right, halt = [*right_from], [*right_from.values()], [*halts_at.values()]
    both = np.maximum(right, [can_know[d] for d in depths])
    ax.vlines(depths, right, both, color=style.ANSWER, linewidth=5, zorder=1)
    ax.vlines(depths, both, halt, color=style.PALE_GREY, linewidth=5, zorder=1)
    ax.scatter(depths, halt, s=90, color=style.HALTING, zorder=2)
    ax.scatter([*can_know], [*can_know.values()], s=150, marker="_", color=style.LIMIT, linewidth=2.8, zorder=3)
    ax.scatter(depths, right, s=26, color=style.ANSWER, zorder=3)
    last, top = depths[-1], max(*halt, *right) + 1.2
    ax.text(last, halt[-1] + 0.35, "the node halts", color=style.DARK_ORANGE, ha="right", va="bottom")
    ax.text(last, right[-1] - 0.4, "its answer is right for the first time", color=style.ANSWER, ha="right", va="top")
    ax.set(xlabel="depth of a node", ylabel="step $n$", ylim=(0.4, top), yticks=range(1, int(top) + 1))
    return figure


def right_and_halting(rows: Sequence[Row], depths: Sequence[int], N: int) -> tuple[dict[int, int], dict[int, float]]:
    """Return by depth the first step at which most nodes are right, the median of all networks, and when they halt.

    A network that is never right there counts as N steps.
    """
    by_step, steps = by_depth(rows, "by_step"), by_depth(rows, "steps")
    right_from = {}
    for d in depths:
        first = [next((n for n, right in enumerate(row[d], 1) if right > 0.5), N) for row in by_step]
        right_from[d] = median_low(first)
    return right_from, {d: mean(row[d] for row in steps) for d in depths}


def right_before_it_can_know(right_from: ByDepth, can_know: ByDepth) -> str:
    """The finding: at which depths nodes are right before they can know."""
    depths = [str(d) for d in right_from if right_from[d] < can_know[d]]
    return f"Right a step before it can know: depths {', '.join(depths)}"


@slide
def right_by_depth(kinds: Kinds, border: int) -> Figure:
    """Draw the fraction of nodes that are right, by depth, a line for each network: the first kind blue, others red."""
    figure, (ax,) = panels(1, width=8.6, height=3.9)
    last = max(max(network) for networks in kinds.values() for network in networks)
    middle = (border + last) / 2
    for colour, (name, networks) in zip((style.ANSWER, style.WRONG), kinds.items(), strict=False):
        curves(ax, networks, color=colour, linewidth=1.2)
        heights = [network[min(network, key=lambda depth: abs(depth - middle))] for network in networks]
        # The name stands above lines that are low, and below others.
        height, side = (max(heights) + 0.05, "bottom") if mean(heights) < 0.5 else (min(heights) - 0.05, "top")
        ax.text(middle, height, name, color=colour, ha="center", va=side, fontweight="bold")
    beyond(ax, border, last)
    ax.set(xlabel="depth of a node", ylabel="nodes right", ylim=(-0.03, 1.05), xlim=(0, last + 0.5))
    return figure


def right_beyond(rows: Sequence[Row], max_depth: int) -> list[float]:
    """Return for each run the fraction right of the nodes that are deeper than in training."""
    found = []
    for row in rows:
        deep = [part for d, part in row["by_depth"].items() if int(d) > max_depth]
        found.append(sum(part["right"] * part["nodes"] for part in deep) / sum(part["nodes"] for part in deep))
    return found


def beyond_training(
    found: Mapping[str, Sequence[Row]], stored: Sequence[Row], how: Mapping[str, str], max_depth: int
) -> pd.DataFrame:
    """Return a table of what the worst networks do: those trained here, of each kind, and stored ones that learnt."""
    groups = {}
    for kind, memory in how.items():
        groups[f"{kind}: yours"] = found[kind]
        of_kind = matching(stored, memory=memory)
        learnt = [row for row in of_kind if forests.has_learnt(row)]
        groups[f"{kind}: stored, the {len(learnt)} of {len(of_kind)} that have learnt"] = learnt
    table = {}
    for name, rows in groups.items():
        if rows:
            table[name] = {
                "right, worst network": f"{min(right_beyond(rows, max_depth)):.2%}",
                "halts before (1), worst network": f"{max(row['early'] for row in rows):.2%}",
            }
    return pd.DataFrame(table).T


def by_head_and_certainty(found: Mapping[str, Sequence[Row]]) -> pd.DataFrame:
    """Return a table of nodes right and mean steps, of each kind, stopped by the halting head or by certainty."""
    table = {}
    for kind, rows in found.items():
        ways = {"the halting head": [(row["nodes"], row["steps"]) for row in rows]}
        for q in (0.9, 0.99):
            ways[f"certain by {q}"] = [row["certainty"][q][:2] for row in rows]
        for way, points in ways.items():
            right, steps = zip(*points, strict=True)
            table[f"{kind}: {way}"] = {
                "nodes right": verdicts.span(right, ".1%"),
                "mean steps": verdicts.span(steps, ".1f"),
                "needed": f"{rows[0]['needed']:.1f}",
            }
    return pd.DataFrame(table).T
