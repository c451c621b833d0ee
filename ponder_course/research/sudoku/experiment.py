"""Stored runs of lesson 10: how its networks were trained and measured."""

from typing import Any

import torch

from ponder_course.common.measures import think
from ponder_course.common.runs import Experiment, grid, rounded, seeded
from ponder_course.common.store import Row
from ponder_course.sudoku.experiment import learn, measure, on_boards
from ponder_course.sudoku.task import SudokuTask
from ponder_utils.pondernet import PonderNet

TESTS = {  # boards, how many, the cap N
    "4 x 4": (SudokuTask(2), 500, 20),
    "9 x 9": (SudokuTask(3, 0.25, 0.5), 100, 60),
    "16 x 16": (SudokuTask(4, 0.4, 0.6), 20, 80),
    "9 x 9, thinking on": (SudokuTask(3, 0.25, 0.5), 10, 300),
}
CERTAINTY = 0.95


def run(seed: int, tests: list[str], **setting: Any) -> Row:
    """Train a network and measure it: {test: what `measure` returns}, by its halting head and by `CERTAINTY`."""
    model, found = learn(seed, **setting), {}
    for name in tests:
        task, n_boards, N = TESTS[name]
        x, _ = task.batch(n_boards, torch.Generator().manual_seed(100))
        output = think(PonderNet(on_boards(model, task.box), N), x, N)
        found[name] = measure(output, x)
        found[f"{name}, certainty"] = measure(output, x, CERTAINTY)
    return rounded(found)


def _grid(name: str, seeds: range, *changes: Row, tests: tuple[str, ...] = tuple(TESTS)) -> Experiment:
    settings = seeded([change | {"tests": [*tests]} for change in changes or [{}]], seeds)
    return grid(f"10_sudoku_{name}", run, settings, {"tests": [*tests][:1], "updates": 5, "batch": 8})


SMALL = ("4 x 4", "9 x 9")
RECIPES: list[Row] = [
    {"updates": 1},
    {"updates": 10},
    {"updates": 200},
    {"lambda_p": 0.6},
    {"noise": 0.0},
    {"highest": 0.45},
]
PRICES: list[Row] = [{"beta": beta, "charge": charge} for beta in (0.1, 0.3) for charge in (0.0, 1.0)]
EXPERIMENTS = {
    "main": _grid("main", range(10)),
    "prices": _grid("prices", range(5), *PRICES, tests=SMALL),
    "recipes": _grid("recipes", range(5), *RECIPES, tests=SMALL),
}
