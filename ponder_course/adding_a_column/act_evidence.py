"""Which runs stand behind the evidence on ACT's own tasks, apart from what a run is."""

from typing import Any

from ponder_course.adding_a_column import act_characters, act_tasks
from ponder_course.common.runs import Experiment


def _experiment(
    task: str, length: int, levels: int, kinds: dict[str, list[float]], seeds: int = 5, name: str = "", **how: Any
) -> Experiment:
    settings = [
        {"task": task, "length": length, "levels": levels, "kind": kind, "hyperparameter": value, "seed": seed, **how}
        for kind, values in kinds.items()
        for value in values
        for seed in range(seeds)
    ]  # fmt: skip
    short = [setting | {"updates": 4, "n_test": 60} for setting in settings if setting["seed"] == 0]
    return Experiment(f"09_act_tasks_{name or task}", act_tasks.run, settings, short)


LARGER: dict[str, Any] = {"hidden": 96, "lr": 4e-3, "raise_at": 0.9}
BOTH: dict[str, list[float]] = {"ACT": [0.1], "fixed": [1]}
ALL: dict[str, list[float]] = {"ACT": [0.1], "fixed": [1, 4], "PonderNet": [0.2], "every step": [0]}
_CHARACTERS = [{"tau": tau, "seed": seed} for tau in (6e-3, 0.1, None) for seed in range(5)]
EXPERIMENTS = {
    "logic": _experiment("logic", 3, 4, ALL | {"ACT": [0.03, 0.1, 0.3], "fixed": [1, 6]}, updates=1800),
    "addition": _experiment("addition", 2, 2, ALL, updates=800, N=4, **LARGER),
    "more_numbers": _experiment("addition", 3, 2, BOTH, name="addition_3_numbers", updates=1000, N=5, **LARGER),
    "more_digits": _experiment("addition", 3, 3, BOTH, name="addition_3_digits", updates=1500, N=5, **LARGER),
    "sort": _experiment("sort", 4, 4, ALL, updates=800, N=4, **LARGER),
    "characters": Experiment(
        "09_act_tasks_characters", act_characters.run, _CHARACTERS, [{"tau": 6e-3, "seed": 0, "updates": 3}]
    ),
}
