"""Solutions to the exercises of 06_ways_to_stop. Look only after you have tried."""

from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from ponder_utils import PonderOutput


def taught_judge(output: PonderOutput, y: Tensor) -> Tensor:
    """The answers of each step, in place of the last step's. In the mean over lines and steps all weigh the same."""
    correct = ((output.y_hat > 0) == (y > 0.5)).all(-1).float()  # [N, lines]
    return binary_cross_entropy_with_logits(output.halt_logits, correct)


def first(holds: Tensor) -> Tensor:
    """The first step at which it holds, or the last: [N, lines] -> [lines], counted from 1."""
    return torch.where(holds.any(0), holds.int().argmax(0) + 1, len(holds))


def patient(y_hat: Tensor, t: int) -> Tensor:
    """A change at any place begins the count again. It comes at step t + 1 at the earliest."""
    answers, kept = y_hat > 0, [torch.zeros(y_hat.shape[1], dtype=torch.long)]
    for before, now in pairwise(answers):
        kept.append(torch.where((before == now).all(-1), kept[-1] + 1, 0))
    return first(torch.stack(kept) >= t)


def mine(y_hat: Tensor) -> Tensor:
    """Sure, or at rest. While news is on its way, some place learns its answer at every step.

    Where there is none to come, nothing moves. The package has such a rule for any two: `rules.either`.
    """
    sure = (y_hat.abs().sigmoid() >= 0.9).all(-1)  # [N, lines]
    p = y_hat.sigmoid()
    rest = torch.cat([torch.zeros_like(sure[:1]), ((p[1:] - p[:-1]).abs() < 0.2).all(-1)])
    return first(sure | rest)
