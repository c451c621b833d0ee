"""Stored runs of lesson 09: how its networks were trained and measured."""

from typing import Any

from ponder_course.adding_a_column.experiment import LENGTH, WIDE, WIDTH, draw_columns, halt, measure
from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.common.measures import mean
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_evidence.adding_a_column import silence
from ponder_evidence.adding_a_column.training import learn
from ponder_evidence.runs import Experiment, grid
from ponder_utils.sequences import PonderSequence

WIDTHS = (16, 32, 64, 128)


def waiting(model: PonderSequence, widths: Any = WIDTHS, n_columns: int = 40) -> dict[int, dict[str, float]]:
    """Return, for uniform numbers of each width, "sums" right, mean steps "computed" by `predict`, and "needed"."""
    found = {}
    for width in widths:
        x = draw_columns(width, 6, n_columns, rate=0.5)
        answer, right = halt(model, x, width + 10, q=0.5)
        found[width] = {
            "sums": mean(right),
            "computed": mean(answer.computed[1:]),
            "needed": mean(ColumnTask.needed_steps(x)[1:]),
        }
    return found


def run(seed: int, n_columns: int = 200, n_long: int = 100, **setting: Any) -> Row:
    """Train a network and measure it by `measure`, each number halting at lambda_n >= 0.5, or `always` at width + 2.

    "trained", "wide": columns twice as long as in training, at its width and four times that; "long", "wide and long":
    n_long numbers. "all N": the fraction of right sums at each number of the "long" columns if every number takes N
    steps; "fixed": that of the "trained" columns if every number takes n steps, [N]. "waiting": see there.
    """
    model, few = learn(seed, **setting), max(1, n_columns // 4)
    tests = {"trained": (WIDTH, 2 * LENGTH, n_columns), "wide": (WIDE, 2 * LENGTH, n_columns)}
    tests |= {"long": (WIDTH, n_long, few), "wide and long": (WIDE, n_long, few)}
    found: Row = {}
    for name, (width, numbers, n) in tests.items():
        how: Any = ("fixed", {"step": width + 2}) if setting.get("always") else ("threshold", {"q": 0.5})
        found[name] = measure(model, draw_columns(width, numbers, n), width + 10, how[0], **how[1])
    N = WIDTH + 10
    found["all N"] = measure(model, draw_columns(*tests["long"]), N, "fixed", step=N)["right"]
    x = draw_columns(*tests["trained"])
    found["fixed"] = [mean(halt(model, x, N, "fixed", step=n)[1]) for n in range(1, N + 1)]
    found["waiting"] = waiting(model, n_columns=few)
    return rounded(found)


SHORT: Row = {"channels": 8}
SHORT["phases"] = [[[3, 4], 2, 6, 8, 3, 5e-3, 0.15, 0.1], [[3, 5], 3, 6, 8, 3, 3e-3, 0.8, 0.03]]


def _grid(name: str, seeds: int, **change: Any) -> Experiment:
    settings = seeded([change], range(10, 10 + seeds))  # others were used to choose the recipe
    return grid(f"09_columns_{name}", run, settings, SHORT | {"n_columns": 8, "n_long": 10})


EXPERIMENTS = {
    "main": _grid("main", 10),
    "mean": _grid("mean", 3, carry="mean"),
    "always": _grid("always", 3, always=True),
    "price_first": _grid("price_first", 3, prices=[0.8, 0.03]),
    "silence": grid("09_columns_silence", silence.run, silence.HEADS_AND_SEEDS, SHORT | {"n_columns": 8}),
}
