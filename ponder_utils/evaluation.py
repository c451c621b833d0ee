"""What a trained network is judged by: how often it is right, and how long it thinks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from ponder_utils.halting import expected_steps
from ponder_utils.pondernet import PonderNet, PonderOutput
from ponder_utils.rules import RuleMaker


def binary_correct(y_hat: Tensor, y: Tensor) -> Tensor:
    """Is the logit y_hat on the side of the target y in {0, 1}? -> bool, in the shape of y_hat."""
    return (y_hat > 0) == (y > 0.5)


def class_correct(y_hat: Tensor, y: Tensor) -> Tensor:
    """Is the largest of the class logits y_hat [..., classes] that of the target class y? -> bool [...]."""
    return y_hat.argmax(-1) == y


class Score(NamedTuple):
    """Means over a set of inputs. The accuracy is exact in the halting: its expectation, not one draw."""

    accuracy: float  # of the answer at the sampled halting step: sum_n p_n [right at step n]
    steps: float  # expected steps, sum_n n p_n
    accuracy_by_step: list[float]  # [N] if one always stopped at step n
    p: list[float]  # [N] mean halting distribution


@contextmanager
def modes_kept(model: nn.Module) -> Iterator[None]:
    """Whatever the block does, afterwards every part of the model is in the mode that it was in before."""
    modes = {module: module.training for module in model.modules()}
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training


@torch.no_grad()
def evaluate(
    model: PonderNet, x: Tensor, y: Tensor, correct: Callable[[Tensor, Tensor], Tensor] = binary_correct
) -> Score:
    """Score a network on inputs x [batch, ...] with targets y [batch, ...], in evaluation mode (no dropout).

    `correct` is given answers and targets of all steps, [N, batch, ...] each, and says which are right, [N, batch]. An
    error says so if it returns another shape, as it does where y has another one than an answer.
    """
    with modes_kept(model):
        y_hat, _, log_p = model.eval()(x)
    p = log_p.exp()  # [N, batch]
    right = correct(y_hat, y.expand(len(p), *y.shape)).to(p.dtype)
    if right.shape != p.shape:
        came = f"{list(right.shape)}, from answers {list(y_hat.shape)} and targets {list(y.shape)}"
        raise ValueError(f"correct must return one value per step and sample, {list(p.shape)}; got {came}")
    return Score(
        accuracy=(p * right).sum(0).mean().item(),
        steps=expected_steps(log_p).mean().item(),
        accuracy_by_step=right.mean(1).tolist(),
        p=p.mean(1).tolist(),
    )


def halting_steps(output: PonderOutput, rule: RuleMaker) -> Tensor:
    """The step, 1 to N, at which a rule of `ponder_utils.rules` stops each sample, read from all N steps: [batch]."""
    log_survival = logsigmoid(-output.halt_logits.float()).cumsum(0)
    log_survival[-1] = -torch.inf
    rows = torch.arange(output.log_p.shape[1], device=output.log_p.device)
    take, _ = rule(len(rows), rows.device)(rows, output.log_p, log_survival, output.y_hat)
    return take + 1


def best_halting(chances: Tensor, n_points: int = 100) -> tuple[list[float], list[float]]:
    """The most that a choice of a step for each sample reaches, made without a look at its answers.

    Mean steps, rising, and mean chances.

    chances: [N, batch], how likely a sample is right if it stops at each step (0 or 1 for answers that are known). A
    sample stops where its chance, less the price of its steps, is highest; a point for each price, 1 to 0.001 a step.
    """
    n = torch.arange(1, len(chances) + 1, device=chances.device)[:, None]
    steps, accuracy = [], []
    for price in torch.logspace(0, -3, n_points, device=chances.device):
        best = (chances - price * n).argmax(0, keepdim=True)
        steps.append((best + 1).double().mean().item())
        accuracy.append(chances.gather(0, best).double().mean().item())
    return steps, accuracy
