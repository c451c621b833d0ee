"""Ten networks of lesson 07 that chose nothing: its recipe was chosen while the ten of the main experiment were there.

What halts too early is counted, since a fraction with four places hides the rare ones.
"""

from typing import Any

import torch

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_evidence.map_of_thought.experiment import EXPERIMENTS as OTHERS
from ponder_evidence.map_of_thought.experiment import TESTS, learn, measure
from ponder_evidence.runs import grid


def counted(test: Row) -> Row:
    """Return what `measure` found, and of how many places that are asked: how many halt too early, or wrong."""
    n_places = sum(places for places, _ in test["by_need"].values())
    counts = {"n_asked": n_places, "n_early": round(test["early"] * n_places)}
    return test | counts | {"n_wrong": round((1 - test["places"]) * n_places)}


def run(seed: int, tests: list[str], q: float = 0.5, **setting: Any) -> Row:
    """Train a network and measure it: {test: what `counted` returns}."""
    model, measures = learn(seed, **setting), {}
    for name in tests:
        task, N, n_mazes = TESTS[name]
        x, _ = task.batch(n_mazes, torch.Generator().manual_seed(100))
        measures[name] = counted(measure(model, x, N, q=q)) | {"q": q}
    return rounded(measures)


(MAIN,) = {tuple(setting["tests"]) for setting in OTHERS["main"].settings}
SHORT = {"tests": [MAIN[0]], "phases": [[3, 12, 8, 5, 5e-3]], "channels": 8}
EXPERIMENTS = {"fresh": grid("07_mazes_fresh", run, seeded([{"tests": [*MAIN]}], range(10, 20)), SHORT)}
