"""Numbers that several lessons measure: a correlation, accuracy and steps of a network, and what halting can gain."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from ponder_course.common.store import Row
from ponder_utils.evaluation import evaluate
from ponder_utils.pondernet import PonderNet


def correlation(steps: Tensor, needed: Tensor) -> float:
    """Return the correlation of two tensors of one shape; 0 where one of them does not vary."""
    return torch.corrcoef(torch.stack([steps, needed]).flatten(1).double())[0, 1].nan_to_num().item()


def score(model: PonderNet, x: Tensor, y: Tensor, correct: Callable[[Tensor, Tensor], Tensor]) -> Row:
    """Return accuracy, exact in the halting, and expected steps on these inputs."""
    device = next(model.parameters()).device
    found = evaluate(model, x.to(device), y.to(device), correct)
    return {"accuracy": found.accuracy, "steps": found.steps}


def same_for_all(by_step: Sequence[float], steps: float) -> float:
    """Return the fraction right at a mean number of steps in [1, N]: some take the number below, others that above."""
    return float(np.interp(steps, range(1, len(by_step) + 1), by_step))


def best_halting(probs: Tensor, n_points: int = 100) -> tuple[list[float], list[float]]:
    """Return the best that choosing one step for each sample can reach: mean steps, rising, and probability of right.

    probs: [N, batch], how likely a sample is right at each step (0 or 1 where answers are known). It stops where that,
    less the price of its steps, is highest; a point for each price, 1 to 0.001 a step.
    """
    n = torch.arange(1, len(probs) + 1, device=probs.device)[:, None]
    steps, accuracy = [], []
    for price in torch.logspace(0, -3, n_points, device=probs.device):
        best = (probs - price * n).argmax(0, keepdim=True)
        steps.append((best + 1).double().mean().item())
        accuracy.append(probs.gather(0, best).double().mean().item())
    return steps, accuracy
