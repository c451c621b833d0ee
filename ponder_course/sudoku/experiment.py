"""Networks that are trained on small sudokus, where every cell halts by itself, and tested on larger ones."""

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ponder_course.common.measures import at_step, by_group, halting_report
from ponder_course.common.store import Row
from ponder_course.common.training import Loss, fit
from ponder_course.sudoku.cover import CoverStep
from ponder_course.sudoku.task import UNKNOWN, SudokuTask, sudoku_groups
from ponder_utils._check import check_real
from ponder_utils.halting import PonderOutput
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet

CHANNELS, NOISE, N, BATCH, UPDATES, LR = 24, 0.1, 12, 32, 400, 1e-2
LAMBDA_P, BETA, CHARGE = 0.8, 0.03, 1.0
Q = 0.5  # a cell halts at the first step with lambda_n >= Q


def loss_of_cells(loss: PonderLoss, charge: float = CHARGE) -> Loss:
    """Return the loss over open cells that elimination can know, each a sample of its own.

    charge: of the others the probability that they halt before step N is added, on average, this many times.
    """

    def total(output: PonderOutput, y: Tensor) -> Tensor:
        known, unknown = y >= 0, y == UNKNOWN
        value: Tensor = loss(output.at(known), y[known]).total
        if charge and unknown.any():
            survival = output.at(unknown).log_survival
            value = value + charge * -torch.expm1(survival[-2]).mean()
        return value

    return total


def learn(
    seed: int,
    updates: int = UPDATES,
    batch: int = BATCH,
    lambda_p: float = LAMBDA_P,
    beta: float = BETA,
    noise: float = NOISE,
    lowest: float = 0.2,
    highest: float = 0.7,
    charge: float = CHARGE,
    step: type[CoverStep] = CoverStep,
) -> PonderNet:
    """Train a network on boards of 4 x 4, with `loss_of_cells`."""
    torch.manual_seed(seed)
    model = PonderNet(step(sudoku_groups(2), CHANNELS, noise), N)
    draw = partial(SudokuTask(2, lowest, highest).batch, batch)
    loss = loss_of_cells(PonderLoss(nn.CrossEntropyLoss(reduction="none"), lambda_p, beta), charge)
    model, _ = fit(model, loss, draw, updates, lr=LR, clip=1.0, seed=seed)
    return model


def on_boards(model: PonderNet, box: int) -> CoverStep:
    """Return the step of a network, in evaluation mode, for boards of box x box boxes."""
    step: CoverStep = model.step
    return step.on(sudoku_groups(box)).to(next(model.parameters()).device).eval()


class Halted(NamedTuple):
    """What the cells of some boards answer, and when."""

    answers: Tensor  # [batch, cells] the digit, from 0, at the step at which the cell halts, or at the last
    steps: Tensor  # [batch, cells] that step; 0 for a cell that has not halted
    by_step: Tensor  # [N, batch, cells] the digit at each step


def halt(output: PonderOutput, certainty: float | None = None) -> Halted:
    """Return when each cell halts, and with which answer: at its first step with lambda_n >= Q.

    certainty: instead at its first step at which it gives a digit this probability, in (0, 1], or more.
    """
    by_step = output.y_hat.argmax(3)
    halts = output.halt_logits.sigmoid() >= Q
    if certainty is not None:
        halts = output.y_hat.softmax(3).amax(3) >= check_real("certainty", certainty, 0, 1, open_low=True)
    steps = torch.where(halts.any(0), halts.long().argmax(0) + 1, 0)
    return Halted(at_step(by_step, torch.where(steps > 0, steps, len(by_step))), steps, by_step)


def measure(output: PonderOutput, x: Tensor, certainty: float | None = None) -> Row:
    """Return how boards x, as `SudokuTask.batch` draws them, are answered in N steps when every cell `halt`s by itself.

    Of the open "cells" that elimination can know: how many are "wrong", halt "too early" or "exactly" in their round;
    and the `halting_report`, with N + 1 for one that has not halted. "by_need": {need: [cells, mean steps]}, "by_step":
    the fraction that is right if all answer at step n, [N].
    Of the open cells that elimination cannot know, "unknown" of them, how many have "given up", and which fraction by
    step n, [N]: "halted".
    """
    y, need, max_steps = SudokuTask.answers(x), SudokuTask.needed_steps(x), len(output.y_hat)
    answers, steps, by_step = halt(output, certainty)
    steps = torch.where(steps == 0, max_steps + 1, steps)
    known, unknown = y >= 0, y == UNKNOWN
    taken, needed, waited = steps[known], need[known], steps[unknown]
    n = torch.arange(1, max_steps + 1, device=x.device)[:, None]
    return {
        "cells": len(taken),
        "wrong": int((answers != y)[known].sum()),
        "too early": int((taken < needed).sum()),
        "exactly": int((taken == needed).sum()),
        **halting_report(taken, needed),
        "by_need": {need: [*row.values()] for need, row in by_group(needed, steps=taken).items()},
        "by_step": (by_step == y)[:, known].double().mean(1).tolist(),
        "unknown": len(waited),
        "given up": int((waited <= max_steps).sum()),
        "halted": (waited <= n).double().mean(1).tolist(),
    }
