"""What lesson 04 compares: recipes of networks that read rotated digits, what is measured, and what runs say."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.optim.lr_scheduler import ReduceLROnPlateau

from ponder_course.common.digits import DigitSet
from ponder_course.common.measures import mean, same_for_all, score
from ponder_course.common.runs import rounded
from ponder_course.common.store import Row
from ponder_course.mnist_rotation.task import rotated_by, rotated_within
from ponder_utils.evaluation import class_correct, evaluate
from ponder_utils.halting import average
from ponder_utils.pondernet import PonderNet
from ponder_utils.training import cool_down

BATCHES = {"CNN": 128, "conv": 64}
CNN: Row = {"network": "CNN", "loss": "per sample", "within": 22.5, "N": 20, "lambda_p": 0.2, "beta": 0.01}
PATCHES: Row = {"network": "conv", "loss": "per sample", "within": 22.5, "N": 10, "lambda_p": 0.3, "beta": 0.2}
RECIPES = {"CNN": CNN, "conv": PATCHES}


@dataclass(frozen=True)
class Budget:
    """How long a network of each kind learns, how fast, and on how many test digits it is measured."""

    updates: dict[str, int]
    lr: dict[str, float]
    n_test: int
    patience: int | None = None  # learn until so many evaluations, one each epoch, have brought no new best

    def options(self, network: str, n_updates: int, n_train: int) -> Row:
        """Return the arguments of `train` that say how lr falls, and when the network is evaluated."""
        if not self.patience:
            return {"schedule": cool_down(n_updates), "log_every": max(1, n_updates // 10)}
        by_ten = partial(ReduceLROnPlateau, mode="max", patience=2)  # after three epochs without a new best
        stop = {"monitor": "accuracy", "patience": self.patience}
        return {"schedule": by_ten, "log_every": n_train // BATCHES[network], **stop}


BUDGETS = {
    "smoke": Budget({"CNN": 30, "conv": 30}, {"CNN": 3e-3, "conv": 3e-3}, n_test=100),
    "class": Budget({"CNN": 1100, "conv": 1500}, {"CNN": 3e-3, "conv": 3e-3}, n_test=2000),
    "paper": Budget({"CNN": 8600, "conv": 17200}, {"CNN": 1e-3, "conv": 3e-3}, n_test=10_000, patience=6),
}


def validation(digits: DigitSet, budget: str, within: float = 22.5) -> Callable[..., Row]:
    """Return for `train` the `score` on validation digits."""
    n = None if BUDGETS[budget].patience else 1000  # all where they decide when to stop
    x, y = digits.validation.x[:n], digits.validation.y[:n]
    x = rotated_within(x, within, torch.Generator(x.device).manual_seed(1))
    return partial(score, x=x, y=y, correct=class_correct)


ANGLES = list(range(0, 181, 15))  # every digit turned by exactly so many degrees
RANGES = [22.5, 45, 67.5, 90]  # each by an angle of its own, within so many degrees to both sides; the first is home


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


def range_adds(rows: Iterable[Row]) -> list[float]:
    """Return the write-ups' test: expected steps within 90 degrees less those within 22.5."""
    return [row["steps_within"][-1] - row["steps_within"][0] for row in rows]


def gains(rows: Iterable[Row], rule: str) -> list[float]:
    """Return what halting by this rule adds to the accuracy at home, beside the same mean number of steps for all."""
    found = []
    for row in rows:
        steps, right = row["rules"][rule]
        if rule == "sample" and "steps_within" in row:  # the mean over all draws, without the luck of one
            steps, right = row["steps_within"][0], row["accuracy_within"][0]
        found.append(right - same_for_all(row.get("by_step_within") or row["by_step"], steps))
    return found
