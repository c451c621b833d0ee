"""Ten networks of each kind of lesson 08 that chose nothing: its recipe was chosen while the main ones were there."""

from typing import Any

from ponder_course.alone_and_together.experiment import measure, test_inputs
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_evidence.alone_and_together.experiment import N_NODES, TEST_STEPS, asked, first_sensitive_step, learn
from ponder_evidence.runs import grid


def counted(row: Row) -> Row:
    """Return what `measure` found, and of how many nodes: how many halt too early, or wrong.

    A fraction with four places hides the rare ones.
    """
    n_nodes = sum(part["nodes"] for part in row["by_depth"].values())
    counts = {"n_asked": n_nodes, "n_early": round(row["early"] * n_nodes)}
    return row | counts | {"n_wrong": round((1 - row["nodes"]) * n_nodes)}


def run(seed: int, memory: str, **setting: Any) -> Row:
    """Train a network and measure it, as the main experiment does, but `counted`."""
    model = learn(seed, memory, **setting)
    x = test_inputs(setting.get("n_nodes", N_NODES))
    row = counted(measure(model, x, TEST_STEPS))
    felt = first_sensitive_step(model.step, x[-10:], TEST_STEPS)
    return rounded(row | {"asked": asked(model.step, x[-50:]), "felt": felt})


SETTINGS = seeded([{"memory": "current"}, {"memory": "initial"}], range(10, 20), seed_by_seed=True)
SHORT = {"updates": 5, "n_nodes": 8, "size": 16}
EXPERIMENTS = {"fresh": grid("08_forests_fresh", run, SETTINGS, SHORT, n_short=2)}
