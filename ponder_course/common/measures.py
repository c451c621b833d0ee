"""What lessons measure of networks that halt: right answers and steps, the need, and what halting can gain."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ponder_course.common.store import Row
from ponder_utils.evaluation import evaluate, preserve_modes
from ponder_utils.halting import PonderOutput
from ponder_utils.pondernet import PonderNet


def mean(values: Tensor) -> float:
    """Return the mean of all values: in their own precision, or of whole numbers and truth values in double."""
    return (values if values.is_floating_point() else values.cpu().double()).mean().item()


def correlation(a: Tensor, b: Tensor, constant: float = 0.0) -> float:
    """Return the correlation of two tensors of one shape; where one of them does not vary, that of a `constant`."""
    pair = torch.stack([a.flatten(), b.flatten()]).cpu().double()  # not every device has float64
    return torch.corrcoef(pair)[0, 1].nan_to_num(constant).item()


def at_step(values: Tensor, steps: Tensor) -> Tensor:
    """Return each one's value at a step of its own: values [N, ...], steps [...], 1 to N -> [...]."""
    return values.gather(0, steps[None] - 1)[0]


def halting_report(steps: Tensor, needed: Tensor) -> Row:
    """Return when answers halt beside when they can be known: steps and needed are whole numbers, of one shape.

    "steps" and "needed": their means; "early": the fraction that halts before it can know; and their "correlation".
    """
    return {
        "steps": mean(steps),
        "needed": mean(needed),
        "early": mean(steps < needed),
        "correlation": correlation(steps, needed),
    }


def by_group(groups: Tensor, count: str = "n", **values: Tensor) -> dict[int, Row]:
    """Return for each group how many belong to it, called `count`, and the mean of each of the values: of one shape."""
    rows = {}
    for group in groups.unique().tolist():
        here = groups == group
        rows[group] = {count: int(here.sum()), **{name: mean(value[here]) for name, value in values.items()}}
    return rows


@torch.no_grad()
def think(model: PonderNet, x: Tensor, N: int) -> PonderOutput:
    """Return what a network answers, and how it halts, at each of N steps, as in evaluation."""
    with preserve_modes(model):
        return model.eval()(x, max_steps=N)


def score(model: PonderNet, x: Any, y: Tensor, correct: Callable[[Tensor, Tensor], Tensor]) -> Row:
    """Return accuracy, exact in the halting, and expected steps on these inputs."""
    device = next(model.parameters()).device
    evaluation = evaluate(model, x.to(device), y.to(device), correct)
    return {"accuracy": evaluation.accuracy, "steps": evaluation.steps}


def same_for_all(by_step: Sequence[float], steps: float) -> float:
    """Return the fraction right at a mean number of steps in [1, N]: some take the number below, others that above."""
    return float(np.interp(steps, range(1, len(by_step) + 1), by_step))


def best_halting(probs: Tensor) -> tuple[list[float], list[float]]:
    """Return the best that choosing one step for each sample can reach: mean steps, rising, and probability of right.

    probs: [N, batch], how likely a sample is right at each step (0 or 1 where answers are known). It stops where that,
    less the price of its steps, is highest; a point for each price, 1 to 0.001 a step.
    """
    n = torch.arange(1, len(probs) + 1, device=probs.device)[:, None]
    steps, accuracy = [], []
    for price in torch.logspace(0, -3, 100, device=probs.device):
        best = (probs - price * n).argmax(0) + 1
        steps.append(mean(best))
        accuracy.append(mean(at_step(probs, best)))
    return steps, accuracy
