"""Lesson 07's networks in trees of other kinds, and in trees with a post or passages opened; stars of both colours."""

from itertools import product
from typing import Any

import torch
from torch import Tensor

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.map_of_thought.task import MazeTask
from ponder_evidence.map_of_thought.experiment import learn, measure
from ponder_evidence.map_of_thought.fresh import counted
from ponder_evidence.map_of_thought.rubble import SHORT
from ponder_evidence.map_of_thought.where_it_ends import open_walls
from ponder_evidence.runs import grid

MAZES = 20  # of each kind
KEPT = ("mazes", "steps", "needed", "n_asked", "n_early", "n_wrong")


def posts(side: int) -> Tensor:
    """Return where four cells of a maze meet: bool [side, side]."""
    odd = torch.arange(side) % 2 == 1
    return odd[:, None] & odd


def passages(side: int) -> Tensor:
    """Return where two neighbouring cells of a maze meet: bool [side, side]."""
    odd = torch.arange(side) % 2 == 1
    return odd[:, None] ^ odd


def grown(n_cells: int, from_the_newest: bool, generator: torch.Generator) -> Tensor:
    """Grow a tree cell by cell, from its newest cell (long corridors) or from any (short ones): [side, side]."""
    side = 2 * n_cells - 1
    is_open = torch.zeros(side, side)
    is_open[0, 0] = 1
    ends = [(0, 0)]
    while ends:
        i = len(ends) - 1 if from_the_newest else int(torch.randint(len(ends), (), generator=generator))
        row, column = ends[i]
        around = [(row - 2, column), (row + 2, column), (row, column - 2), (row, column + 2)]
        free = [(r, c) for r, c in around if 0 <= r < side and 0 <= c < side and not is_open[r, c]]
        if not free:
            del ends[i]
            continue
        r, c = free[int(torch.randint(len(free), (), generator=generator))]
        is_open[r, c] = is_open[(row + r) // 2, (column + c) // 2] = 1
        ends.append((r, c))
    return is_open


def stars_of_both(is_open: Tensor, fewest: int, most: int, generator: torch.Generator) -> Tensor:
    """Put stars on cells, at least one of each colour: x [mazes, 3, side, side] as of `MazeTask`."""
    x = torch.stack([is_open, torch.zeros_like(is_open), torch.zeros_like(is_open)], 1)
    cells = [*product(range(0, is_open.shape[1], 2), repeat=2)]
    for maze in x:
        n_stars = int(torch.randint(fewest, most + 1, (), generator=generator))
        colours = [1, 2, *torch.randint(1, 3, (n_stars - 2,), generator=generator).tolist()]
        drawn = torch.randperm(len(cells), generator=generator)[:n_stars].tolist()
        for colour, cell in zip(colours, drawn, strict=True):
            row, column = cells[cell]
            maze[colour, row, column] = 1
    return x


def drawn(n_mazes: int = MAZES) -> dict[str, Tensor]:
    """Return mazes x [mazes, 3, side, side] of each kind, which every network sees the same."""
    generator = torch.Generator().manual_seed(104)
    trees = MazeTask(20).batch(n_mazes, generator)[0][:, 0]
    large = MazeTask(30).batch(n_mazes, generator)[0][:, 0]
    corridors = torch.stack([grown(20, True, generator) for _ in range(n_mazes)])
    bushes = torch.stack([grown(20, False, generator) for _ in range(n_mazes)])
    kinds = {
        "trees": trees,
        "trees of 30 x 30": large,
        "long corridors": corridors,
        "short corridors": bushes,
        "thirty passages opened": open_walls(trees, 30, generator, passages(39)),
        "one post opened": open_walls(trees, 1, generator, posts(39)),
        "three posts opened": open_walls(trees, 3, generator, posts(39)),
    }
    mazes = {name: stars_of_both(is_open, 2, 3, generator) for name, is_open in kinds.items()}
    return mazes | {"forty stars": stars_of_both(trees, 40, 40, generator)}


def run(seed: int, n_mazes: int = MAZES, **setting: Any) -> Row:
    """Train lesson 07's network and measure it.

    {kind of maze: KEPT of `counted`, the largest need "farthest", and "common step": right at the best step for all}.
    """
    model = learn(seed, **setting)
    measures: Row = {}
    for name, x in drawn(n_mazes).items():
        farthest = int(MazeTask.needed_steps(x)[MazeTask.answers(x) >= 0].max())
        test = counted(measure(model, x, farthest + 20))
        measures[name] = {what: test[what] for what in KEPT}
        measures[name] |= {"farthest": farthest, "common step": max(test["by_step"]["mazes"])}
    return rounded(measures)


EXPERIMENTS = {"other mazes": grid("07_mazes_other", run, seeded([{}], range(20, 24)), SHORT | {"n_mazes": 2})}
