"""Figures of forests: who points at whom, how many steps nodes take to find their roots, and whom they ask."""

import math
from collections.abc import Mapping, Sequence
from statistics import mean, median_low

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Arc, FancyArrowPatch
from numpy.typing import ArrayLike
from torch import Tensor

from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together import inference
from ponder_course.common import style, verdicts
from ponder_course.common.machines import ARROW
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_course.common.style import (
    ANSWER,
    BLACK,
    BLUE,
    DARK_GREY,
    DARK_ORANGE,
    GREEN,
    GREY,
    HALTING,
    LIMIT,
    NOT_LEARNT,
    PALE_GREY,
    WRONG,
    panels,
    slide,
    step_axis,
)
from ponder_course.map_of_thought.figures import STEPS
from ponder_utils.pondernet import PonderNet
from ponder_utils.tasks.forests import ForestTask

ByDepth = Mapping[int, float]  # a number for each depth


@slide
def forest(parents: Sequence[int], depths: Sequence[int]) -> Figure:
    """Draw each node below its parent, with its number and an arrow to the parent; blue roots point at themselves."""
    figure, (ax,) = panels(1, width=7.4, height=0.65 * max(depths) + 1.3)
    children: dict[int, list[int]] = {node: [] for node in range(len(parents))}
    for node, parent in enumerate(parents):
        if node != parent:
            children[parent].append(node)
    places: dict[int, tuple[float, int]] = {}
    free = 0.0  # the next column without a leaf

    def put(node: int) -> None:
        nonlocal free
        for child in children[node]:
            put(child)
        if children[node]:
            x = float(np.mean([places[child][0] for child in children[node]]))
        else:
            x, free = free, free + 1
        places[node] = (x, -depths[node])

    for node, parent in enumerate(parents):
        if node == parent:
            put(node)
    for node, (x, y) in places.items():
        is_root = parents[node] == node
        ax.scatter(x, y, s=480, color=BLUE if is_root else "white", edgecolor=BLUE if is_root else GREY, zorder=3)
        ax.text(x, y, str(node), color="white" if is_root else "black", ha="center", va="center", zorder=4)
        if is_root:
            loop = {**ARROW, "mutation_scale": 11, "connectionstyle": "arc3,rad=-2.4", "color": BLUE}
            ax.add_patch(FancyArrowPatch((x - 0.1, y + 0.2), (x + 0.1, y + 0.2), **loop))
        else:
            ax.annotate(
                "", places[parents[node]], (x, y), arrowprops={**ARROW, "shrinkA": 12, "shrinkB": 12, "color": "black"}
            )
    ax.set(xlim=(-0.7, free - 0.3), ylim=(-max(depths) - 0.6, 0.9), yticks=range(-max(depths), 1), ylabel="depth")
    ax.set_yticklabels([str(d) for d in range(max(depths), -1, -1)])
    ax.set_xticks([])
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


def farthest_from_its_root(depths: Sequence[int]) -> str:
    """The finding: which node is the deepest of a forest, the first of equals."""
    deepest = max(depths)
    return f"From node {depths.index(deepest)} it is {deepest} arrows to the root"


@slide
def against_depth(
    kinds: Mapping[str, Sequence[ByDepth]], limits: Mapping[str, ByDepth], border: int,
    ylabel: str = "steps taken", xlabel: str = "depth of a node", not_learnt: Sequence[ByDepth] = (),
    color: str = HALTING,
) -> Figure:  # fmt: skip
    """Draw a dashed line for each network of each kind, and its limit in black; depths beyond the border are grey.

    kinds and limits: by name, as it is written above the end of its lines; not_learnt: lines in light grey.
    """
    last = max(max(limit) for limit in limits.values())
    figure, (ax,) = panels(1, width=8.6, height=4.8)
    ax.axvspan(border + 0.5, last + 0.5, color="#EEEEEE", zorder=0, linewidth=0)
    for network in not_learnt:
        ax.plot(list(network), list(network.values()), color=NOT_LEARNT, linewidth=1.6)
        ax.text(max(network), network[max(network)] - 0.4, "not learnt", color=DARK_GREY, ha="right", va="top")
    for name, networks in kinds.items():
        limit = limits[name]
        ax.plot(list(limit), list(limit.values()), color=LIMIT, linewidth=4.0)
        for network in networks:
            ax.plot(list(network), list(network.values()), color=color, linestyle="--", linewidth=1.6)
        end = limit[max(limit)]
        ax.text(0.86 * last, 0.86 * end + 1.2, name, color=DARK_GREY, ha="right", va="bottom", fontweight="bold")
    ax.text(border + 1, 0.97 * ax.get_ylim()[1], "beyond training", va="top", color=DARK_GREY)
    ax.set(xlabel=xlabel, ylabel=ylabel, xlim=(0, last + 0.5), ylim=(0, None))
    return figure


