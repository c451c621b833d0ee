"""The experiments of lesson 04: networks that read rotated digits, what is measured of them, and what runs say."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, softmax
from torch.optim.lr_scheduler import ReduceLROnPlateau

from ponder_course.common.measures import best_halting, same_for_all, score
from ponder_course.common.runs import Experiment, rounded
from ponder_course.common.store import Row
from ponder_course.mnist_rotation.digits import DigitSet, load_digits
from ponder_course.mnist_rotation.networks import ConvEncoder, ConvStep, MLPCell
from ponder_utils.evaluation import class_correct, evaluate
from ponder_utils.halting import expected_steps
from ponder_utils.losses import FixedDepthLoss, LossTerms, PonderLoss, RegularizationLoss
from ponder_utils.pondernet import PonderNet, PonderOutput
from ponder_utils.steps import EncodedStep, RecurrentStep
from ponder_utils.tasks.rotation import RotationTask, rotated_by, rotated_within
from ponder_utils.training import cool_down, train

LossFunction = Callable[[PonderOutput, Tensor], LossTerms]
CRITERION = nn.CrossEntropyLoss(reduction="none")
STEPS: dict[str, Callable[[], nn.Module]] = {
    # The write-ups' network: a CNN reads the image once, then a small two-layer network takes the steps.
    "CNN": lambda: EncodedStep(ConvEncoder(64), RecurrentStep(MLPCell(64, 64, dropout=0.2), n_outputs=10)),
    # A grid of 7 by 7 places: each knows one patch, and hears from its neighbours at every step.
    "conv": lambda: ConvStep(channels=16, patch=4, n_outputs=10),
}
BATCHES = {"CNN": 128, "conv": 64}
CNN: Row = {"network": "CNN", "loss": "per sample", "within": 22.5, "N": 20, "lambda_p": 0.2, "beta": 0.01}
PATCHES: Row = {"network": "conv", "loss": "per sample", "within": 22.5, "N": 10, "lambda_p": 0.3, "beta": 0.2}
RECIPES = {"CNN": CNN, "conv": PATCHES}
DEPTHS = {"CNN": (1, 4, 20), "conv": (1, 5, 10)}


def fixed(network: str, depth: int) -> Row:
    """Return the recipe of a network that takes so many steps for every digit, and learns from the last answer."""
    return RECIPES[network] | {"loss": "last step", "N": depth, "lambda_p": 1.0, "beta": 0.0}


class FixedDepthNet(PonderNet):
    """A network that always takes its N steps: p_N = 1, whatever its halting head says."""

    def forward(self, x: Tensor, max_steps: int | None = None) -> PonderOutput:
        """Run all N steps. x: [batch, ...]."""
        output = super().forward(x, max_steps)
        log_p = torch.full_like(output.log_p, -torch.inf)
        log_p[-1] = 0
        return output._replace(log_p=log_p)


def batch_mean_loss(lambda_p: float, beta: float, direction: str) -> LossFunction:
    """Return the write-ups' loss: p_n of each sample weighs the loss at step n *averaged over the batch*."""
    regularization_loss = RegularizationLoss(lambda_p, direction=direction)

    def loss(output: PonderOutput, y: Tensor) -> LossTerms:
        by_step = torch.stack([cross_entropy(y_n, y) for y_n in output.y_hat])  # [N]
        reconstruction = (output.log_p.exp() * by_step[:, None]).sum(0).mean()
        regularization = regularization_loss(output)
        return LossTerms(reconstruction + beta * regularization, reconstruction, regularization)

    return loss


