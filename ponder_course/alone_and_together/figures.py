"""Figures of forests: whom nodes ask, and how many steps they take to find their roots."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc
from numpy.typing import ArrayLike
from torch import Tensor

from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common import style, verdicts
from ponder_course.common.machines import ARROW
from ponder_course.common.store import Row
from ponder_course.common.style import bare, beyond, curves, panels, slide
from ponder_utils.pondernet import PonderNet

ByDepth = Mapping[int, float]  # a number for each depth
Networks = Sequence[ByDepth]
Kinds = Mapping[str, Networks]  # by name
MEMORY_OF = {"alone": "initial", "together": "current"}


@slide
def heard(kinds: Mapping[str, tuple[int, Sequence[int]]]) -> Figure:
    """Draw whose arrows a node of a chain has heard of, a row for the start and for each step.

    kinds: {title: (depth of the node, how many arrows it has heard of, from the start on)}. The root is on the left.
    """
    figure, axes = panels(len(kinds), width=4.0, height=3.6, sharey=True)
    longest = max(len(known) for _, known in kinds.values())
    for ax, (title, (depth, known)) in zip(axes, kinds.items(), strict=True):
        bare(ax)
        ax.tick_params(length=0)
        for n, count in enumerate(known):
            for k in range(depth + 1):
                colour = "white" if k >= count else style.HALTING if k == depth else style.HEARD
                ax.scatter(depth - k, n, s=190, marker="s", color=colour, edgecolor=style.GREY, linewidth=0.8)
                ax.text(depth - k, n, str(depth - k), ha="center", va="center_baseline", fontsize=12.5)
            word = "knows" if count > depth else "names 0" if count == depth else ""
            ax.text(depth + 0.8, n, word, va="center_baseline", fontsize=13)
        ax.set(title=title, xlim=(-0.6, depth + 3.4), ylim=(longest - 0.4, -0.6))
    axes[0].set_yticks(range(longest), ["start", *(f"step {n}" for n in range(1, longest))])
    return figure


@slide
def lookup(kinds: Mapping[str, Sequence[int]], node: int, asked: int) -> Figure:
    """Draw how a node asks another by attention, from above: query, keys, values, and what it hears.

    kinds: {title: whom each node points at, as it can be looked up}.
    """
    figure, axes = panels(len(kinds), width=4.8, height=3.3, sharey=True)
    for ax, (title, pointers) in zip(axes, kinds.items(), strict=True):
        bare(ax)
        ax.tick_params(length=0)
        ax.set_title(title)
        keys = range(len(pointers))
        rows = ({asked: asked}, dict(zip(keys, keys, strict=True)), dict(enumerate(pointers)), {asked: pointers[asked]})
        for y, row in zip((3, 2, 1, 0), rows, strict=True):
            colour = style.PURPLE if y > 1 else style.GREEN
            for x, number in row.items():
                edge, letters = (colour, "black") if x == asked else (style.PALE_GREY, style.DARK_GREY)
                ax.scatter(x, y, s=620, marker="s", color="white", edgecolor=edge, linewidth=1 + 1.6 * (x == asked))
                ax.text(x, y, str(number), color=letters, ha="center", va="center")
        for start in (3, 1):
            arrow = ARROW | {"shrinkA": 15, "shrinkB": 15, "color": style.PURPLE if start > 1 else style.GREEN}
            ax.annotate("", (asked, start - 1), (asked, start), arrowprops=arrow)
        ax.set(xlim=(-0.6, len(pointers) - 0.4), ylim=(-0.5, 3.5))
    names = [f"what node {node} hears", "values: whom they point at", "keys: their own names", f"query of node {node}"]
    axes[0].set_yticks(range(4), names)
    return figure


@slide
def against_depth(
    kinds: Kinds, limits: Mapping[str, ByDepth], border: int, others: Networks = (), colour: str = style.HALTING
) -> Figure:
    """Draw a dashed line for each network of each kind, and its limit in black; depths beyond the border are grey.

    kinds and limits: by name, as it is written above the end of its lines; others: those that have not learnt, pale.
    """
    figure, (ax,) = panels(1, width=8.6, height=4.8)
    _against(ax, kinds, limits, border, others, "not learnt", style.NOT_LEARNT, colour)
    return figure


@slide
def each_against_depth(kinds: Kinds, border: int, never_slept: Networks) -> Figure:
    """Draw `against_depth` for "alone" and for "together", and there, in grey, those that never slept in training."""
    figure, axes = panels(2, width=4.8, height=4.4)
    limits = needed_by_depth(len(kinds["alone"][0]))
    for ax, (kind, networks) in zip(axes, kinds.items(), strict=True):
        others = never_slept if kind == "together" else []
        _against(ax, {kind: networks}, {kind: limits[kind]}, border, others, "never slept", style.DARK_GREY)
    return figure


def _against(
    ax: Axes,
    kinds: Kinds,
    limits: Mapping[str, ByDepth],
    border: int,
    others: Networks,
    name_of_others: str,
    colour_of_others: str,
    colour: str = style.HALTING,
) -> None:
    last = max(map(max, limits.values()))
    beyond(ax, border, last)
    curves(ax, others, color=colour_of_others, linewidth=2.0)
    if others:
        end = min(network[max(network)] for network in others)
        ax.text(last, end - 0.2, name_of_others, color=style.DARK_GREY, ha="right", va="top", fontweight="bold")
    for name, networks in kinds.items():
        curves(ax, [limits[name]], color=style.LIMIT, linewidth=3.0, drawstyle="steps-mid")
        curves(ax, networks, color=colour, linestyle="--", linewidth=1.6)
    ax.set_ylim(0, 1.12 * ax.dataLim.y1)
    for name, networks in kinds.items():
        height = max(n for d, n in limits[name].items() if d <= 0.86 * last) + 0.04 * ax.get_ylim()[1]
        written = style.DARK_GREY if networks else style.LIMIT
        ax.text(0.86 * last, height, name, color=written, ha="right", va="bottom", fontweight="bold")
    ax.text(border + 1, 0.97 * ax.get_ylim()[1], "beyond training", va="top", color=style.DARK_GREY)
    ax.set(xlabel="depth of a node", ylabel="steps taken", xlim=(0, last + 0.5))


def needed_by_depth(n_nodes: int, how: Mapping[str, str] = MEMORY_OF) -> dict[str, dict[int, int]]:
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


@slide
def when_felt(felt: Kinds, laws: Mapping[str, ByDepth], border: int) -> Figure:
    """Draw, as `against_depth` does, the step at which a turned arrow is felt by how far up it is, and the law."""
    figure = against_depth(felt, laws, border, colour=style.GREEN)
    figure.axes[0].set(xlabel="how far up the arrow is turned", ylabel="step at which it is felt")
    return figure


@torch.no_grad()
def whom(model: PonderNet, chain: Tensor, n_steps: int) -> tuple[Tensor, Tensor]:
    """Return whom each node of a chain [1, nodes] reads the most, and its weight: [n_steps, nodes], both by depth."""
    depth = ForestTask.depths(chain)[0]
    weights = forests.attention_by_step(model.step, chain, n_steps)[:, 0, depth.argsort()]
    weight, node = weights.max(2)
    return depth[node], weight


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
    few = last < 12  # so that there is room for their names
    for node in nodes[: few * len(nodes)]:
        ax.text(node, -0.2 * height, str(node), ha="center", va="top")
    ax.set(xlim=(-1, last + 1), ylim=(-(0.7 if few else 0.12) * height, 1.6 * height))


@slide
def right_by_depth(kinds: Kinds, border: int) -> Figure:
    """Draw the fraction of nodes right by depth, a line for each network: the first kind blue, the others grey."""
    figure, (ax,) = panels(1, width=8.6, height=3.9)
    _right(ax, kinds, border)
    return figure


def _right(ax: Axes, kinds: Kinds, border: int) -> None:
    last = max(max(network) for networks in kinds.values() for network in networks)
    middle = (border + 3 * last) / 4
    for colour, (name, networks) in zip((style.ANSWER, style.DARK_GREY), kinds.items(), strict=False):
        curves(ax, networks, color=colour, linewidth=1.2)
        heights = [network[min(network, key=lambda depth: abs(depth - middle))] for network in networks]
        # The name stands above lines that are low, and below others.
        height, side = (max(heights) + 0.05, "bottom") if mean(heights) < 0.5 else (min(heights) - 0.05, "top")
        ax.text(middle, height, name, color=colour, ha="center", va=side, fontweight="bold")
    beyond(ax, border, last)
    ax.set(xlabel="depth of a node", ylabel="nodes right", ylim=(-0.03, 1.05), xlim=(0, last + 0.5))


@slide
def by_the_clock(rows: Sequence[Row], border: int, n: int) -> Figure:
    """Draw the steps of networks that never slept beside those needed, and how many nodes are right then, and at n."""
    figure, (left, right) = panels(2, width=4.9, height=4.4)
    taken = by_depth(rows, "steps")
    needed = needed_by_depth(len(taken[0]))["together"]
    _against(left, {"needed": []}, {"needed": needed}, border, taken, "taken", style.DARK_GREY)
    at_n = [{d: by_step[n - 1] for d, by_step in run.items()} for run in by_depth(rows, "by_step")]
    _right(right, {f"at step {n}": at_n, "when halted": by_depth(rows, "right")}, border)
    return figure


def right_beyond(rows: Sequence[Row], max_depth: int) -> list[float]:
    """Return for each run the fraction right of the nodes that are deeper than in training."""
    shares = []
    for row in rows:
        deep = [part for d, part in row["by_depth"].items() if int(d) > max_depth]
        shares.append(sum(part["right"] * part["nodes"] for part in deep) / sum(part["nodes"] for part in deep))
    return shares


def by_head_and_certainty(tests: Mapping[str, Sequence[Row]]) -> pd.DataFrame:
    """Return a table of nodes right and mean steps, of each kind, stopped by the halting head or by certainty."""
    table = {}
    for kind, rows in tests.items():
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