def needed_by_depth(n_nodes: int, how: Mapping[str, str]) -> dict[str, dict[int, int]]:
    """Return the steps that a node of each depth needs, of kinds {name: what it reads, "start" or "now"}."""
    chain = forests.chains(1, n_nodes)
    depth, limits = ForestTask.depths(chain)[0], {}
    for kind, reads in how.items():
        needed = ForestTask.needed_steps(chain, reads)[0]
        limits[kind] = {int(d): int(needed[depth == d]) for d in depth.sort().values}
    return limits


def lines_by_depth(
    found: Mapping[str, list[Row]], stored: Sequence[Row], how: Mapping[str, str], max_depth: int
) -> tuple[dict[str, list[dict[int, float]]], list[dict[int, float]]]:
    """Return mean steps by depth of the networks of each kind, and those of networks that have not learnt.

    found: those trained here, by kind; stored: of all kinds. Where none of a kind has learnt, its lines are all.
    """
    lines, failed = {}, []
    for kind, reads in how.items():
        rows = found[kind] + [row for row in stored if row["reads"] == reads]
        learnt = [row for row in rows if forests.has_learnt(row, max_depth)]
        lines[kind] = [steps_by_depth(row) for row in learnt or rows]
        failed += [steps_by_depth(row) for row in rows if learnt and not forests.has_learnt(row, max_depth)]
    return lines, failed


def steps_at_depth(lines: Mapping[str, Sequence[ByDepth]], depth: int) -> str:
    """The finding: the mean steps at this depth, alone and together."""
    alone, together = (mean([line[depth] for line in lines[kind]]) for kind in ("alone", "together"))
    return f"Depth {depth}: {alone:.1f} steps alone, {together:.1f} together"


def deepest(lines: Mapping[str, Sequence[ByDepth]]) -> int:
    """Return the largest depth of the networks of all kinds, 0 where there is none."""
    return max((depth for networks in lines.values() for line in networks for depth in line), default=0)


def off_the_need(lines: Mapping[str, Sequence[ByDepth]], limits: Mapping[str, ByDepth]) -> str:
    """The finding: how far mean steps are from the need at most, alone and together."""
    off = {
        kind: max(abs(line[d] - limits[kind][d]) for line in networks for d in line) for kind, networks in lines.items()
    }
    return f"No mean is farther from the need than {off['alone']:.1f} steps alone,\n{off['together']:.1f} together"


def steps_of_the_deepest(networks: Sequence[ByDepth], limit: ByDepth) -> str:
    """Say how many steps the deepest nodes take in each network, and how many they need."""
    last = max(limit)
    taken = verdicts.span([line[last] for line in networks], ".1f")
    return f"depth {last}: {taken} steps, {limit[last]} needed"


def laws_of_news(last: int) -> dict[str, dict[int, int]]:
    """Return the step at which news of the arrow k above a node can come, for each k below `last`, by (1)."""
    return {
        "alone": {k: max(1, k) for k in range(last)},
        "together": {k: max(1, math.ceil(math.log2(k + 1))) for k in range(last)},
    }


