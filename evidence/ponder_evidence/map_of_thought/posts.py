"""Where lesson 07's networks hear news that no star has sent: posts opened by how many passages around them are open,
trees off the grid, and mazes without a star; in three fresh networks, and in the three of the lesson.
"""

from typing import Any

import torch
from torch import Tensor

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.trained import set_up
from ponder_course.map_of_thought.lesson import halt, untrained
from ponder_course.map_of_thought.task import MazeTask, with_both_colours
from ponder_evidence.map_of_thought.experiment import learn
from ponder_evidence.map_of_thought.other_mazes import stars_of_both
from ponder_evidence.map_of_thought.rubble import SHORT, stars_anywhere
from ponder_evidence.runs import Experiment
from ponder_utils import PonderNet

MAZES = 25  # of each kind, unless something else is said
AROUND = (0, 1, 2, 3)  # open passages around a post: all four would be a loop
FRESH: list[Row] = seeded([{}], range(20, 23))
LESSON: list[Row] = [{"seed": seed, "of_lesson": True} for seed in (100, 101, 102)]


def open_around(is_open: Tensor) -> Tensor:
    """Count the open passages around each post of a maze [side, side]: [n_cells - 1, n_cells - 1]."""
    beside = is_open[1::2, :-1:2] + is_open[1::2, 2::2]
    return beside + is_open[:-1:2, 1::2] + is_open[2::2, 1::2]


def post_opened(trees: Tensor, around: int, generator: torch.Generator) -> Tensor:
    """Open in each tree one post with so many open passages around it; leave out trees that have none."""
    opened = []
    for tree in trees:
        posts = (open_around(tree) == around).nonzero()
        if len(posts):
            row, column = posts[int(torch.randint(len(posts), (), generator=generator))].tolist()
            tree = tree.clone()
            tree[2 * row + 1, 2 * column + 1] = 1
            opened.append(tree)
    return torch.stack(opened)


def off_the_grid(side: int, generator: torch.Generator) -> Tensor:
    """Grow a tree place by place, [side, side]: a new place touches one open place, so that there are no loops."""
    is_open = torch.zeros(side + 2, side + 2)  # with a border of walls
    ends = [(side // 2 + 1, side // 2 + 1)]
    is_open[ends[0]] = 1
    while ends:
        i = int(torch.randint(len(ends), (), generator=generator))
        row, column = ends[i]
        around = [(r, c) for r in range(row - 1, row + 2) for c in range(column - 1, column + 2)]
        inside = [(r, c) for r, c in around if 0 < r <= side and 0 < c <= side and not is_open[r, c]]
        free = [(r, c) for r, c in inside if is_open[r - 1 : r + 2, c - 1 : c + 2].sum() == 1]
        if not free:
            del ends[i]
            continue
        new = free[int(torch.randint(len(free), (), generator=generator))]
        is_open[new] = 1
        ends.append(new)
    return is_open[1:-1, 1:-1]


def counted(model: PonderNet, x: Tensor) -> Row:
    """Count mazes, places that are asked, those that halt too early or wrong, and the mazes that have such places."""
    y, needed = MazeTask.answers(x), MazeTask.needed_steps(x)
    asked = y >= 0
    y_hat, steps = halt(model, x, int(needed[asked].max()) + 10)
    early = (steps < needed) & asked
    wrong = ((y_hat > 0) != (y > 0.5)) & asked
    counts: Row = {"mazes": len(x), "n_asked": int(asked.sum())}
    for name, places in {"early": early, "wrong": wrong}.items():
        counts |= {f"n_{name}": int(places.sum()), f"mazes_{name}": int(places.flatten(1).any(1).sum())}
    return counts


def without_stars(model: PonderNet, is_open: Tensor, N: int) -> Row:
    """Count open places, those that halt before step N though there is no star, and the mazes that have such places."""
    x = torch.stack([is_open, torch.zeros_like(is_open), torch.zeros_like(is_open)], 1)
    _, steps = halt(model, x, N)
    halted = (steps < N) & (is_open > 0)
    first = int(steps[halted].min()) if halted.any() else None
    return {
        "mazes": len(x),
        "n_open": int(is_open.sum()),
        "n_halted": int(halted.sum()),
        "mazes_halted": int(halted.flatten(1).any(1).sum()),
        "first": first,
    }


def run(seed: int, n_mazes: int = MAZES, n_cells: int = 20, of_lesson: bool = False, **setting: Any) -> Row:
    """Train lesson 07's network, or load the lesson's own of this seed, and measure it on mazes that all see alike.

    "more mazes": `counted` in mazes as the lesson's, with stars of both colours; "off the grid": in 10 trees of 27 x 27
    places; "posts", "posts without stars": for each of AROUND, `counted` and `without_stars`; "no stars":
    `without_stars` in trees, for 150 steps.
    """
    if of_lesson:
        load = set_up({"TRAIN": "none", "BUDGET": "class"}, "07_map_of_thought")
        (model,) = load(learn, [{"seed": seed}], untrained)
    else:
        model = learn(seed, **setting).eval()
    generator = torch.Generator().manual_seed(105)
    trees = MazeTask(10).batch(2 * n_mazes, generator)[0][:, 0]
    measures: Row = {"posts": {}, "posts without stars": {}}
    for around in AROUND:
        opened = post_opened(trees, around, generator)[:n_mazes]
        measures["posts"][around] = counted(model, stars_of_both(opened, 2, 3, generator))
        measures["posts without stars"][around] = without_stars(model, opened, 100)
    off = torch.stack([off_the_grid(27, generator) for _ in range(10)])
    measures["off the grid"] = counted(model, stars_anywhere(off, generator=generator))
    measures["no stars"] = without_stars(model, MazeTask(n_cells).batch(n_mazes, generator)[0][:, 0], 150)
    of_batches = []
    for batch in range(301, 305):
        x, _ = MazeTask(n_cells).batch(4 * n_mazes, torch.Generator().manual_seed(batch))
        of_batches.append(counted(model, x[sorted(with_both_colours(x))]))
    measures["more mazes"] = {what: sum(counts[what] for counts in of_batches) for what in of_batches[0]}
    return rounded(measures)


EXPERIMENTS = {
    "posts": Experiment("07_mazes_posts", run, LESSON + FRESH, [FRESH[0] | SHORT | {"n_mazes": 3, "n_cells": 3}])
}
