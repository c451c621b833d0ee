"""From which step on a network can read a digit, how many steps it takes for it, and how many would be best."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ponder_course.common.measures import mean
from ponder_course.common.verdicts import span
from ponder_utils.evaluation import class_correct
from ponder_utils.halting import expected_steps, geometric_log_prior
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


def best_steps(y_hat: Tensor, y: Tensor, lambda_p: float, beta: float) -> float:
    """Return the mean of the best p_n for a network's mean losses, p_G(n) exp(-l_n / beta) up to a factor.

    That is equation 4 of lesson 02, as if all images had one p_n. y_hat: [N, batch, classes], y: [batch].
    """
    losses = torch.stack([cross_entropy(answer, y) for answer in y_hat])
    log_prior = geometric_log_prior(lambda_p, len(y_hat)).to(losses)
    return float(expected_steps((log_prior - losses / beta).log_softmax(0)))


@torch.no_grad()
def taken_and_best(models: Sequence[PonderNet], x: Tensor, y: Tensor, recipe: Mapping[str, float]) -> str:
    """Return in words the steps that networks of a recipe take, and those that would be best at their mean losses."""
    outputs = [model(x) for model in models]
    taken = [mean(expected_steps(output.log_p)) for output in outputs]
    best = [best_steps(output.y_hat, y, recipe["lambda_p"], recipe["beta"]) for output in outputs]
    return f"takes {span(taken, '.1f')} steps; equation 4 of lesson 02 says {span(best, '.1f')}"


@torch.no_grad()
def groups_of(model: PonderNet, x: Tensor, y: Tensor, last: int) -> BySteps:
    """Return `steps_by_first_read` of the images that a network reads."""
    y_hat, _, log_p = model(x)
    return steps_by_first_read(log_p, class_correct(y_hat, y), last)