LOSSES: dict[str, Callable[[float, float], LossFunction]] = {  # (lambda_p, beta) -> loss
    "per sample": partial(PonderLoss, CRITERION),
    "batch mean": partial(batch_mean_loss, direction="p||p_G"),
    "batch mean, KL reversed": partial(batch_mean_loss, direction="p_G||p"),
    "last step": lambda lambda_p, beta: FixedDepthLoss(CRITERION, every_step=False),
}


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
        return {"schedule": by_ten, "log_every": n_train // BATCHES[network], "patience": self.patience}


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


def learn(
    digits: DigitSet, budget: str, *, network: str, loss: str, within: float, N: int, lambda_p: float, beta: float,
    updates: int, seed: int,
) -> tuple[PonderNet, list[Row]]:  # fmt: skip
    """Train a network by a recipe; return it in evaluation mode, and its log."""
    torch.manual_seed(seed)
    make_net = FixedDepthNet if loss == "last step" else PonderNet
    model = make_net(STEPS[network](), N).to(digits.train.x.device)
    task, plan = RotationTask(*digits.train, within), BUDGETS[budget]
    log = train(
        model, LOSSES[loss](lambda_p, beta), lambda generator: task.batch(BATCHES[network], generator), updates,
        lr=plan.lr[network], clip=0.5, seed=seed, evaluate=validation(digits, budget, within), progress=False,
        **plan.options(network, updates, len(digits.train.y)),
    )  # fmt: skip
    return model.eval(), log


ANGLES = list(range(0, 181, 15))  # every digit turned by exactly so many degrees
RANGES = [22.5, 45, 67.5, 90]  # each by an angle of its own, within so many degrees to both sides; the first is home


def at_home(x: Tensor, within: float = RANGES[0]) -> Tensor:
    """Return test images turned within so many degrees, the same for every network on the device."""
    return rotated_within(x, within, torch.Generator(x.device).manual_seed(2))


@torch.no_grad()
def right_and_wrong_steps(model: PonderNet, x: Tensor, y: Tensor) -> tuple[float, float]:
    """Return the mean expected steps of right answers, and of wrong ones: images weighed by how likely they are so."""
    y_hat, _, log_p = model(x)
    right = (log_p.exp() * class_correct(y_hat, y)).sum(0)  # [batch]
    steps = expected_steps(log_p)
    return ((right * steps).sum() / right.sum()).item(), (((1 - right) * steps).sum() / (1 - right).sum()).item()


def by_rule(model: PonderNet, x: Tensor, y: Tensor) -> dict[str, list[float]]:
    """Return {rule: [steps computed, accuracy]}, means over the images."""
    generator = torch.Generator(x.device).manual_seed(0)
    rules = "sample", "quantile", "most_probable"
    predictions = {rule: model.predict(x, rule, generator=generator, check_every=1) for rule in rules}
    predictions["expectation"] = model.expectation(x, activation=partial(softmax, dim=-1))
    return {
        rule: [found.computed.float().mean().item(), class_correct(found.y_hat, y).float().mean().item()]
        for rule, found in predictions.items()
    }


def measure(model: PonderNet, x: Tensor, y: Tensor) -> Row:
    """Measure a network on test images x, uint8, with labels y; all but the rules is exact in the halting."""
    turned = [rotated_by(x, degrees) for degrees in ANGLES]
    exactly = [evaluate(model, images, y, class_correct) for images in turned]
    within = [evaluate(model, at_home(x, degrees), y, class_correct) for degrees in RANGES]
    by_answer = [right_and_wrong_steps(model, images, y) for images in turned]
    return rounded({
        "accuracy": [score.accuracy for score in exactly],
        "steps": [score.steps for score in exactly],
        "right": [right for right, _ in by_answer],
        "wrong": [wrong for _, wrong in by_answer],
        "accuracy_within": [score.accuracy for score in within],
        "steps_within": [score.steps for score in within],
        "by_step": exactly[0].accuracy_by_step,  # if every digit stops at step n
        "by_step_within": within[0].accuracy_by_step,
        "rules": {} if isinstance(model, FixedDepthNet) else by_rule(model, at_home(x), y),
    })  # fmt: skip


@lru_cache(maxsize=1)  # the same for every network
def ambiguous(digits: DigitSet, n_known: int = 5000) -> Tensor:
    """Return which test digits have five nearest training images of more than one class: bool [n_test]."""
    known, labels = rotated_by(digits.train.x[:n_known], 0).flatten(1), digits.train.y
    nearest = torch.cdist(rotated_by(digits.test.x, 0).flatten(1), known).topk(5, largest=False).indices
    return (labels[nearest] != labels[nearest[:, :1]]).any(1)


def late(right: Tensor) -> tuple[Tensor, Tensor]:
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
    x, y = at_home(digits.test.x), digits.test.y
    upright, turned = rotated_by(digits.test.x, 0), rotated_by(digits.test.x, 90)
    y_hat, _, log_p = model(x)
    right, steps, at_0 = class_correct(y_hat, y), expected_steps(log_p), evaluate(model, upright, y, class_correct)
    row: Row = {"by_step": right.float().mean(1).tolist()}
    if isinstance(model, FixedDepthNet):
        return rounded(row | {"by_step_upright": at_0.accuracy_by_step})
    at_90, is_ambiguous = evaluate(model, turned, y, class_correct), ambiguous(digits)
    is_late, known = late(right)
    right_0, wrong_0 = right_and_wrong_steps(model, upright, y)
    right_90, wrong_90 = right_and_wrong_steps(model, turned, y)
    sampled = [steps.mean().item(), (log_p.exp() * right).sum(0).mean().item()]
    row["rules"] = by_rule(model, x, y) | {"sample": sampled}
    row["ever"] = right.any(0).float().mean().item()
    # The most that any choice of a step for each digit reaches in the steps of the quantile rule, labels being known.
    row["hindsight"] = float(np.interp(row["rules"]["quantile"][0], *best_halting(right.float())))
    row["longer"] = {  # expected steps of these digits less those of the others
        "late": more_steps(steps[known], is_late[known]),
        "ambiguous": more_steps(steps, is_ambiguous),
        "wrong": wrong_0 - right_0,
        "wrong, at 90 degrees": wrong_90 - right_90,
        "turned by 90 degrees": at_90.steps - at_0.steps,
    }
    groups = {"late": is_late & known, "ambiguous": is_ambiguous}
    row["fractions"] = {name: group.float().mean().item() for name, group in groups.items()}
    return rounded(row | {"p": at_0.p, "by_step_90": at_90.accuracy_by_step})


_digits = lru_cache(maxsize=1)(load_digits)


def run(*, budget: str, data: str, folder: str = "data", closely: bool = False, **setting: Any) -> Row:
    """Train a network of this setting, and `measure` it, or `measure_closely`. folder: where MNIST is."""
    digits = _digits("mnist" if data == "MNIST" else "digits", folder)
    model, log = learn(digits, budget, **setting)
    n_test = BUDGETS[budget].n_test
    row = measure_closely(model, digits) if closely else measure(model, digits.test.x[:n_test], digits.test.y[:n_test])
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
LONG = {
    "nothing changed": CNN,
    "loss of the batch": CNN | {"loss": "batch mean"},
    "loss of the batch, KL reversed": CNN | {"loss": "batch mean, KL reversed"},
    "patches": PATCHES,
}


def experiment(name: str, budget: str, recipes: list[Row], n_seeds: list[int], closely: bool = False) -> Experiment:
    """Return the experiment that trains by each recipe so many seeds; short runs make ten updates on small digits."""
    settings = [
        {"data": "MNIST"} | recipe | {"updates": BUDGETS[budget].updates[recipe["network"]], "seed": seed}
        for recipe, n in zip(recipes, n_seeds, strict=True)
        for seed in range(n)
    ]
    short = [setting | {"data": "the small digits", "updates": 10} for setting in settings if setting["seed"] == 0]
    call = partial(run, budget=budget, closely=closely)
    return Experiment(f"04_mnist_rotation_{name}", call, settings, short)


FIXED = [fixed(network, depth) for network, depths in DEPTHS.items() for depth in depths]
EXPERIMENTS = {
    "class": experiment("class", "class", [*VARIANTS.values(), *FIXED], [5] * 15),
    "paper": experiment("paper", "paper", [*LONG.values()], [5, 3, 5, 5]),
    "closer": experiment("closer", "class", [PATCHES, fixed("conv", 5), CNN], [10, 10, 6], closely=True),
}


def sideways(rows: Iterable[Row], degrees: int = 90) -> list[float]:
    """Return the change of expected steps from upright to turned by so many degrees, for every run."""
    return [row["steps"][ANGLES.index(degrees)] - row["steps"][0] for row in rows]


def wider(rows: Iterable[Row]) -> list[float]:
    """Return the write-ups' test: expected steps within 90 degrees less those within 22.5."""
    return [row["steps_within"][-1] - row["steps_within"][0] for row in rows]


def mistaken(rows: Iterable[Row], degrees: int = 0) -> list[float]:
    """Return expected steps of wrong answers less those of right ones, of the networks that have wrong ones."""
    at = ANGLES.index(degrees)
    changes = [row["wrong"][at] - row["right"][at] for row in rows]
    return [change for change in changes if not math.isnan(change)]


def longer(rows: Iterable[Row], group: str) -> list[float]:
    """Return how much longer the networks think about these digits, where there are some, and others."""
    return [row["longer"][group] for row in rows if not math.isnan(row["longer"][group])]


def gains(rows: Iterable[Row], rule: str) -> list[float]:
    """Return what halting by this rule adds to the accuracy at home, beside the same mean number of steps for all."""
    found = []
    for row in rows:
        if not row.get("rules"):  # of fixed depth
            continue
        steps, right = row["rules"][rule]
        if rule == "sample" and "steps_within" in row:  # the mean over all draws, without the luck of one
            steps, right = row["steps_within"][0], row["accuracy_within"][0]
        by_step = row.get("by_step_within") or row["by_step"]
        found.append(right - same_for_all(by_step, steps))
    return found