def when_felt(felt: Mapping[str, Sequence[ByDepth]], laws: Mapping[str, ByDepth], border: int) -> Figure:
    """Draw, as `against_depth` does, the step at which a turned arrow is felt by how far up it is, and the law."""
    xlabel, ylabel = "how far up the arrow is turned", "step at which it is felt"
    return against_depth(felt, laws, border, ylabel, xlabel, color=GREEN)


def felt_too_soon(felt: Mapping[str, Sequence[ByDepth]], laws: Mapping[str, ByDepth]) -> str:
    """The finding: how many turned arrows are felt before the law allows it."""
    early = [line[k] < laws[kind][k] for kind, lines in felt.items() for line in lines for k in line]
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
        far[kind] = ", ".join(str(depths.shape[1] - 1 - node) for node in depths[:, -1].tolist())
    return f"The last node reads {far['alone']} up alone,\nand {far['together']} up together"


@slide
def arcs(kinds: Mapping[str, tuple[ArrayLike, ArrayLike]], size: float = 1.05) -> Figure:
    """Draw whom each node of a chain reads, a row for each step and a column for each kind; the root is on the left.

    kinds: {title: (depth of the node that is read the most, its weight)}, [steps, nodes] each, nodes by depth.
    """
    n_steps, n_nodes = np.shape(next(iter(kinds.values()))[0])
    figure, axes = panels(n_steps * len(kinds), width=9.4 / len(kinds), height=size, rows=n_steps, squeeze=False)
    for i, (title, (target, weight)) in enumerate(kinds.items()):
        for n, ax in enumerate(axes[i :: len(kinds)]):
            _arcs(ax, np.asarray(target)[n], np.asarray(weight)[n])
            ax.set(xlim=(-1, n_nodes), yticks=[], xticks=[], title=title if n == 0 else "")
            if i == 0:
                ax.set_ylabel(f"step {n + 1}", rotation=0, ha="right", va="center")
            for spine in ax.spines.values():
                spine.set_visible(False)
            ax.grid(visible=False)
    return figure


def _arcs(ax: Axes, target: np.ndarray, weight: np.ndarray) -> None:
    """Draw an arc from each node to the one it reads, paler where its weight is small; the last is black."""
    nodes, height = np.arange(len(target)), 1.0
    for node, read, how_much in zip(nodes, target, weight, strict=True):
        is_last = node == nodes[-1]
        colour, width = (BLACK, 2.6) if is_last else (DARK_GREY, 0.9)
        far = abs(int(node) - int(read))
        height = max(height, far / 2)
        ax.add_patch(Arc(((node + read) / 2, 0), far, far, theta1=0, theta2=180, color=colour, linewidth=width,
                         alpha=1.0 if is_last else float(how_much), zorder=2 + is_last))  # fmt: skip
    ax.scatter(nodes, 0 * nodes, s=14, color=[BLUE, *[GREY] * (len(nodes) - 2), BLACK], zorder=4)
    ax.text(nodes[-1], 1.08 * height, f"{len(nodes) - 1 - int(target[-1])} up", ha="right", va="bottom")
    ax.set_ylim(-0.12 * height, 1.6 * height)


@slide
def knows(right_from: ByDepth, halts_at: ByDepth, can_know: ByDepth) -> Figure:
    """Draw the step at which nodes are right, that at which they halt, and, in black, that at which they can know.

    A bar is blue where a node is right before it can know, and grey where it could know and still thinks.
    """
    figure, (ax,) = panels(1, width=8.6, height=3.9)
    depths = np.array(list(right_from))
    right, halt = np.array(list(right_from.values())), np.array(list(halts_at.values()))
    know = np.array([can_know[depth] for depth in depths])
    both = np.maximum(right, know)
    ax.vlines(depths, right, both, color=ANSWER, linewidth=5, zorder=1)
    ax.vlines(depths, both, halt, color=PALE_GREY, linewidth=5, zorder=1)
    ax.scatter(depths, halt, s=90, color=HALTING, zorder=2)
    ax.scatter(list(can_know), list(can_know.values()), s=150, marker="_", color=LIMIT, linewidth=2.8, zorder=3)
    ax.scatter(depths, right, s=26, color=ANSWER, zorder=3)
    last, top = depths[-1], max(*halt, *right) + 1.2
    ax.text(last, halt[-1] + 0.35, "the node halts", color=DARK_ORANGE, ha="right", va="bottom")
    ax.text(last, right[-1] - 0.4, "its answer is right for the first time", color=ANSWER, ha="right", va="top")
    ax.set(xlabel="depth of a node", ylabel="step $n$", ylim=(0.4, top), yticks=range(1, int(top) + 1))
    return figure


