"""Networks that read digits, upright or turned: how lesson 04 trains them, and what it wants to know of them."""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot
from torch.optim.lr_scheduler import ReduceLROnPlateau

from ponder_utils.cells import MLPCell
from ponder_utils.encoders import ConvEncoder
from ponder_utils.evaluation import best_halting, class_correct, evaluate
from ponder_utils.experiments.lines import between
from ponder_utils.experiments.results import chosen, rounded
from ponder_utils.halting import expected_steps, geometric_log_prior
from ponder_utils.local import ConvStep
from ponder_utils.losses import LossTerms, PonderLoss, RegularizationLoss
from ponder_utils.pondernet import PonderNet, PonderOutput
from ponder_utils.steps import EncodedStep, RecurrentStep
from ponder_utils.tasks import RotationTask, rotated_by, rotated_within
from ponder_utils.tasks.digits import DigitSet, load_digits
from ponder_utils.training import cool_down, train

ANGLES = list(range(0, 181, 15))  # every digit turned by exactly so many degrees
RANGES = [22.5, 45, 67.5, 90]  # each by an angle of its own, within so many degrees to both sides; the first is home
BATCHES = {"CNN": 128, "conv": 64}
RULES = "sample", "quantile", "most_probable", "expectation"


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


# The loss ------------------------------------------------------------------------------------------------------------


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


# Training ------------------------------------------------------------------------------------------------------------


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


# What a network does -------------------------------------------------------------------------------------------------


@torch.no_grad()
def score(model: PonderNet, x: Tensor, y: Tensor, last: bool = False) -> dict[str, Any]:
    """accuracy and steps, exact in the halting; steps of right and of wrong answers; by_step, p [N].

    An image whose answer is right with probability 0.9 counts with 0.9 among the right ones, and with 0.1 among the
    wrong ones, each time with its own expected steps. A network of fixed depth takes the last step.
    """
    y_hat, _, log_p = model(x)
    p, correct = log_p.exp(), class_correct(y_hat, y).float()  # [N, batch] each
    if last:
        p = one_hot(torch.full_like(y, len(p) - 1), len(p)).T.to(p)
    n = torch.arange(1, len(p) + 1, device=p.device)[:, None]
    steps, share = (n * p).sum(0), (p * correct).sum(0)  # [batch]
    return {
        "accuracy": share.mean().item(),
        "steps": steps.mean().item(),
        "right": ((share * steps).sum() / share.sum()).item(),
        "wrong": (((1 - share) * steps).sum() / (1 - share).sum()).item(),
        "by_step": correct.mean(1).tolist(),
        "p": p.mean(1).tolist(),
    }


def at_home(x: Tensor, within: float = RANGES[0]) -> Tensor:
    """Test images turned within so many degrees, the same for every network on the device."""
    return rotated_within(x, within, torch.Generator(x.device).manual_seed(2))


def by_rule(model: PonderNet, x: Tensor, y: Tensor) -> dict[str, list[float]]:
    """{rule: [steps computed, accuracy]}, means over the images."""
    told, generator = {}, torch.Generator(x.device).manual_seed(0)
    for rule in RULES:
        got = model.predict(x, rule, generator=generator, activation=_softmax, look_every=1)
        told[rule] = [got.computed.float().mean().item(), class_correct(got.y_hat, y).float().mean().item()]
    return told


def _softmax(y_hat: Tensor) -> Tensor:
    return y_hat.softmax(-1)


def measure(model: PonderNet, x: Tensor, y: Tensor, last: bool = False) -> dict[str, Any]:
    """A network on test images x, uint8, with labels y: `score` at all ANGLES, and within all RANGES; `by_rule`."""
    exact = [score(model, rotated_by(x, degrees), y, last) for degrees in ANGLES]
    within = [score(model, at_home(x, degrees), y, last) for degrees in RANGES]
    row: dict[str, Any] = {name: [its[name] for its in exact] for name in ("accuracy", "steps", "right", "wrong")}
    row |= {f"{name}_within": [its[name] for its in within] for name in ("accuracy", "steps")}
    row |= {"by_step": exact[0]["by_step"], "by_step_within": within[0]["by_step"]}
    return rounded(row | {"rules": {} if last else by_rule(model, at_home(x), y)})


def run(budget: str, folder: str, data: str, **setting: Any) -> dict[str, Any]:
    """Train a network of this setting, and `measure` it; also the updates that it made."""
    digits = _digits(data, folder)
    model, made = learn(digits, budget, **setting)
    x, y = (part[: BUDGETS[budget].n_test] for part in digits.test)
    return measure(model, x, y, setting["loss"] == "last step") | {"updates_made": made}


@lru_cache(maxsize=1)
def _digits(data: str, folder: str) -> DigitSet:
    return load_digits("mnist" if data == "MNIST" else "digits", folder)


# A closer look, at more networks and at all test images ---------------------------------------------------------------


def ambiguous(digits: DigitSet, n_known: int = 5000) -> Tensor:
    """Test digits whose five most similar training images are not all of one class; nothing is asked of a network."""
    known, labels = rotated_by(digits.train.x[:n_known], 0).flatten(1), digits.train.y
    nearest = torch.cdist(rotated_by(digits.test.x, 0).flatten(1), known).topk(5, largest=False).indices
    return (labels[nearest] != labels[nearest[:, :1]]).any(1)


