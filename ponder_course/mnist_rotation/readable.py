"""From which step on a network can read a digit, and how many steps it takes for it."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from ponder_course.common.measures import mean
from ponder_utils.evaluation import class_correct
from ponder_utils.halting import expected_steps
from ponder_utils.pondernet import PonderNet

NOT_READ = 0  # in place of the first step
BySteps = Mapping[int, tuple[int, float]]  # by first step: how many digits, and the steps that they take


def first_step_read(right: Tensor, last: int) -> Tensor:
    """Return from which step on an answer is right, up to a last step, or NOT_READ: [batch].

    right: bool [N, batch].
    """
    stays = right[:last].flip(0).cummin(0).values  # from the last step back
    return torch.where(stays[0], last + 1 - stays.sum(0), NOT_READ)


def steps_by_first_read(log_p: Tensor, right: Tensor, last: int) -> BySteps:
    """Return of each first step the digits that are read from it on, and their mean expected steps.

    log_p, right: [N, batch].
    """
    first, steps = first_step_read(right, last), expected_steps(log_p)
    groups = {step: steps[first == step] for step in (*range(1, last + 1), NOT_READ)}
    return {step: (len(taken), mean(taken)) for step, taken in groups.items() if len(taken)}


def within(networks: Sequence[BySteps], low: float, high: float) -> bool:
    """Return whether all groups of digits that are read take from `low` to `high` steps."""
    read = [steps for groups in networks for first, (_, steps) in groups.items() if first != NOT_READ]
    return low <= min(read) and max(read) <= high


@torch.no_grad()
def groups_of(model: PonderNet, x: Tensor, y: Tensor, last: int) -> BySteps:
    """Return `steps_by_first_read` of the images that a network reads."""
    y_hat, _, log_p = model(x)
    return steps_by_first_read(log_p, class_correct(y_hat, y), last)
