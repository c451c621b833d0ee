"""The stored runs of lesson 04: how they are trained, and about which digits they think longer."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import ReduceLROnPlateau

from ponder_course.common.digits import DigitSet, load_digits
from ponder_course.common.measures import best_halting, mean, score
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import Loss, fit
from ponder_course.mnist_rotation import experiment as rotation
from ponder_course.mnist_rotation.experiment import BUDGETS, CNN, PATCHES
from ponder_course.mnist_rotation.task import RotationTask, rotated_by, rotated_within
from ponder_evidence.runs import Experiment, grid
from ponder_utils.evaluation import class_correct, evaluate
from ponder_utils.halting import expected_steps
from ponder_utils.losses import FixedDepthLoss, LossTerms, PonderLoss, RegularizationLoss
from ponder_utils.pondernet import PonderNet, PonderOutput
from ponder_utils.training import cool_down

CRITERION = nn.CrossEntropyLoss(reduction="none")
PATIENCE = 6  # of the paper's budget: learn until so many evaluations, one each epoch, have brought no new best
DEPTHS = {"CNN": (1, 4, 20), "conv": (1, 5, 10)}


def of_fixed_depth(network: str, depth: int) -> Row:
    """Return the recipe of a network that takes so many steps for every digit, and learns from the last answer."""
    return rotation.RECIPES[network] | {"loss": "last step", "N": depth, "lambda_p": 1.0, "beta": 0.0}


class FixedDepthNet(PonderNet):
    """A network that always takes its N steps: p_N = 1, whatever its halting head says."""

    def forward(self, x: Tensor, max_steps: int | None = None) -> PonderOutput:
        """Run all N steps. x: [batch, ...]."""
        output = super().forward(x, max_steps)
        log_p = torch.full_like(output.log_p, -torch.inf)
        log_p[-1] = 0
        return output._replace(log_p=log_p)


def batch_mean_loss(lambda_p: float, beta: float, direction: str) -> Loss:
    """Return the write-ups' loss: p_n of each sample weighs the loss at step n *averaged over the batch*."""
    regularization_loss = RegularizationLoss(lambda_p, direction=direction)

    def loss(output: PonderOutput, y: Tensor) -> LossTerms:
        by_step = torch.stack([cross_entropy(y_n, y) for y_n in output.y_hat])  # [N]
        reconstruction = (output.log_p.exp() * by_step[:, None]).sum(0).mean()
        regularization = regularization_loss(output)
        return LossTerms(reconstruction + beta * regularization, reconstruction, regularization)

    return loss


LOSSES: dict[str, Callable[[float, float], Loss]] = {  # (lambda_p, beta) -> loss
    "per sample": partial(PonderLoss, CRITERION),
    "batch mean": partial(batch_mean_loss, direction="p||p_G"),
    "batch mean, KL reversed": partial(batch_mean_loss, direction="p_G||p"),
    "last step": lambda lambda_p, beta: FixedDepthLoss(CRITERION, every_step=False),
}


def validation(digits: DigitSet, budget: str, within: float) -> Callable[..., Row]:
    """Return for `train` the `score` on validation digits."""
    n = None if budget == "paper" else 1000  # all where they decide when to stop
    x, y = digits.validation.x[:n], digits.validation.y[:n]
    x = rotated_within(x, within, torch.Generator(x.device).manual_seed(1))
    return partial(score, x=x, y=y, correct=class_correct)


def batch_of(network: str) -> int:
    """Return how many digits a batch of this network has."""
    return rotation.OF_LESSON[rotation.NAMES[network]].batch