def late(right: Tensor) -> tuple[Tensor, Tensor]:
    """Digits right for good later than most, up to the best step; and among which: those right there.

    right: [N, batch] of bool -> [batch], twice.
    """
    right = right[: int(right.float().mean(1).argmax()) + 1]
    n = torch.arange(1, len(right) + 1, device=right.device)[:, None]
    last_wrong = (n * ~right).amax(0)
    return last_wrong > last_wrong[right[-1]].median(), right[-1]


@torch.no_grad()
def look_closer(model: PonderNet, digits: DigitSet, last: bool = False, hard: Tensor | None = None) -> dict[str, Any]:
    """A network on all test images at home: what halting buys there, and about whom it thinks longer.

    by_step: [N] if every digit stops at step n. rules: {rule: [steps, right]}, sampling exact. ever: right at any step;
    hindsight: the most that any choice of a step for each digit reaches in as many steps as the quantile rule takes,
    the labels being known. longer: difference of expected steps, of the digits named less the others. p: [N], upright.
    by_step_90: turned by 90 degrees. hard: see `ambiguous`.
    """
    x, y = at_home(digits.test.x), digits.test.y
    y_hat, _, log_p = model(x)
    right, p, steps = class_correct(y_hat, y), log_p.exp(), expected_steps(log_p)
    row: dict[str, Any] = {"by_step": right.float().mean(1).tolist()}
    upright = score(model, rotated_by(digits.test.x, 0), y, last)
    if last:
        return rounded(row | {"by_step_upright": upright["by_step"]})
    rules = by_rule(model, x, y) | {"sample": [steps.mean().item(), (p * right).sum(0).mean().item()]}
    sideways = score(model, rotated_by(digits.test.x, 90), y)
    is_late, among = late(right)
    taken, hindsight = best_halting(right.float())
    groups = {"late": (is_late, among)}
    if hard is not None:
        groups["ambiguous"] = (hard, torch.ones_like(hard))
    longer = {name: (steps[of & ok].mean() - steps[~of & ok].mean()).item() for name, (of, ok) in groups.items()}
    longer |= {
        "wrong": upright["wrong"] - upright["right"],
        "wrong, at 90 degrees": sideways["wrong"] - sideways["right"],
        "turned by 90 degrees": sideways["steps"] - upright["steps"],
    }
    row |= {
        "rules": rules,
        "ever": right.any(0).float().mean().item(),
        "hindsight": float(np.interp(rules["quantile"][0], taken, hindsight)),
        "longer": longer,
        "shares": {name: (of & ok).float().mean().item() for name, (of, ok) in groups.items()},
        "p": upright["p"],
        "by_step_90": sideways["by_step"],
    }
    return rounded(row)


def run_closer(budget: str, folder: str, data: str, **setting: Any) -> dict[str, Any]:
    """Train a network of this setting, and `look_closer`."""
    digits = _digits(data, folder)
    model, made = learn(digits, budget, **setting)
    return look_closer(model, digits, setting["loss"] == "last step", _ambiguous(data, folder)) | {"updates_made": made}


@lru_cache(maxsize=1)
def _ambiguous(data: str, folder: str) -> Tensor:
    return ambiguous(_digits(data, folder))


# The experiments -----------------------------------------------------------------------------------------------------

DEPTHS = {"CNN": (1, 4, 20), "conv": (1, 5, 10)}
# What is changed in the recipe, one thing at a time; the names are those of the figures.
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "as it is": ("CNN", {}),
    "loss of the batch": ("CNN", {"loss": "batch mean"}),
    "trained upright": ("CNN", {"within": 0.0}),
    "beta = 0": ("CNN", {"beta": 0.0}),
    "beta = 0.1": ("CNN", {"beta": 0.1}),
    "lambda_p = 0.1": ("CNN", {"lambda_p": 0.1}),
    "lambda_p = 0.5": ("CNN", {"lambda_p": 0.5}),
    "patches": ("conv", {}),
    "patches, beta = 0.1": ("conv", {"beta": 0.1}),
}
LONG: dict[str, tuple[str, dict[str, Any]]] = {
    "as it is": ("CNN", {}),
    "loss of the batch": ("CNN", {"loss": "batch mean"}),
    "loss of the batch, reversed": ("CNN", {"loss": "batch mean, KL reversed"}),
    "patches": ("conv", {}),
}


def fixed(network: str, depth: int) -> tuple[str, dict[str, Any]]:
    """A network of fixed depth, trained for the answer of its last step, as a variant."""
    return network, {"loss": "last step", "N": depth, "lambda_p": 1.0, "beta": 0.0}


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


# What runs say -------------------------------------------------------------------------------------------------------


def of_variant(
    rows: Iterable[dict[str, Any]], variant: tuple[str, dict[str, Any]], budget: str, smoke: bool = False
) -> list[dict[str, Any]]:
    """The rows of a variant at this budget (or of its `short` runs), whatever their data and seed."""
    network, change = variant
    wanted = recipe(network, "", budget) | change | ({"updates": 10} if smoke else {})
    del wanted["data"]
    return chosen(rows, **wanted)


def sideways(rows: Iterable[dict[str, Any]], column: str = "steps", degrees: int = 90) -> list[float]:
    """The change of a column of `measure` from upright to turned, for every run."""
    return [row[column][ANGLES.index(degrees)] - row[column][0] for row in rows]


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


def prior_mean(lambda_p: float, N: int) -> float:
    """Of the prior, cut off at N."""
    return expected_steps(geometric_log_prior(lambda_p, N)).item()
