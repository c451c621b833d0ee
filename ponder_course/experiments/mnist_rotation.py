"""The experiments of lesson 04: which networks are trained and measured, and what their runs say of halting."""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

from torch import Tensor

from ponder_course.experiments import mnist_turning as turning
from ponder_course.experiments.light_cone import between
from ponder_course.experiments.mnist_reading import BUDGETS, learn, recipe
from ponder_course.results import chosen
from ponder_course.experiments.mnist_turning import ANGLES
from ponder_utils.tasks.digits import DigitSet, load_digits

DEPTHS = {"CNN": (1, 4, 20), "conv": (1, 5, 10)}
# What is changed in the recipe, one thing at a time; the names are those of the figures.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing changed": ("CNN", {}),
    "loss of the batch": ("CNN", {"loss": "batch mean"}),
    "trained on upright digits": ("CNN", {"within": 0.0}),
    "no prior (beta = 0)": ("CNN", {"beta": 0.0}),
    "stronger prior (beta = 0.1)": ("CNN", {"beta": 0.1}),
    "longer prior (lambda_p = 0.1)": ("CNN", {"lambda_p": 0.1}),
    "shorter prior (lambda_p = 0.5)": ("CNN", {"lambda_p": 0.5}),
    "patches": ("conv", {}),
    "patches, weaker prior (beta = 0.1)": ("conv", {"beta": 0.1}),
}
LONG: dict[str, tuple[str, dict[str, Any]]] = {
    "nothing changed": ("CNN", {}),
    "loss of the batch": ("CNN", {"loss": "batch mean"}),
    "loss of the batch, KL reversed": ("CNN", {"loss": "batch mean, KL reversed"}),
    "patches": ("conv", {}),
}


def fixed(network: str, depth: int) -> tuple[str, dict[str, Any]]:
    """A network of fixed depth, trained for the answer of its last step, as a variant."""
    return network, {"loss": "last step", "N": depth, "lambda_p": 1.0, "beta": 0.0}


def run(budget: str, folder: str, data: str, **setting: Any) -> dict[str, Any]:
    """Train a network of this setting, and `turning.measure` it; also the updates that it made."""
    digits = _digits(data, folder)
    model, made = learn(digits, budget, **setting)
    x, y = (part[: BUDGETS[budget].n_test] for part in digits.test)
    return turning.measure(model, x, y, setting["loss"] == "last step") | {"updates_made": made}


def run_closer(budget: str, folder: str, data: str, **setting: Any) -> dict[str, Any]:
    """Train a network of this setting, and `turning.look_closer`."""
    digits = _digits(data, folder)
    model, made = learn(digits, budget, **setting)
    found = turning.look_closer(model, digits, setting["loss"] == "last step", _ambiguous(data, folder))
    return found | {"updates_made": made}


@lru_cache(maxsize=1)
def _digits(data: str, folder: str) -> DigitSet:
    return load_digits("mnist" if data == "MNIST" else "digits", folder)


@lru_cache(maxsize=1)
def _ambiguous(data: str, folder: str) -> Tensor:
    return turning.ambiguous(_digits(data, folder))


# Of each experiment: the budget, the run, and its variants with the number of seeds.
EXPERIMENTS: dict[str, tuple[str, Callable[..., Any], list[tuple[str, dict[str, Any], int]]]] = {
    "class": (
        "class",
        run,
        [(*variant, 5) for variant in VARIANTS.values()]
        + [(*fixed(network, depth), 5) for network, depths in DEPTHS.items() for depth in depths],
    ),
    "paper": (
        "paper",
        run,
        [(*variant, 3 if name == "loss of the batch" else 5) for name, variant in LONG.items()],
    ),
    "closer": ("class", run_closer, [("conv", {}, 10), (*fixed("conv", 5), 10), ("CNN", {}, 6)]),
}


def settings(experiment: str, data: str = "MNIST") -> list[dict[str, Any]]:
    """The settings of an experiment, seed by seed."""
    budget, _, variants = EXPERIMENTS[experiment]
    return [recipe(network, data, budget) | change | {"seed": seed}
            for network, change, seeds in variants for seed in range(seeds)]  # fmt: skip


def runner(experiment: str, folder: str) -> Callable[..., dict[str, Any]]:
    """What makes a run of the experiment from its setting; MNIST is in the folder."""
    budget, call, _ = EXPERIMENTS[experiment]
    return partial(call, budget, str(folder))


def short(experiment: str) -> list[dict[str, Any]]:
    """One run of ten updates for each variant of an experiment, on the small digits; `smoke` makes them."""
    return [its | {"updates": 10} for its in settings(experiment, "the small digits") if its["seed"] == 0]


def smoke(experiment: str) -> Callable[..., dict[str, Any]]:
    """What makes the `short` runs, on few test digits."""
    return partial(EXPERIMENTS[experiment][1], "smoke", "")


# What runs say --------------------------------------------------------------------------------------------------------


def of_variant(
    rows: Iterable[dict[str, Any]], variant: tuple[str, dict[str, Any]], budget: str, smoke: bool = False
) -> list[dict[str, Any]]:
    """The rows of a variant at this budget (or of its `short` runs), whatever their data and seed."""
    network, change = variant
    wanted = recipe(network, "", budget) | change | ({"updates": 10} if smoke else {})
    del wanted["data"]
    return chosen(rows, **wanted)


def sideways(rows: Iterable[dict[str, Any]], degrees: int = 90) -> list[float]:
    """The change of expected steps from upright to turned by so many degrees, for every run."""
    return [row["steps"][ANGLES.index(degrees)] - row["steps"][0] for row in rows]


def wider(rows: Iterable[dict[str, Any]]) -> list[float]:
    """The write-ups' test: expected steps within 90 degrees less those within 22.5."""
    return [row["steps_within"][-1] - row["steps_within"][0] for row in rows]


def mistaken(rows: Iterable[dict[str, Any]], degrees: int = 0) -> list[float]:
    """Expected steps of wrong answers less those of right ones, all turned by so many degrees.

    A network without wrong answers has no steps for them, and is left out.
    """
    at = ANGLES.index(degrees)
    changes = [row["wrong"][at] - row["right"][at] for row in rows]
    return [change for change in changes if change == change]


def longer(rows: Iterable[dict[str, Any]], whom: str) -> list[float]:
    """What `look_closer` found of these digits; a network for which there are none, or no others, is left out."""
    found = [row["longer"][whom] for row in rows]
    return [change for change in found if change == change]


def gains(rows: Iterable[dict[str, Any]], rule: str) -> list[float]:
    """What halting by this rule adds to the share right at home, beside the same mean number of steps for all.

    Sampling is exact, the mean over all draws; those of `by_rule` are the same for every network, and so is their luck.
    """
    found = []
    for row in rows:
        if row.get("rules"):
            exact = rule == "sample" and "steps_within" in row
            steps, right = (row["steps_within"][0], row["accuracy_within"][0]) if exact else row["rules"][rule]
            found.append(right - between(row.get("by_step_within") or row["by_step"], steps))
    return found
