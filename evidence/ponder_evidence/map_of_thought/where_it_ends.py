"""Lesson 07's networks in mazes unlike those of training, by two rules: their head, and an answer that has made up its
mind; and at one step for all in mazes with stars of both colours.
"""

from typing import Any

import torch
from torch import Tensor

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.map_of_thought.task import MazeTask, with_both_colours
from ponder_evidence.map_of_thought.experiment import learn, measure
from ponder_evidence.map_of_thought.fresh import counted
from ponder_evidence.map_of_thought.rubble import SHORT, stars_anywhere
from ponder_evidence.runs import grid

MAZES, N = 20, 180  # of each kind; the cap on steps
DECIDED = torch.tensor(3.0).sigmoid().item()  # an answer of |y_hat| >= 3 counts as one that has left indifference
RULES: dict[str, Row] = {"head": {"q": 0.5}, "decided": {"rule": "confidence", "q": DECIDED}}
KEPT = ("places", "mazes", "steps", "needed", "early", "n_asked", "n_early", "n_wrong")


def open_walls(is_open: Tensor, n_walls: int, generator: torch.Generator, among: Tensor | None = None) -> Tensor:
    """Open so many walls of each maze, drawn at random: [mazes, height, width]. Others may then touch at corners.

    among: bool [height, width], where they may lie, and None for anywhere; each maze must have so many there.
    """
    order = torch.rand(is_open.shape, generator=generator).masked_fill(is_open > 0, 2.0)
    if among is not None:
        order = order.masked_fill(~among, 2.0)
    chosen = order.flatten(1).argsort(1)[:, :n_walls]
    return is_open.flatten(1).scatter(1, chosen, 1.0).view_as(is_open)


def with_rooms(is_open: Tensor, n_rooms: int, side: int, generator: torch.Generator) -> Tensor:
    """Open so many square rooms in each maze, of side x side places, wherever they fit: [mazes, height, width]."""
    is_open = is_open.clone()
    height, width = is_open.shape[1:]
    for maze in is_open:
        for _ in range(n_rooms):
            row = int(torch.randint(height - side + 1, (), generator=generator))
            column = int(torch.randint(width - side + 1, (), generator=generator))
            maze[row : row + side, column : column + side] = 1.0
    return is_open


def wider(is_open: Tensor) -> Tensor:
    """Make corridors and walls two places wide: [mazes, 2 height, 2 width]."""
    return is_open.repeat_interleave(2, 1).repeat_interleave(2, 2)


def drawn(n_mazes: int = MAZES) -> dict[str, Tensor]:
    """Return mazes x [mazes, 3, height, width] of each kind, which every network sees the same; stars lie anywhere."""
    generator = torch.Generator().manual_seed(103)
    trees = MazeTask(20).batch(n_mazes, generator)[0][:, 0]
    kinds = {
        "trees": trees,
        "ten walls opened": open_walls(trees, 10, generator),
        "five rooms of 5 x 5": with_rooms(trees, 5, 5, generator),
        "corridors two wide": wider(MazeTask(10).batch(n_mazes, generator)[0][:, 0]),
        "a hall with pillars": MazeTask(20, loops=1.0).batch(n_mazes, generator)[0][:, 0],
    }
    return {name: stars_anywhere(is_open, generator=generator) for name, is_open in kinds.items()}


def run(seed: int, n_mazes: int = MAZES, **setting: Any) -> Row:
    """Train lesson 07's network and measure it.

    {kind of maze: {rule: KEPT of `counted`}} and, of trees with stars of both colours, "both colours": {"mazes": how
    many, "by itself": right when each place halts by itself, "common step": right at the best step for all}.
    """
    model, mazes = learn(seed, **setting), drawn(n_mazes)
    measures: Row = {}
    for name, x in mazes.items():
        measures[name] = {}
        for rule, options in RULES.items():
            test = counted(measure(model, x, N, **options))
            measures[name][rule] = {what: test[what] for what in KEPT}
    both = mazes["trees"][with_both_colours(mazes["trees"])]
    test = measure(model, both, N)
    best = max(test["by_step"]["mazes"])
    measures["both colours"] = {"mazes": len(both), "by itself": test["mazes"], "common step": best}
    return rounded(measures)


EXPERIMENTS = {
    "where it ends": grid("07_mazes_where_it_ends", run, seeded([{}], range(10, 15)), SHORT | {"n_mazes": 3})
}
