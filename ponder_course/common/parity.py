"""Parity of a whole vector, as lessons 01 and 03 train and measure it: loss, ACT, and what is counted for each k."""

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from ponder_course.common.store import Row
from ponder_utils.act import ACT
from ponder_utils.cells import RNNCell
from ponder_utils.evaluation import binary_correct, evaluate
from ponder_utils.pondernet import PonderNet
from ponder_utils.tasks import ParityTask

Draw = Callable[[torch.Generator], tuple[Tensor, Tensor]]  # a batch of inputs and targets


def cross_entropy(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return one loss for each sample, of logits y_hat and targets y in {0, 1} of the same shape."""
    return binary_cross_entropy_with_logits(y_hat, y, reduction="none")


def act(elements: int, hidden: int, N: int) -> ACT:
    """Return ACT around the tanh cell of the papers, for vectors of so many elements."""
    return ACT(RNNCell(elements + 1, hidden), max_steps=N)


def fix_depth(model: ACT, depth: int) -> None:
    """Let ACT take so many steps for every input from now on, and answer with the last."""
    model.max_steps = depth
    nn.init.zeros_(model.halting.weight)
    nn.init.constant_(model.halting.bias, -30)
    model.halting.requires_grad_(False)


def one_time_step(draw: Draw, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return the batch that is drawn as ACT takes it: sequences of one time step, [1, batch, ...]."""
    x, y = draw(generator)
    return x[None], y[None]


def right(y_hat: Tensor, y: Tensor) -> float:
    """Return the fraction of right answers."""
    return binary_correct(y_hat, y).float().mean().item()


@torch.no_grad()
def score(model: nn.Module, x: Tensor, y: Tensor, fixed: bool = False) -> dict[str, float]:
    """Return "accuracy" and the mean "steps".

    PonderNet's halting is sampled (exactly), or, if the depth is `fixed`, its last answer is taken. ACT's steps are
    those made, N(t). x: [batch, elements], and y: [batch], for ACT with or without a time dimension of 1 before.
    """
    if isinstance(model, PonderNet):
        evaluation = evaluate(model, x, y)
        if fixed:
            return {"accuracy": evaluation.accuracy_by_step[-1], "steps": float(len(evaluation.p))}
        return {"accuracy": evaluation.accuracy, "steps": evaluation.steps}
    output = model(x.reshape(1, -1, x.shape[-1]))
    return {"accuracy": right(output.y_hat, y.reshape(1, -1)), "steps": output.steps.float().mean().item()}


def measure(model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], fixed: bool = False) -> Row:
    """Return "accuracy" and "steps" of each batch of inputs and targets, as `score` has them."""
    scores = [score(model, x, y, fixed) for x, y in batches]
    return {name: [row[name] for row in scores] for name in ("accuracy", "steps")}


def tested_k(elements: int) -> list[int]:
    """Return the numbers of non-zero elements that are tested: all, or 16 of them or a few more."""
    return list(range(1, elements + 1, max(1, elements // 16)))


def inputs_by_k(elements: int) -> list[tuple[Tensor, Tensor]]:
    """Return a thousand inputs with k non-zero elements, and their targets, for each of `tested_k`."""
    generator = torch.Generator().manual_seed(12)
    return [ParityTask(elements, k, k).batch(1000, generator) for k in tested_k(elements)]
