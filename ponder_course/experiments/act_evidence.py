"""Which runs stand behind the evidence on ACT's own tasks, apart from what a run is."""

from typing import Any

from ponder_course.experiments import act_characters, act_tasks
from ponder_course.runs import Experiment


def _experiment(
    task: str, length: int, levels: int, kinds: dict[str, list[float]], seeds: int, **how: Any
) -> Experiment:
    settings = [
        {"task": task, "length": length, "levels": levels, "kind": kind, "hyperparameter": value, "seed": seed, **how}
        for kind, values in kinds.items()
        for value in values
        for seed in range(seeds)
    ]  # fmt: skip
    short = [setting | {"updates": 4, "n_test": 60} for setting in settings if setting["seed"] == 0]
    return Experiment(f"09_act_tasks_{task}", act_tasks.run, settings, short)


LOGIC_KINDS: dict[str, list[float]] = {
    "ACT": [0.1, 0.03, 0.3], "fixed": [1, 4], "PonderNet": [0.2], "every step": [0],
}  # fmt: skip
_CHARACTERS = [{"tau": tau, "seed": seed} for tau in (6e-3, None) for seed in range(3)]
EXPERIMENTS = {
    "logic": _experiment("logic", 3, 4, LOGIC_KINDS, 5, updates=1800),
    "addition": _experiment("addition", 3, 3, {"ACT": [0.1], "fixed": [1, 8]}, 5, updates=1500),
    "sort": _experiment("sort", 5, 5, {"ACT": [0.1], "fixed": [1, 5]}, 5, updates=1500),
    "characters": Experiment(
        "09_act_tasks_characters", act_characters.run, _CHARACTERS, [{"tau": 6e-3, "seed": 0, "updates": 3}]
    ),
}
