"""Lesson 07's networks where walls lie at random, and where stars do: off the grid that mazes in training keep to."""

from typing import Any

import torch
from torch import Tensor

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.map_of_thought.task import MazeTask
from ponder_evidence.map_of_thought.experiment import TESTS, learn, measure
from ponder_evidence.runs import grid
from ponder_utils._check import check_int, check_real

SIDE, MAZES = 39, 20  # places on a side, as mazes of 20 x 20 cells; mazes of a test
N = {"trees": 170, "trees, stars anywhere": 170}  # in all other tests no place needs more than 46 steps
CAP = 80
DENSITIES = (0.0, 0.1, 0.2, 0.25, 0.3, 0.4)
ON_THE_GRID = {"trees": MazeTask(20), "pillars": MazeTask(20, loops=1.0)}  # whose cells have even coordinates
KEPT = ("places", "mazes", "steps", "needed", "early", "correlation")


def rubble(n_mazes: int, side: int, density: float, generator: torch.Generator | None = None) -> Tensor:
    """Draw open places [n_mazes, side, side]: each is a wall, 0.0, with this probability, and else 1.0.

    TypeError or ValueError unless n_mazes and side are at least 1 and the density is from 0 to 1.
    """
    check_int("n_mazes", n_mazes, 1)
    check_int("side", side, 1)
    check_real("density", density, 0, 1, open_low=False)
    return (torch.rand(n_mazes, side, side, generator=generator) >= density).float()


def stars_anywhere(is_open: Tensor, max_stars: int = 3, generator: torch.Generator | None = None) -> Tensor:
    """Draw 1 to max_stars stars, each of a random colour, on open places: x [mazes, 3, height, width] as of `MazeTask`.

    is_open: [mazes, height, width]. A maze with fewer open places than stars has a star on each of them.
    """
    n_mazes, places = len(is_open), is_open.flatten(1)
    n_stars = torch.randint(1, max_stars + 1, (n_mazes, 1), generator=generator)
    order = torch.rand(places.shape, generator=generator).masked_fill(places == 0, 2.0).argsort(1).argsort(1)
    is_star = (order < n_stars) & (places > 0)
    is_second = torch.rand(places.shape, generator=generator) < 0.5
    x = torch.stack([places, (is_star & ~is_second).float(), (is_star & is_second).float()], 1)
    return x.view(n_mazes, 3, *is_open.shape[1:])


def drawn(n_mazes: int = MAZES) -> dict[str, Tensor]:
    """Return mazes x [mazes, 3, SIDE, SIDE] of each test, of which every network sees the same.

    "trees" are those of lesson 07's test of 20 x 20 cells; in all others stars lie anywhere.
    """
    task, _, n_trees = TESTS["20"]
    mazes = {"trees": task.batch(n_trees, torch.Generator().manual_seed(100))[0][:n_mazes]}
    for name, on_the_grid in ON_THE_GRID.items():
        generator = torch.Generator().manual_seed(101)
        is_open = on_the_grid.batch(n_mazes, generator)[0][:, 0]
        mazes[f"{name}, stars anywhere"] = stars_anywhere(is_open, generator=generator)
    for density in DENSITIES:
        generator = torch.Generator().manual_seed(102)
        mazes[f"{density:g}"] = stars_anywhere(rubble(n_mazes, SIDE, density, generator), generator=generator)
    return mazes


def run(seed: int, n_mazes: int = MAZES, **setting: Any) -> Row:
    """Train lesson 07's network and measure it: {test: KEPT of `measure`}."""
    model, tests = learn(seed, **setting), {}
    for name, x in drawn(n_mazes).items():
        tests[name] = {what: value for what, value in measure(model, x, N.get(name, CAP)).items() if what in KEPT}
    return rounded(tests)


SHORT = {"n_mazes": 2, "phases": [[3, 12, 8, 5, 5e-3], [5, 24, 4, 5, 2e-3]], "channels": 8}
EXPERIMENTS = {"rubble": grid("07_rubble", run, seeded([{}], 5), SHORT)}
