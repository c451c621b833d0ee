"""The cells of notebooks/06_ways_to_stop.ipynb that are tagged `source`: change them there, then `make sources`."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

import ponder_utils as pu
from ponder_course.common.lines import LineParityTask
from ponder_course.light_cone.lesson import LocalStep, loss_of_line, whole_lines_right


def untrained(channels: int = 2, cap: int = 20, seed: int = 10, **_: object) -> pu.PonderNet:
    torch.manual_seed(seed)
    return pu.PonderNet(LocalStep(channels, 32, noise=0.1), cap)


def learn(
    loss_fn: nn.Module,
    task: LineParityTask,
    updates: int,
    channels: int = 2,  # of the input
    cap: int = 20,  # N, the number of steps
    seed: int = 10,
    device: torch.device | str = "cpu",
) -> pu.PonderNet:
    model, batches = untrained(channels, cap, seed).to(device), partial(task.batch, 64)
    cooling = pu.cool_down(updates)  # the rate falls to 0 in the second half of the updates
    options: dict = {"lr": 5e-3, "schedule": cooling, "clip": 1.0, "seed": seed, "progress": False}
    pu.train(model, loss_fn, batches, updates, **options)  # by Adam
    return model.eval().cpu()


def sureness(y_hat: Tensor) -> Tensor:  # logits [N, lines, places] -> [N, lines]
    return y_hat.abs().sigmoid().amin(-1)  # max(p, 1 - p) of the least sure place


def first(holds: Tensor) -> Tensor:  # [N, lines] -> [lines]: the first step at which it holds, or N
    return torch.where(holds.any(0), holds.int().argmax(0) + 1, len(holds))


def certainty(y_hat: Tensor) -> Tensor:  # [N, lines, places] -> [lines]
    return first(sureness(y_hat) >= 0.9)


def by_head(halt_logits: Tensor) -> Tensor:  # [N, lines] -> [lines]
    return first(halt_logits.sigmoid() >= 0.2)


def at_rest(y_hat: Tensor) -> Tensor:  # [N, lines, places] -> bool [N, lines]
    p = y_hat.sigmoid()
    largest_move = (p[1:] - p[:-1]).abs().amax(-1)  # since the step before
    never = torch.zeros_like(p[:1, :, 0], dtype=torch.bool)  # at step 1
    return torch.cat([never, largest_move <= 0.1])


def certainty_or_rest(y_hat: Tensor) -> Tensor:  # [N, lines, places] -> [lines]
    return first((sureness(y_hat) >= 0.9) | at_rest(y_hat))


def answers_at(y_hat: Tensor, steps: Tensor) -> Tensor:  # of each line at its own step
    return y_hat[steps - 1, torch.arange(len(steps))]  # [lines, places]


def by_rest(y_hat: Tensor) -> Tensor:  # [N, lines, places] -> [lines]
    return first(at_rest(y_hat))


def by_judge(halt_logits: Tensor) -> Tensor:  # [N, lines] -> [lines]
    return first(halt_logits.sigmoid() >= 0.9)


def by_budget(halt_logits: Tensor) -> Tensor:  # [N, lines] -> [lines]
    return first(halt_logits.sigmoid().cumsum(0) >= 0.99)


def judge_loss(
    output: pu.PonderOutput,
    y: Tensor,
    criterion: Callable[[Tensor, Tensor], Tensor] = loss_of_line,
    correct: Callable[[Tensor, Tensor], Tensor] = whole_lines_right,
) -> Tensor:
    losses = torch.stack([criterion(y_hat_n, y) for y_hat_n in output.y_hat])  # [N, lines]
    right_by_now = torch.stack([correct(y_hat_n, y) for y_hat_n in output.y_hat]).float()
    judged = nn.functional.binary_cross_entropy_with_logits(output.halt_logits, right_by_now)
    return losses.mean() + 0.5 * judged
