"""How a network is scored: how often it is right, and how many steps it takes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils.halting import expected_steps
from ponder_utils.pondernet import PonderNet
from ponder_utils.states import first_tensor

Correct = Callable[[Tensor, Tensor], Tensor]  # y_hat, y [N, batch, ...] -> bool [N, batch]


def binary_correct(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return whether the logit y_hat is on the side of the target y in {0, 1}: bool, in the shape of y_hat."""
    return (y_hat > 0) == (y > 0.5)


def class_correct(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return whether the largest of the class logits y_hat [..., classes] is that of the target class y: bool [...]."""
    return y_hat.argmax(-1) == y


class Score(NamedTuple):
    """Means over a set of inputs."""

    accuracy: float  # expected over the halting step: sum_n p_n [right at step n]
    steps: float  # expected steps, sum_n n p_n
    accuracy_by_step: list[float]  # [N] if one always stopped at step n
    p: list[float]  # [N] mean halting distribution


@contextmanager
def modes_kept(model: nn.Module) -> Iterator[None]:
    """Put every part of the model back into the mode it was in, whatever the block does."""
    modes = {module: module.training for module in model.modules()}
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training


@torch.no_grad()
def evaluate(model: PonderNet, x: Any, y: Tensor, correct: Correct = binary_correct) -> Score:
    """Score a network on inputs x with targets y [batch, ...], in evaluation mode (no dropout).

    ValueError if `correct` returns another shape, or if there is not one target per sample.
    """
    batch_size = len(first_tensor(x))
    if len(y) != batch_size:
        raise ValueError(f"y must have one target per sample, [{batch_size}, ...]; got {list(y.shape)}")
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
