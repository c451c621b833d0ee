"""From which step on a network can read a digit, and how many steps it takes for digits that it can read then."""

from collections.abc import Mapping

import torch
from torch import Tensor

from ponder_course.common.measures import mean
from ponder_utils.halting import expected_steps

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
