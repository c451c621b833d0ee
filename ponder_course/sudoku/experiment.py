"""Networks that are trained on small sudokus, where every cell halts by itself, and tested on larger ones."""

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ponder_course.common.measures import halting_report
from ponder_course.common.store import Row
from ponder_course.common.training import fit, of_asked
from ponder_course.sudoku.cover import CoverStep
from ponder_course.sudoku.task import SudokuTask, sudoku_groups
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet

CHANNELS, NOISE, N, BATCH, UPDATES, LR = 24, 0.1, 12, 32, 400, 1e-2
LAMBDA_P, BETA = 0.8, 0.03
Q = 0.5  # a cell halts at the first step with lambda_n >= Q


def criterion(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return the cross-entropy of each cell: logits [..., digits] and digits [...] -> [...]."""
    return nn.functional.cross_entropy(y_hat.flatten(0, -2), y.flatten(), reduction="none").view_as(y)


def learn(
    seed: int,
    updates: int = UPDATES,
    batch: int = BATCH,
    lambda_p: float = LAMBDA_P,
    beta: float = BETA,
    lowest: float = 0.2,
    highest: float = 0.7,
) -> PonderNet:
    """Train a network on boards of 4 x 4, on the cells that elimination can know."""
    torch.manual_seed(seed)
    model = PonderNet(CoverStep(sudoku_groups(2), CHANNELS, NOISE), N)
    draw = partial(SudokuTask(2, lowest, highest).batch, batch)
    loss = of_asked(PonderLoss(criterion, lambda_p, beta))
    model, _ = fit(model, loss, draw, updates, lr=LR, clip=1.0, seed=seed)
    return model


def on_boards(model: PonderNet, box: int) -> CoverStep:
    """Return the step of a network, in evaluation mode, for boards of box x box boxes."""
    step: CoverStep = model.step
    return step.on(sudoku_groups(box)).to(next(model.parameters()).device).eval()


class Halted(NamedTuple):
    """What the cells of some boards answer, and when: [batch, cells] each."""

    answers: Tensor  # the digit, from 0, at the step at which the cell halts, or at the last
    steps: Tensor  # that step; 0 for a cell that has not halted


@torch.no_grad()
def halt(step: CoverStep, x: Tensor, max_steps: int) -> Halted:
    """Think about boards x [batch, side, side, side] until all cells have halted, or for so many steps."""
    z, h = step.encode(x)
    for n in range(1, max_steps + 1):
        h = step.move(z, h)
        y_hat, a = step.read(h)
        if n == 1:
            answers, steps = y_hat.argmax(2), torch.zeros_like(a, dtype=torch.int64)
        going = steps == 0
        answers = torch.where(going, y_hat.argmax(2), answers)
        steps = torch.where(going & (a.sigmoid() >= Q), n, steps)
        if steps.all():
            break
    return Halted(answers, steps)


def measure(model: PonderNet, x: Tensor, max_steps: int) -> Row:
    """Return how a network answers boards x, as `SudokuTask.batch` draws them, when every cell halts by itself.

    Of the "cells" that elimination can know: how many are "wrong", halt "too early" or "exactly" in their round, and
    the `halting_report`, with max_steps + 1 for one that has not halted. "halted": the fraction that has halted by each
    step, [max_steps]; "unknown" and "unknown halted": the same of the open cells that elimination cannot know.
    """
    y, need = SudokuTask.answers(x), SudokuTask.needed_steps(x)
    answers, steps = halt(on_boards(model, round(x.shape[-1] ** 0.5)), x, max_steps)
    steps = torch.where(steps == 0, max_steps + 1, steps)
    known = y >= 0
    taken, needed = steps[known], need[known]
    by_step = torch.arange(1, max_steps + 1)[:, None]
    return {
        "cells": len(taken),
        "wrong": int((answers != y)[known].sum()),
        "too early": int((taken < needed).sum()),
        "exactly": int((taken == needed).sum()),
        **halting_report(taken, needed),
        "halted": (taken <= by_step).double().mean(1).tolist(),
        "unknown": int((~known).sum()),
        "unknown halted": (steps[~known] <= by_step).double().mean(1).tolist(),
    }
