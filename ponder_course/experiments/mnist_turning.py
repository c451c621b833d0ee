"""What a network that reads digits does with them, upright and turned: how often it is right, and in how many steps."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from ponder_utils.evaluation import best_halting, class_correct
from ponder_course.results import rounded
from ponder_utils.halting import expected_steps
from ponder_utils.pondernet import PonderNet
from ponder_utils.tasks import rotated_by, rotated_within
from ponder_utils.tasks.digits import DigitSet

ANGLES = list(range(0, 181, 15))  # every digit turned by exactly so many degrees
RANGES = [22.5, 45, 67.5, 90]  # each by an angle of its own, within so many degrees to both sides; the first is home
RULES = "sample", "quantile", "most_probable", "expectation"


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


# A closer look, at all test images ------------------------------------------------------------------------------------


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