def schedule_of(budget: str, network: str, n_updates: int, n_train: int) -> Row:
    """Return the arguments of `train` that say how lr falls, and when the network is evaluated."""
    if budget != "paper":
        return {"schedule": cool_down(n_updates), "log_every": max(1, n_updates // 10)}
    by_ten = partial(ReduceLROnPlateau, mode="max", patience=2)  # after three epochs without a new best
    stop = {"monitor": "accuracy", "patience": PATIENCE}
    return {"schedule": by_ten, "log_every": n_train // batch_of(network), **stop}


def learn(
    digits: DigitSet, budget: str, *, network: str, loss: str, N: int, updates: int, seed: int, **recipe: float
) -> tuple[PonderNet, list[Row]]:
    """Train a network by a recipe; return it in evaluation mode, and its log."""
    torch.manual_seed(seed)
    make_net = FixedDepthNet if loss == "last step" else PonderNet
    model = make_net(rotation.STEPS[network](), N).to(digits.train.x.device)
    draw = partial(RotationTask(*digits.train, recipe["within"]).batch, batch_of(network))
    evaluate_on = validation(digits, budget, recipe["within"])
    options = schedule_of(budget, network, updates, len(digits.train.y))
    options |= {"lr": BUDGETS[budget].lr[network], "clip": 0.5, "seed": seed, "evaluate": evaluate_on}
    return fit(model, LOSSES[loss](recipe["lambda_p"], recipe["beta"]), draw, updates, **options)


@torch.no_grad()
def right_and_wrong_steps(model: PonderNet, x: Tensor, y: Tensor) -> tuple[float, float]:
    """Return the mean expected steps of right answers, and of wrong ones: images weighed by how likely they are so."""
    y_hat, _, log_p = model(x)
    right = (log_p.exp() * class_correct(y_hat, y)).sum(0)  # [batch]
    steps = expected_steps(log_p)
    return ((right * steps).sum() / right.sum()).item(), (((1 - right) * steps).sum() / (1 - right).sum()).item()


def measure(model: PonderNet, digits: DigitSet, n_test: int) -> Row:
    """Measure a network on the first test images as the lesson does, and the steps of right and of wrong answers."""
    x, y = digits.test.x[:n_test], digits.test.y[:n_test]
    row = rotation.measure(model, x, y)
    if isinstance(model, FixedDepthNet):
        row["rules"] = {}  # it does not halt
    by_answer = [right_and_wrong_steps(model, rotated_by(x, degrees), y) for degrees in rotation.ANGLES]
    return row | rounded({"right": [right for right, _ in by_answer], "wrong": [wrong for _, wrong in by_answer]})


@lru_cache(maxsize=1)  # the same for every network
def ambiguous(digits: DigitSet, n_known: int = 5000) -> Tensor:
    """Return which test digits have five nearest training images of more than one class: bool [n_test]."""
    known, labels = rotated_by(digits.train.x[:n_known], 0).flatten(1), digits.train.y
    nearest = torch.cdist(rotated_by(digits.test.x, 0).flatten(1), known).topk(5, largest=False).indices
    return (labels[nearest] != labels[nearest[:, :1]]).any(1)


def right_late(right: Tensor) -> tuple[Tensor, Tensor]:
    """Return which digits are right late on the way to the best step, and which there at all: [N, batch] -> [batch]."""
    right = right[: int(right.float().mean(1).argmax()) + 1]
    n = torch.arange(1, len(right) + 1, device=right.device)[:, None]
    last_wrong = (n * ~right).amax(0)
    return last_wrong > last_wrong[right[-1]].median(), right[-1]


def more_steps(steps: Tensor, group: Tensor) -> float:
    """Return the mean steps of a group less those of the others. steps, group: [batch]."""
    return (steps[group].mean() - steps[~group].mean()).item()


@torch.no_grad()
def measure_closely(model: PonderNet, digits: DigitSet) -> Row:
    """Measure on all test images at home what halting buys, and about which digits a network thinks longer."""
    x, y = rotation.at_home(digits.test.x), digits.test.y
    upright, turned = rotated_by(digits.test.x, 0), rotated_by(digits.test.x, 90)
    y_hat, _, log_p = model(x)
    right, steps, at_0 = class_correct(y_hat, y), expected_steps(log_p), evaluate(model, upright, y, class_correct)
    row: Row = {"by_step": right.float().mean(1).tolist()}
    if isinstance(model, FixedDepthNet):
        return rounded(row | {"by_step_upright": at_0.accuracy_by_step})
    at_90, is_ambiguous = evaluate(model, turned, y, class_correct), ambiguous(digits)
    is_late, known = right_late(right)
    right_0, wrong_0 = right_and_wrong_steps(model, upright, y)
    right_90, wrong_90 = right_and_wrong_steps(model, turned, y)
    sampled = [mean(steps), mean((log_p.exp() * right).sum(0))]
    row["rules"] = rotation.by_rule(model, x, y) | {"sample": sampled}
    row["ever"] = mean(right.any(0))
    # The most that any choice of a step for each digit reaches in the steps of the quantile rule, labels being known.
    row["hindsight"] = float(np.interp(row["rules"]["quantile"][0], *best_halting(right.float())))
    row["longer"] = {  # expected steps of these digits less those of the others
        "late": more_steps(steps[known], is_late[known]),
        "ambiguous": more_steps(steps, is_ambiguous),
        "wrong": wrong_0 - right_0,
        "wrong, at 90 degrees": wrong_90 - right_90,
        "turned by 90 degrees": at_90.steps - at_0.steps,
    }
    row["fractions"] = {"late": mean(is_late & known), "ambiguous": mean(is_ambiguous)}
    return rounded(row | {"p": at_0.p, "by_step_90": at_90.accuracy_by_step})


_digits = lru_cache(maxsize=1)(load_digits)


def run(*, budget: str, data: str, folder: str = "data", closely: bool = False, **setting: Any) -> Row:
    """Train a network of this setting, and `measure` it, or `measure_closely`. folder: where MNIST is."""
    digits = _digits("mnist" if data == "MNIST" else "digits", folder)
    model, log = learn(digits, budget, **setting)
    row = measure_closely(model, digits) if closely else measure(model, digits, BUDGETS[budget].n_test)
    return row | {"updates_made": log[-1]["update"]}


# What is changed in the recipes, one thing at a time; the names are those of the figures.
VARIANTS = {
    "nothing changed": CNN,
    "loss of the batch": CNN | {"loss": "batch mean"},
    "trained on upright digits": CNN | {"within": 0.0},
    "no prior (beta = 0)": CNN | {"beta": 0.0},
    "stronger prior (beta = 0.1)": CNN | {"beta": 0.1},
    "longer prior (lambda_p = 0.1)": CNN | {"lambda_p": 0.1},
    "shorter prior (lambda_p = 0.5)": CNN | {"lambda_p": 0.5},
    "patches": PATCHES,
    "patches, weaker prior (beta = 0.1)": PATCHES | {"beta": 0.1},
}
OF_PATCHES = [PATCHES | change for change in ({"beta": 0.0}, {"lambda_p": 0.5}, {"lambda_p": 0.1})]  # other priors
LONG = {
    "nothing changed": CNN,
    "loss of the batch": CNN | {"loss": "batch mean"},
    "loss of the batch, KL reversed": CNN | {"loss": "batch mean, KL reversed"},
    "patches": PATCHES,
}


def _grid(name: str, budget: str, recipes: Iterable[Row], n_seeds: Sequence[int], closely: bool = False) -> Experiment:
    settings = []
    for recipe, n in zip(recipes, n_seeds, strict=True):
        plan = {"data": "MNIST"} | recipe | {"updates": BUDGETS[budget].updates[recipe["network"]]}
        settings += seeded([plan], n)
    call = partial(run, budget=budget, closely=closely)
    short = {"data": "the small digits", "updates": 10}
    return grid(f"04_mnist_rotation_{name}", call, settings, short, n_short=len(n_seeds))


FIXED = [of_fixed_depth(network, depth) for network, depths in DEPTHS.items() for depth in depths]
EXPERIMENTS = {
    "class": _grid("class", "class", [*VARIANTS.values(), *FIXED, *OF_PATCHES], [5] * 15 + [2] * 3),
    "paper": _grid("paper", "paper", LONG.values(), [5, 3, 5, 5]),
    "closer": _grid("closer", "class", [PATCHES, of_fixed_depth("conv", 5), CNN], [10, 10, 6], closely=True),
}


def error_adds(rows: Iterable[Row], degrees: int = 0) -> list[float]:
    """Return expected steps of wrong answers less those of right ones, of the networks that have wrong ones."""
    angle = rotation.ANGLES.index(degrees)
    changes = [row["wrong"][angle] - row["right"][angle] for row in rows]
    return [change for change in changes if not math.isnan(change)]


def group_adds(rows: Iterable[Row], group: str) -> list[float]:
    """Return how much longer the networks think about these digits, where there are some, and others."""
    return [row["longer"][group] for row in rows if not math.isnan(row["longer"][group])]


def range_adds(rows: Iterable[Row]) -> list[float]:
    """Return the write-ups' test: expected steps within 90 degrees less those within 22.5."""
    return [row["steps_within"][-1] - row["steps_within"][0] for row in rows]
