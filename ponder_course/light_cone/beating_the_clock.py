"""Networks whose halting step may carry a bit of their answer: how their places vote, and what stored ones learnt.

Lines that are one segment of `places` need L = places steps, and lines of lesson 05 as many as their longest segment.
"""

import torch
from torch import Tensor

from ponder_course.common.store import Row
from ponder_course.light_cone.lesson import LocalStep


@torch.no_grad()
def votes(step: LocalStep, x: Tensor, n_steps: int) -> Tensor:
    """Return the halting logit at every place of a network with a shared vote: [n_steps, batch, places]."""
    z, h = step.encode(x)
    logits = []
    for _ in range(n_steps):
        h = step.move(z, h)
        logits.append(step.heads(h)[:, 1])
    return torch.stack(logits)


def at_own_length(row: Row) -> Row:
    """Return what a run has measured on lines as long as those of its training."""
    return row["tests"][str(row["places"])]


def has_learnt(row: Row) -> bool:
    """Return whether a network is right on 95 % of the lines, stopped by its threshold or at its best fixed step."""
    test = at_own_length(row)
    return max(test["rules"]["threshold"]["right"], *test["by_step"]) >= 0.95


def speaks(row: Row) -> bool:
    """Return whether a network halts one line in ten before L or more, and is right on 95 % of those."""
    threshold = at_own_length(row)["rules"]["threshold"]
    return threshold["early"] >= 0.1 and threshold["right_early"] >= 0.95
