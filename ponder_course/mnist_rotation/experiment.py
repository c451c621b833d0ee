"""What lesson 04 compares: recipes of networks that read rotated digits, what is measured, and what runs say."""

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from ponder_course.common.measures import mean, same_for_all
from ponder_course.common.runs import rounded
from ponder_course.common.store import Row
from ponder_course.mnist_rotation import patches
from ponder_course.mnist_rotation.lesson import CNNFirst, Recipe
from ponder_course.mnist_rotation.task import rotated_by, rotated_within
from ponder_utils.evaluation import class_correct, evaluate
from ponder_utils.halting import average
from ponder_utils.pondernet import PonderNet

ANGLES = list(range(0, 181, 15))  # every digit turned by exactly so many degrees
RANGES = [22.5, 45, 67.5, 90]  # each by an angle of its own, within so many degrees to both sides; the first is home
NAMES = {"CNN": "CNN first", "conv": "patches"}  # in stored runs, and in the lesson


STEPS = {"CNN": CNNFirst, "conv": patches.Patches}
OF_LESSON = {"CNN first": Recipe(), "patches": patches.RECIPE}


def recipe_of(network: str) -> Row:
    """Return the recipe of the lesson's network of this name as stored runs have it."""
    recipe = OF_LESSON[NAMES[network]]
    row = {"network": network, "loss": "per sample", "within": RANGES[0]}
    return row | {"N": recipe.N, "lambda_p": recipe.lambda_p, "beta": recipe.beta}


CNN, PATCHES = map(recipe_of, NAMES)
RECIPES = {"CNN": CNN, "conv": PATCHES}


class Budget(NamedTuple):
    """For how many updates a network of each kind learns, how fast, and on how many test digits it is measured."""

    updates: dict[str, int]
    lr: dict[str, float]
    n_test: int


OF_CLASS = {network: OF_LESSON[name].updates for network, name in NAMES.items()}
BUDGETS = {
    "smoke": Budget({"CNN": 30, "conv": 30}, {"CNN": 3e-3, "conv": 3e-3}, n_test=100),
    "class": Budget(OF_CLASS, {"CNN": 3e-3, "conv": 3e-3}, n_test=2000),
    "paper": Budget({"CNN": 8600, "conv": 17200}, {"CNN": 1e-3, "conv": 3e-3}, n_test=10_000),
}


def at_home(x: Tensor, within: float = RANGES[0]) -> Tensor:
    """Return test images turned within so many degrees, the same for every network on the device."""
    return rotated_within(x, within, torch.Generator(x.device).manual_seed(2))


@torch.no_grad()
def by_rule(model: PonderNet, x: Tensor, y: Tensor) -> dict[str, list[float]]:
    """Return {rule: [steps computed, accuracy]}, means over the images."""
    generator = torch.Generator(x.device).manual_seed(0)
    rules = "sample", "quantile", "most_probable"
    predictions = {rule: model.predict(x, rule, generator=generator, check_every=1) for rule in rules}
    measured = {rule: [mean(one.computed), mean(class_correct(one.y_hat, y))] for rule, one in predictions.items()}
    output = model(x)
    expected = average(output.log_p.exp(), output.y_hat.softmax(-1))
    measured["expectation"] = [float(model.max_steps), mean(class_correct(expected, y))]
    return measured


def measure(model: PonderNet, x: Tensor, y: Tensor) -> Row:
    """Measure a network on test images x, uint8, with labels y; all but the rules is exact in the halting."""
    exactly = [evaluate(model, rotated_by(x, degrees), y, class_correct) for degrees in ANGLES]
    within = [evaluate(model, at_home(x, degrees), y, class_correct) for degrees in RANGES]
    row = {
        "accuracy": [score.accuracy for score in exactly],
        "steps": [score.steps for score in exactly],
        "accuracy_within": [score.accuracy for score in within],
        "steps_within": [score.steps for score in within],
        "by_step": exactly[0].accuracy_by_step,  # if every digit stops at step n
        "by_step_within": within[0].accuracy_by_step,
        "rules": by_rule(model, at_home(x), y),
    }
    return rounded(row)


def turning_adds(rows: Iterable[Row], degrees: int = 90) -> list[float]:
    """Return the change of expected steps from upright to turned by so many degrees, for every run."""
    return [row["steps"][ANGLES.index(degrees)] - row["steps"][0] for row in rows]


def gains(rows: Iterable[Row], rule: str) -> list[float]:
    """Return what halting by this rule adds to the accuracy at home, beside the same mean number of steps for all."""
    differences = []
    for row in rows:
        steps, right = row["rules"][rule]
        if rule == "sample" and "steps_within" in row:  # the mean over all draws, without the luck of one
            steps, right = row["steps_within"][0], row["accuracy_within"][0]
        differences.append(right - same_for_all(row.get("by_step_within") or row["by_step"], steps))
    return differences
