"""Solutions to the exercises of 06_ways_to_stop. Look only after you have tried."""

from itertools import pairwise

import torch
from torch import Tensor


def odds(needed: Tensor, n: int) -> Tensor:
    """One half for each place that needs more than n steps; what is known is right."""
    return 0.5 ** (needed > n).sum(1)


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
