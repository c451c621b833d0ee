"""Stored runs of lesson 10: how its networks were trained and measured."""

from typing import Any

import torch

from ponder_course.common.measures import think
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.sudoku.covers import instances, on_cover
from ponder_course.sudoku.experiment import learn, measure
from ponder_course.sudoku.lesson import on_boards, untrained
from ponder_course.sudoku.task import SudokuTask
from ponder_evidence.runs import grid
from ponder_evidence.sudoku.covers import COVERS
from ponder_evidence.sudoku.covers import measure as measure_cover
from ponder_utils.halting import PonderOutput
from ponder_utils.pondernet import PonderNet

TESTS = {  # boards, how many, the cap N
    "4 x 4": (SudokuTask(2), 500, 20),
    "9 x 9": (SudokuTask(3, 0.25, 0.5), 100, 60),
    "16 x 16": (SudokuTask(4, 0.4, 0.6), 20, 80),
    "9 x 9, thinking on": (SudokuTask(3, 0.25, 0.5), 10, 300),
}
CERTAINTY = 0.95


def by_certainty(output: PonderOutput) -> PonderOutput:
    """Return the output with halting logits by which a cell halts once it gives a digit this `CERTAINTY` or more."""
    is_certain = output.y_hat.softmax(3).amax(3) >= CERTAINTY
    return output._replace(halt_logits=torch.where(is_certain, 30.0, -30.0))


def run(seed: int, tests: list[str], covers: list[str] | None = None, **setting: Any) -> Row:
    """Train a network and measure it: {test: what `measure` returns}, by its halting head and by `CERTAINTY`.

    covers: of `COVERS`, on which it is measured as well. With updates=0 it is measured untrained.
    """
    model = untrained(seed).eval() if setting.get("updates") == 0 else learn(seed, **setting)
    measures: Row = {}
    for name in tests:
        task, n_boards, N = TESTS[name]
        x, _ = task.batch(n_boards, torch.Generator().manual_seed(100))
        output = think(PonderNet(on_boards(model, task.box), N), x, N)
        measures[name] = measure(output, x)
        measures[f"{name}, certainty"] = measure(by_certainty(output), x)
    for name in covers or ():
        tables, x = instances(*COVERS[name])
        measures[name] = measure_cover(on_cover(model.step, tables), tables, x)
    return rounded(measures)


SHORT: Row = {"tests": ["4 x 4"], "updates": 5, "batch": 8}
SMALL: Row = {"tests": ["4 x 4", "9 x 9"]}
MAIN: Row = {"tests": [*TESTS], "covers": [*COVERS]}
REPORTING = range(10, 20)  # seeds 0 to 9 and 100 to 102 were seen while the recipe was chosen
LEARNING: list[Row] = [SMALL | {"updates": updates} for updates in (0, 1, 10, 200)]
RECIPES: list[Row] = [{"beta": 0.1}, {"lambda_p": 0.6}, {"noise": 0.0}, {"highest": 0.45}]
EXPERIMENTS = {
    "main": grid("10_sudoku_main", run, seeded([MAIN], REPORTING), SHORT),
    "uncharged": grid("10_sudoku_uncharged", run, seeded([SMALL | {"charge": 0.0}], REPORTING), SHORT),
    "learning": grid("10_sudoku_learning", run, seeded(LEARNING, REPORTING[:5]), SHORT),
    "recipes": grid("10_sudoku_recipes", run, seeded([SMALL | recipe for recipe in RECIPES], REPORTING[:5]), SHORT),
}
