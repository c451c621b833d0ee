"""Stored runs of lesson 11: the judges of HRM and TRM, on lines of two, three and five values, and their controls."""

import time
from typing import Any

import torch

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.judges.experiment import learn, measure
from ponder_course.judges.task import SumTask
from ponder_course.ways_to_stop.problems import LINE_TESTS
from ponder_evidence.runs import Experiment

TESTS = {test: LINE_TESTS[test] for test in ("16 places", "64 places")}


def run(
    judge: str,
    n_values: int,
    discount: float,
    price: float,
    seed: int,
    head: str = "product",
    refill: bool = True,
    **recipe: Any,
) -> Row:
    """Train a step and `measure` it: {"tests": {test: what that returns}, "cpu_seconds": of the training}."""
    start = time.process_time()
    step = learn(judge, n_values, discount, price, seed, recipe, head, refill)
    row: Row = {"tests": {}, "cpu_seconds": time.process_time() - start}
    for test_seed, (test, (size, N, n_lines, _)) in enumerate(TESTS.items(), start=101):
        x, y = SumTask(size, n_values=n_values).batch(n_lines, torch.Generator().manual_seed(test_seed))
        row["tests"][test] = measure(step, x, y, N)
    return rounded(row)


JUDGES: dict[str, Row] = {
    "TRM": {"judge": "TRM", "discount": 1.0, "price": 0.0},
    "HRM": {"judge": "HRM", "discount": 1.0, "price": 0.0},
    "HRM, a discount": {"judge": "HRM", "discount": 0.95, "price": 0.0},
    "HRM, a price": {"judge": "HRM", "discount": 1.0, "price": 0.005},  # that of lesson 06's table
}
RECIPE: Row = {"size": 16, "N": 20, "batch": 128, "lr": 4e-3, "clip": 1.0}
UPDATES = {2: 3000, 3: 4000, 5: 5000}  # by the values of a place


def kinds(judges: list[str], values: list[int], **changed: Any) -> list[Row]:
    """Return the settings of these judges on lines of these numbers of values, but for what is changed."""
    recipes = []
    for n_values in values:
        for name in judges:
            recipes.append(RECIPE | JUDGES[name] | {"n_values": n_values, "updates": UPDATES[n_values]} | changed)
    return recipes


def experiment(name: str, settings: list[Row], seeds: int) -> Experiment:
    """Return the experiment with these settings, seed by seed."""
    short = [setting | {"updates": 5, "batch": 8} for setting in seeded(settings, 1)]
    return Experiment(f"11_judges_{name}", run, seeded(settings, seeds, seed_by_seed=True), short)


EXPERIMENTS = {
    "main": experiment("main", kinds([*JUDGES], [2, 5]), 10),
    "three values": experiment("three_values", kinds(["TRM", "HRM", "HRM, a discount"], [3]), 5),
    "a mean": experiment("mean", kinds(["TRM", "HRM, a discount"], [2, 5], head="mean"), 5),
    "no refilling": experiment("no_refilling", kinds(["TRM"], [2, 5], refill=False), 5),
}