def who_learnt(found: list[Row], stored: Sequence[Row], max_depth: int) -> list[Row]:
    """Return the networks that read what others know now and have learnt; all that were trained here if none has."""
    rows = found + [row for row in stored if row["reads"] == "now"]
    return [row for row in rows if forests.has_learnt(row, max_depth)] or found


def right_and_halting(
    rows: Sequence[Row], depths: Sequence[int] | ByDepth, N: int
) -> tuple[dict[int, int], dict[int, float]]:
    """Return by depth the first step at which most nodes are right, the median of all networks, and when they halt.

    A network that is never right there counts as N steps.
    """

    def first_right(row: Row, d: int) -> int:
        by_step = row["by_depth"].get(d, row["by_depth"].get(str(d)))["by_step"]
        return next((n for n, right in enumerate(by_step, 1) if right > 0.5), N)

    right_from = {d: median_low(first_right(row, d) for row in rows) for d in depths}
    return right_from, {d: mean(steps_by_depth(row)[d] for row in rows) for d in depths}


def right_before_it_can_know(right_from: ByDepth, can_know: ByDepth) -> str:
    """The finding: at which depths nodes are right before they can know."""
    depths = [str(d) for d in right_from if right_from[d] < can_know[d]]
    return f"Right a step before it can know: depths {', '.join(depths)}"


@slide
def right_by_depth(kinds: Mapping[str, Sequence[ByDepth]], border: int) -> Figure:
    """Draw the fraction of nodes that are right, by depth, a line for each network: the first kind blue, others red."""
    figure, (ax,) = panels(1, width=8.6, height=3.9)
    last = max(max(network) for networks in kinds.values() for network in networks)
    middle = (border + last) / 2
    for colour, (name, networks) in zip((ANSWER, WRONG), kinds.items(), strict=False):
        heights = []
        for network in networks:
            ax.plot(list(network), list(network.values()), color=colour, linewidth=1.2)
            heights.append(network[min(network, key=lambda depth: abs(depth - middle))])
        low = sum(heights) / len(heights) < 0.5  # the name stands above lines that are low, and below others
        height = max(heights) + 0.05 if low else min(heights) - 0.05
        ax.text(middle, height, name, color=colour, ha="center", va="bottom" if low else "top", fontweight="bold")
    ax.axvspan(border + 0.5, last + 0.5, color="#EEEEEE", zorder=0, linewidth=0)
    ax.set(xlabel="depth of a node", ylabel="nodes right", ylim=(-0.03, 1.05), xlim=(0, last + 0.5))
    return figure


def right_beyond(row: Row, max_depth: int) -> float:
    """Return the fraction right of the nodes that are deeper than in training."""
    deep = [part for d, part in row["by_depth"].items() if int(d) > max_depth]
    return sum(part["right"] * part["nodes"] for part in deep) / sum(part["nodes"] for part in deep)


def worst_beyond(found: Mapping[str, Sequence[Row]], max_depth: int) -> list[str]:
    """Say for each kind what the worst of its networks has right, of nodes deeper than in training."""
    return [f"{kind} {min(right_beyond(row, max_depth) for row in rows):.2%}" for kind, rows in found.items()]


