"""How a network is scored: how often it is right, and how many steps it takes."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils._check import check_type
from ponder_utils.halting import PonderOutput, expected_steps
from ponder_utils.losses import apply_mask
from ponder_utils.states import map_states

Correct = Callable[[Tensor, Tensor], Tensor]  # y_hat, y [N, batch, ...] -> bool [N, batch]


def binary_correct(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return whether the logit y_hat is on the side of y: bool. Never if it is NaN, or y not in [0, 1]."""
    return ((y_hat > 0) == (y > 0.5)) & (y >= 0) & (y <= 1) & ~y_hat.isnan()


def class_correct(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return whether the largest logit of y_hat [..., classes] is that of class y: bool [...]. Never if one is NaN."""
    return (y_hat.argmax(-1) == y) & ~y_hat.isnan().any(-1)


class Score(NamedTuple):
    """Means over all answers that are asked: one for each sample, or one for each of its places if each halts alone."""

    accuracy: float  # expected over the halting step: sum_n p_n [right at step n]
    steps: float  # expected steps, sum_n n p_n
    accuracy_by_step: list[float]  # [N] if one always stopped at step n
    p: list[float]  # [N] mean halting distribution


@contextmanager
def preserve_modes(model: nn.Module) -> Iterator[None]:
    """Put every part of the model back into the mode it was in, whatever the block does."""
    modes = {module: module.training for module in model.modules()}
    try:
        yield
    finally:
        for module, training in modes.items():
            module.training = training


def batch_on_device(name: str, batch: Any, device: torch.device | None) -> tuple[Any, ...]:
    """Return (x, y) or (x, y, mask) on a device; ValueError if a batch of the argument of this name is neither."""
    if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
        came = f"{len(batch)} parts" if isinstance(batch, tuple | list) else type(batch).__name__
        raise ValueError(f"{name} must give batches (x, y) or (x, y, mask); got {came}")
    return map_states(lambda part: part.to(device), tuple(batch))


@torch.no_grad()
def over_batches(model: nn.Module, name: str, batches: Iterable[Any], measure: Callable[..., Any]) -> list[Any]:
    """Return measure(output, y), or measure(output, y, mask), of each batch, in evaluation mode on its device."""
    device = next((weight.device for weight in model.parameters()), None)
    measured = []
    with preserve_modes(model):
        model.eval()
        for batch in batches:
            x, *targets = batch_on_device(name, batch, device)
            output = check_type("what model returns", model(x), PonderOutput)
            measured.append(measure(output, *targets))
    return measured


def evaluate(
    model: nn.Module, x: Any, y: Tensor | None = None, correct: Correct = binary_correct, mask: Tensor | None = None
) -> Score:
    """Score a network, in evaluation mode (no dropout).

    Args:
        model: x -> `PonderOutput`, such as a `PonderNet` or a `PonderSequence`.
        x, y: inputs, and targets [batch, ...]. Without y, x is an iterable of batches (x, y) or (x, y, mask), such as a
            `DataLoader`. All are brought to the device of the network's parameters.
        correct: whether answers are right; NaN never is, whatever it says.
        mask: bool [batch], or [batch, *places]: the answers that are asked; None: all.
    ValueError if `correct` returns another shape, there is not one target per sample, or nothing is asked.
    """
    check_type("correct", correct, Callable, "callable as correct(y_hat, y)")
    if y is None and mask is not None:
        raise ValueError("mask goes with y; where x gives batches, each is (x, y, mask)")
    batches = x if y is None else [(x, y, mask)]
    by_batch = over_batches(model, "without y, x", batches, partial(_right_and_log_p, correct))
    if sum(log_p.shape[1] for _, log_p in by_batch) == 0:
        raise ValueError("evaluate needs an answer that is asked; got none in x, or a mask that is true nowhere")
    right, log_p = (torch.cat(parts, dim=1) for parts in zip(*by_batch, strict=True))  # [N, answers]
    p = log_p.exp()
    accuracy = (p * right).sum(0).mean().item()
    return Score(accuracy, expected_steps(log_p).mean().item(), right.mean(1).tolist(), p.mean(1).tolist())


def _right_and_log_p(
    correct: Correct, output: PonderOutput, y: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return whether each asked answer is right, 0.0 or 1.0, and its log p_n: [N, answers] each."""
    output, y = apply_mask(output, y, mask)
    y_hat, log_p = output.y_hat, output.log_p
    if correct in (binary_correct, class_correct):
        shape, highest = (y_hat.shape[1:], 1) if correct is binary_correct else (y_hat.shape[1:-1], y_hat.shape[-1] - 1)
        if y.shape != shape:
            raise ValueError(f"y must have the shape of the answers, {list(shape)}; got {list(y.shape)}")
        is_target = (y >= 0) & (y <= highest)  # which NaN is not
        if correct is class_correct:
            is_target &= y == y.floor()
        if not is_target.all():
            wanted = f"{'a number' if correct is binary_correct else 'a whole number'} in [0, {highest}]"
            raise ValueError(f"y must be {wanted} where no mask leaves it out; got {y[~is_target][0]:g}")
    right = correct(y_hat, y.expand(len(log_p), *y.shape)).to(log_p.dtype)
    if right.shape != log_p.shape:
        came = f"{list(right.shape)}, from answers {list(y_hat.shape)} and targets {list(y.shape)}"
        raise ValueError(f"correct must return one value per step and sample, {list(log_p.shape)}; got {came}")
    is_nan = y_hat[..., None].isnan().flatten(log_p.ndim).any(-1)
    return right.masked_fill(is_nan, 0.0).flatten(1), log_p.flatten(1)
