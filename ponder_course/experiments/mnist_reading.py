"""Networks that learn to read digits in lesson 04: what they are made of, their losses, and how they are trained."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import ReduceLROnPlateau

from ponder_utils.cells import MLPCell
from ponder_utils.encoders import ConvEncoder
from ponder_utils.evaluation import class_correct, evaluate
from ponder_utils.local import ConvStep
from ponder_utils.losses import LossTerms, PonderLoss, RegularizationLoss
from ponder_utils.pondernet import PonderNet, PonderOutput
from ponder_utils.steps import EncodedStep, RecurrentStep
from ponder_utils.tasks import RotationTask, rotated_within
from ponder_utils.tasks.digits import DigitSet
from ponder_utils.training import cool_down, train

BATCHES = {"CNN": 128, "conv": 64}


class Budget(NamedTuple):
    """How long a network of each kind learns, how fast, and on how many test digits it is measured."""

    updates: dict[str, int]
    lr: dict[str, float]
    early_stop: bool
    n_test: int


BUDGETS = {
    "smoke": Budget({"CNN": 30, "conv": 30}, {"CNN": 3e-3, "conv": 3e-3}, False, 100),
    "class": Budget({"CNN": 1100, "conv": 1500}, {"CNN": 3e-3, "conv": 3e-3}, False, 2000),
    "paper": Budget({"CNN": 8600, "conv": 17200}, {"CNN": 1e-3, "conv": 3e-3}, True, 10_000),  # 20 epochs at most
}


def cnn_step() -> EncodedStep:
    """The write-ups' network: a CNN reads the image once, and a small two-layer network takes the steps."""
    return EncodedStep(ConvEncoder(64), RecurrentStep(MLPCell(64, 64, dropout=0.2), n_outputs=10))


def patch_step() -> ConvStep:
    """A grid of 7 by 7 places, each of which knows one patch, and hears from its neighbours at every step."""
    return ConvStep(channels=16, patch=4, n_outputs=10)


STEPS: dict[str, Callable[[], nn.Module]] = {"CNN": cnn_step, "conv": patch_step}
RECIPES: dict[str, dict[str, Any]] = {
    "CNN": {"N": 20, "lambda_p": 0.2, "beta": 0.01},
    "conv": {"N": 10, "lambda_p": 0.3, "beta": 0.2},
}


def recipe(network: str, data: str, budget: str) -> dict[str, Any]:
    """The setting of a network, all but its seed."""
    same = {"data": data, "network": network, "loss": "per sample", "within": 22.5}
    return same | RECIPES[network] | {"updates": BUDGETS[budget].updates[network]}


def of_the_batch(lambda_p: float, N: int, beta: float, direction: str) -> Callable[[PonderOutput, Tensor], LossTerms]:
    """The write-ups' loss: p_n of each sample weighs the loss at step n *averaged over the batch*."""
    pull = RegularizationLoss(lambda_p, N, direction=direction)

    def loss(output: PonderOutput, y: Tensor) -> LossTerms:
        of_step = torch.stack([cross_entropy(y_n, y) for y_n in output.y_hat])  # [N]
        reconstruction = (output.log_p.exp() * of_step[:, None]).sum(0).mean()
        divergence = pull.to(y.device)(output)
        return LossTerms(reconstruction + beta * divergence, reconstruction, divergence)

    return loss


def of_the_last_step(output: PonderOutput, y: Tensor) -> LossTerms:
    """For a network of fixed depth."""
    loss = cross_entropy(output.y_hat[-1], y)
    return LossTerms(loss, loss, torch.zeros_like(loss))


def loss_of(loss: str, lambda_p: float, N: int, beta: float) -> Callable[[PonderOutput, Tensor], LossTerms]:
    """The loss that a setting names."""
    named: dict[str, Callable[[PonderOutput, Tensor], LossTerms]] = {
        "per sample": PonderLoss(nn.CrossEntropyLoss(reduction="none"), lambda_p, N, beta),
        "batch mean": of_the_batch(lambda_p, N, beta, "p||p_G"),
        "batch mean, KL reversed": of_the_batch(lambda_p, N, beta, "p_G||p"),
        "last step": of_the_last_step,
    }
    return named[loss]


def watch(digits: DigitSet, budget: str, within: float = 22.5, last: bool = False) -> Callable[..., Any]:
    """For `train`: accuracy (sampled halting; of the last step if `last`) and steps on validation digits.

    All of them where they decide when to stop, else at most 1,000.
    """
    n = None if BUDGETS[budget].early_stop else 1000
    x, y = digits.validation.x[:n], digits.validation.y[:n]
    turned = rotated_within(x, within, torch.Generator(x.device).manual_seed(1))

    def score(model: PonderNet) -> dict[str, float]:
        its = evaluate(model, turned, y, class_correct)
        return {"accuracy": its.accuracy_by_step[-1] if last else its.accuracy, "steps": its.steps}

    return score


def plan(budget: str, network: str, updates: int, n_train: int) -> dict[str, Any]:
    """What `train` is told besides the loss: smoke and class end slowly, paper as soon as nothing gets better.

    There, after three epochs without a new best the learning rate is divided by ten, after six training stops.
    """
    its = BUDGETS[budget]
    options: dict[str, Any] = {"lr": its.lr[network], "clip": 0.5, "progress": False}
    if its.early_stop:
        epoch = n_train // BATCHES[network]
        return options | {"schedule": _plateau, "patience": 6, "log_every": epoch}
    return options | {"schedule": cool_down(updates), "log_every": max(1, updates // 10)}


def _plateau(optimizer: torch.optim.Optimizer) -> ReduceLROnPlateau:
    return ReduceLROnPlateau(optimizer, mode="max", patience=2)


def learn(
    digits: DigitSet, budget: str, network: str, loss: str, within: float, N: int, lambda_p: float, beta: float,
    updates: int, seed: int,
) -> tuple[PonderNet, int]:  # fmt: skip
    """Train a network of a `recipe`; also, how many updates it made."""
    torch.manual_seed(seed)
    device = digits.train.x.device
    model = PonderNet(STEPS[network](), N).to(device)
    loss_fn = loss_of(loss, lambda_p, N, beta)
    loss_fn = loss_fn.to(device) if isinstance(loss_fn, nn.Module) else loss_fn
    task, options = RotationTask(*digits.train, within), plan(budget, network, updates, len(digits.train.y))
    if BUDGETS[budget].early_stop:
        options["evaluate"] = watch(digits, budget, within, loss == "last step")
    log = train(model, loss_fn, lambda g: task.batch(BATCHES[network], g), updates, seed=seed, **options)
    return model.eval(), log[-1]["update"]