def beyond_training(
    found: Mapping[str, Sequence[Row]], stored: Sequence[Row], how: Mapping[str, str], max_depth: int
) -> dict[str, dict[str, str]]:
    """Return a table of what the worst networks do: those trained here, of each kind, and stored ones that learnt."""
    table = {}
    for kind, reads in how.items():
        groups = {f"{kind}: yours": found[kind]}
        of_kind = [row for row in stored if row["reads"] == reads]
        learnt = [row for row in of_kind if forests.has_learnt(row)]
        if learnt:
            groups[f"{kind}: stored, the {len(learnt)} of {len(of_kind)} that have learnt"] = learnt
        for name, rows in groups.items():
            table[name] = {
                "right, worst network": f"{min(right_beyond(row, max_depth) for row in rows):.2%}",
                "halts before (1), worst network": f"{max(row['early'] for row in rows):.2%}",
            }
    return table


def who_never_slept(rows: Sequence[Row], max_depth: int) -> str:
    """The finding: how many deep nodes are right in networks, together, that never slept."""
    beyond = [right_beyond(row, max_depth) for row in rows if row["reads"] == "now"]
    return f"Who never slept: {min(beyond):.0%} to {max(beyond):.0%} of nodes right beyond depth 8"


def smallest_to_largest(values: Sequence[float], form: str) -> str:
    """Return both ends of some values, such as "0.9 to 1.0", or one where both are written alike."""
    ends = [format(end, form) for end in (min(values), max(values))]
    return " to ".join(dict.fromkeys(ends))


def by_head_and_certainty(found: Mapping[str, Sequence[Row]], levels: Sequence[float] = (0.9, 0.99)) -> dict:
    """Return a table of nodes right and mean steps, of each kind, stopped by the halting head or by certainty."""
    table = {}
    for kind, rows in found.items():
        ways = {"the halting head": [[row["nodes"], row["steps"]] for row in rows]}
        for q in levels:
            ways[f"certain by {q}"] = [row["certainty"][q] for row in rows]
        for way, points in ways.items():
            table[f"{kind}: {way}"] = {
                "nodes right": smallest_to_largest([point[0] for point in points], ".1%"),
                "mean steps": smallest_to_largest([point[1] for point in points], ".1f"),
                "needed": f"{rows[0]['needed']:.1f}",
            }
    return table


