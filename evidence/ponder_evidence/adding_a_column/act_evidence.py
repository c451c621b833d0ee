"""Which runs stand behind the evidence on ACT's own tasks, apart from what a run is."""

from typing import Any

from ponder_course.common.runs import seeded
from ponder_course.common.store import Row
from ponder_evidence.adding_a_column import act_characters, act_tasks
from ponder_evidence.runs import Experiment, grid


def _grid(task: str, length: int, levels: int, kinds: dict[str, list[float]], name: str = "", **how: Any) -> Experiment:
    problem = {"task": task, "length": length, "levels": levels} | how
    pairs = [(kind, value) for kind, values in kinds.items() for value in values]
    settings = seeded([problem | {"kind": kind, "hyperparameter": value} for kind, value in pairs], 5)
    short = {"updates": 4, "n_test": 60}
    return grid(f"09_act_tasks_{name or task}", act_tasks.run, settings, short, n_short=len(pairs))


LARGER: Row = {"hidden": 96, "lr": 4e-3, "raise_at": 0.9}
BOTH: dict[str, list[float]] = {"ACT": [0.1], "fixed": [1]}
ALL: dict[str, list[float]] = {"ACT": [0.1], "fixed": [1, 4], "PonderNet": [0.2], "every step": [0]}
CHARACTERS = seeded([{"tau": tau} for tau in (6e-3, 0.1, None)], 5)
EXPERIMENTS = {
    "logic": _grid("logic", 3, 4, ALL | {"ACT": [0.03, 0.1, 0.3], "fixed": [1, 6]}, updates=1800),
    "addition": _grid("addition", 2, 2, ALL, updates=800, N=4, **LARGER),
    "more_numbers": _grid("addition", 3, 2, BOTH, name="addition_3_numbers", updates=1000, N=5, **LARGER),
    "more_digits": _grid("addition", 3, 3, BOTH, name="addition_3_digits", updates=1500, N=5, **LARGER),
    "sort": _grid("sort", 4, 4, ALL, updates=800, N=4, **LARGER),
    "characters": grid("09_act_tasks_characters", act_characters.run, CHARACTERS, {"updates": 3}),
}
