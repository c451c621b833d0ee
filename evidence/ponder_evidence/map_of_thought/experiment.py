"""Stored runs of lesson 07: how its networks were trained and measured."""

from typing import Any

import torch

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.map_of_thought.experiment import learn, measure
from ponder_course.map_of_thought.task import MazeTask
from ponder_evidence.runs import Experiment, grid
from ponder_utils.pondernet import PonderNet

LARGE = 20


QS = {"confidence": (0.6, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999), "threshold": (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)}


TESTS = {  # mazes, the cap N, how many
    "5": (MazeTask(5), 24, 200),
    "10": (MazeTask(10), 60, 100),
    "20": (MazeTask(LARGE), 170, 100),
    "30": (MazeTask(30), 260, 50),
    "20, loops": (MazeTask(LARGE, loops=0.2), 170, 50),
    "20, all passages": (MazeTask(LARGE, loops=1.0), 170, 50),
    "5, one star": (MazeTask(5, max_stars=1), 24, 200),
    "10, one star": (MazeTask(10, max_stars=1), 60, 100),
}


def choose_q(model: PonderNet, rule: str) -> float:
    """Return the value of a rule with which most mazes of 10 x 10 cells are right; of several, that of fewest steps."""
    x, _ = MazeTask(10).batch(100, torch.Generator().manual_seed(99))
    found = {q: measure(model, x, 60, rule, q) for q in QS[rule]}
    return max(QS[rule], key=lambda q: (found[q]["mazes"], -found[q]["steps"]))


def run(seed: int, tests: list[str], rule: str = "threshold", q: float | None = 0.5, **setting: Any) -> Row:
    """Train a network and measure it: {test: what `measure` returns}; without q, or by another rule, `choose_q`."""
    model, found = learn(seed, **setting), {}
    if q is None or rule != "threshold":
        q = choose_q(model, rule)
    for name in tests:
        task, N, n_mazes = TESTS[name]
        x, _ = task.batch(n_mazes, torch.Generator().manual_seed(100))
        found[name] = measure(model, x, N, rule, q) | {"q": q}
    return rounded(found)


def _grid(name: str, seeds: int, tests: list[str], *changes: Row) -> Experiment:
    settings = seeded([change | {"tests": tests} for change in changes or [{}]], seeds)
    phases = [[3, 12, 8, 5, 5e-3], [5, 24, 4, 5, 2e-3]]
    return grid(f"07_mazes_{name}", run, settings, {"tests": tests[:1], "phases": phases, "channels": 8})


SAME_RATE, ONE_PHASE = [[3, 12, 32, 1200, 5e-3], [5, 24, 32, 300, 5e-3]], [[5, 24, 32, 1500, 5e-3]]


RECIPES: list[Row] = [{"phases": SAME_RATE}, {"phases": ONE_PHASE}, {"channels": 16}]


PRIORS: list[Row] = [{"lambda_p": 0.4, "beta": beta, "q": None} for beta in (0.01, 0.03)]


THROUGH_WALLS = {"through_walls": True}


EXPERIMENTS = {
    "main": _grid("main", 10, ["5", "10", "20", "30", "20, loops", "20, all passages"]),
    "certainty": _grid("certainty", 5, ["5", "10", "20"], {"halting": False, "rule": "confidence"}),
    "one_star": _grid("one_star", 5, ["5, one star", "10, one star", "10"], THROUGH_WALLS | {"max_stars": 1}),
    "through_walls": _grid("through_walls", 5, ["5", "10", "20"], THROUGH_WALLS),
    "prior": _grid("prior", 3, ["5", "20"], *PRIORS),
    "recipes": _grid("recipes", 3, ["5", "20"], *RECIPES),
}