@slide
def program(statements: Sequence[str], steps: Sequence[float], in_a_row: int = 5) -> Figure:
    """Draw a program, each statement or question on the colour of the steps that it took: from pale to dark."""
    rows, last = -(-len(statements) // in_a_row), max(steps)
    figure, (ax,) = panels(1, width=1.5 * in_a_row + 1.2, height=0.62 * rows + 0.2)
    squares = np.full(rows * in_a_row, np.nan)
    squares[: len(steps)] = steps
    image = ax.imshow(squares.reshape(rows, in_a_row), cmap=STEPS, vmin=1, vmax=last, aspect="auto")
    ax.hlines(np.arange(rows + 1) - 0.5, -0.5, in_a_row - 0.5, color="white", linewidth=6)
    ax.vlines(np.arange(in_a_row + 1) - 0.5, -0.5, rows - 0.5, color="white", linewidth=6)
    for i, (statement, taken) in enumerate(zip(statements, steps, strict=True)):
        colour = "white" if taken > 1 + 0.6 * (last - 1) else "black"
        ax.text(i % in_a_row, i // in_a_row, statement, color=colour, ha="center", va="center", family="monospace")
    ax.set(xticks=[], yticks=[], xlim=(-0.5, in_a_row - 0.5), ylim=(rows - 0.5, -0.5))
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    figure.colorbar(image, ax=ax, label="steps taken", ticks=range(1, int(np.ceil(last)) + 1), fraction=0.06)
    return figure


def steps_by_depth(row: dict) -> dict[int, float]:
    """Return the mean steps of nodes at each depth."""
    return {int(d): part["steps"] for d, part in row["by_depth"].items()}


def right_of(row: dict) -> dict[int, float]:
    """Return the fraction of nodes that are right, at each depth."""
    return {int(d): part["right"] for d, part in row["by_depth"].items()}


def rights(rows: list[dict]) -> list[dict[int, float]]:
    """Return what `right_of` says of each network that reads what others know now."""
    return [right_of(row) for row in rows if row["reads"] == "now"]


def rights_to_a_border(
    kinds: Mapping[str, tuple[Sequence[Row], int]], border: int
) -> dict[str, list[dict[int, float]]]:
    """Return what `right_of` says of each network of the kinds with this border, by what stands before the comma.

    kinds: {name: (runs, the largest depth of their training)}.
    """
    found = {}
    for name, (rows, of_kind) in kinds.items():
        if of_kind == border:
            found[name.split(",")[0]] = [right_of(row) for row in rows]
    return found


@slide
def inferred_by_step(rows: Sequence[Row], learnt: Sequence[Row], trials: Sequence[str]) -> Figure:
    """Draw how right each network is by step and, dashed, how often it halts there: a panel for each trial.

    The d-th trial has d pairs between cue and match, at the black line. Networks that have not learnt are pale.
    """
    figure, axes = panels(len(trials), width=3.3, height=3.2, sharey=True)
    for d, ax in enumerate(axes):
        n = step_axis(ax, inference.N, title=trials[d], ylim=(0, 1.05), xlim=(0.5, 8.5))
        ax.axvline(d + 1, color=LIMIT, linewidth=1.2)
        for row in sorted(rows, key=learnt.count):  # pale lines below the others
            answer, halting = (ANSWER, HALTING) if row in learnt else (NOT_LEARNT, NOT_LEARNT)
            ax.plot(n, row["by_step"][d], color=answer, linewidth=1.4)
            ax.plot(n, row["p"][d], color=halting, linewidth=1.4, linestyle="--")
    axes[1].text(4.5, 0.86, "right", color=ANSWER)
    axes[0].text(8.4, 0.2, "halts (dashes)", color=DARK_ORANGE, ha="right")
    axes[0].set_ylabel("fraction of trials")
    return figure


def first_and_farthest(statements: Sequence[str], taken: Sequence[float], arrows: Sequence[int]) -> str:
    """The finding: the steps of a program's first statement, and of that whose digit is the most arrows away."""
    far = max(arrows)
    farthest = arrows.index(far)
    return (
        f"{statements[0]} takes {taken[0]:.1f} steps, "
        f"{statements[farthest]} {taken[farthest]:.1f}:\nits digit is {far} arrows away"
    )


def behind_one_loop(kinds: Mapping[str, Sequence[Row]]) -> list[float]:
    """Return by how many nats six loops, all of which count, are behind one loop of the same seed."""
    behind = []
    for row in kinds["one loop"]:
        six = matching(kinds["six loops, all count"], seed=row["seed"])
        behind += [each["by_loop"][-1] - row["by_loop"][0] for each in six]
    return behind


def steps_more(rows: list, rule: str) -> list:
    """Return how many steps more each network takes for three pairs than for one."""
    return [row[rule]["steps"][2] - row[rule]["steps"][0] for row in rows]


@style.slide
def by_loop(kinds: dict) -> Figure:
    """Draw the loss after each loop, a line for each network of a kind; dotted: one loop is all there is."""
    figure, (ax,) = panels(1, width=7.4, height=3.4)
    colours = dict(zip(kinds, (HALTING, ANSWER, DARK_GREY), strict=False))  # the fourth has not learnt
    for name in colours:
        rows = kinds[name]
        for i, row in enumerate(rows):
            n = step_axis(ax, len(row["by_loop"]), xlabel="loop", ylabel="loss in nats")
            ax.plot(n, row["by_loop"], color=colours[name], marker="o", markersize=4, linewidth=1.4,
                    linestyle="--" if name.startswith("PonderNet") else "-",
                    label=name if i == 0 else None)  # fmt: skip
    for row in kinds["one loop"]:
        ax.axhline(row["by_loop"][0], color=DARK_GREY, linewidth=0.8, linestyle=":")
    ax.set_ylim(1.75, 2.5)  # PonderNet's later loops, which it never reaches, lie above
    ax.legend(loc="upper right")
    return figure
