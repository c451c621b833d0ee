"""Stored runs of lesson 01: how its networks, and the controls of a price that comes too early, were made."""

from collections.abc import Callable, Sequence
from typing import Any

from ponder_course.act_background.experiment import CHEAP, DEPTHS, EXPENSIVE, RECIPE, SIZES, TAUS, follow, run, stories
from ponder_course.common.store import Row
from ponder_evidence.runs import Experiment


def _experiment(name: str, run: Callable[..., Any], settings: list[Row], seeds: int, **short: Any) -> Experiment:
    settings = [setting | {"seed": seed} for setting in settings for seed in range(seeds)]
    return Experiment(f"01_act_{name}_class", run, settings, [settings[0] | short])


HALF = RECIPE["updates"] // 2
EARLY: Row = {"prices": [[EXPENSIVE, HALF], [CHEAP, 3 * HALF]]}
CONTROLS: list[Row] = [
    *({"prices": prices} for prices in stories(2 * HALF).values()),
    {"prices": [[1e-3, 2 * HALF]]},  # whose answer
    EARLY | {"reset": True},
    EARLY | {"depth": 2},
    {"prices": [[EXPENSIVE, 0], [CHEAP, 1500]], "depth": 2},  # two steps from the start
    {"prices": [[3e-2, HALF], [CHEAP, 3 * HALF]]},  # early, and less
]
GRIDS: dict[str, Sequence[float]] = {
    "fixed_depth": DEPTHS,
    "ACT": TAUS,
    "charged_late": [3e-2, 1e-1],
    "charged_early": [3e-2, 1e-1],
}
EXPERIMENTS: dict[str, Experiment] = {}
for name, values in GRIDS.items():
    settings = [RECIPE | {"kind": name.replace("_", " "), "hyperparameter": value} for value in values]
    EXPERIMENTS[name] = _experiment(name, run, settings, 10, updates=20)
settings = [RECIPE | {"kind": "long start", "hyperparameter": 1e-3}]
EXPERIMENTS["long_start"] = _experiment("long_start", run, settings, 5, updates=20)
settings = [SIZES | control for control in CONTROLS]
EXPERIMENTS["controls"] = _experiment("controls", follow, settings, 5, prices=[[EXPENSIVE, 20], [CHEAP, 20]])
