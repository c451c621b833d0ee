"""Networks of lesson 10 with other settings, for its problem sheet and the evidence, and what is measured of them."""

from functools import partial

import torch
from torch import Tensor, nn

from ponder_course.common.measures import by_group, halting_report
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_course.sudoku.lesson import CoverStep, charge_of_stuck, halt
from ponder_course.sudoku.task import UNKNOWN, SudokuTask, sudoku_groups
from ponder_utils.halting import PonderOutput
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet


def learn(
    seed: int,
    updates: int = 400,
    batch: int = 32,
    lambda_p: float = 0.8,
    beta: float = 0.03,
    noise: float = 0.1,
    lowest: float = 0.2,
    highest: float = 0.7,
    charge: float = 1.0,
    step: type[CoverStep] = CoverStep,
) -> PonderNet:
    """Train a network on boards of 4 x 4, as the lesson does where nothing else is given."""
    torch.manual_seed(seed)
    model = PonderNet(step(sudoku_groups(2), 24, noise), 12)
    draw = partial(SudokuTask(2, lowest, highest).batch, batch)
    of_findable = PonderLoss(nn.CrossEntropyLoss(reduction="none"), lambda_p, beta)

    def loss(output: PonderOutput, y: Tensor) -> Tensor:
        return of_findable(output.at(y >= 0), y[y >= 0]).total + charge * charge_of_stuck(output, y)

    return fit(model, loss, draw, updates, lr=1e-2, seed=seed)[0]


def measure(output: PonderOutput, x: Tensor) -> Row:
    """Return how boards x, as `SudokuTask.batch` draws them, are answered in N steps when every cell `halt`s by itself.

    Of the open "cells" that elimination can know: how many are "wrong", halt "too early" or "exactly" in their round;
    and the `halting_report`, with N + 1 for one that has not halted. "by_need": {need: [cells, mean steps]}, "by_step":
    the fraction that is right if all answer at step n, [N].
    Of the open cells that elimination cannot know, "unknown" of them, how many have "given up", and which fraction by
    step n, [N]: "halted".
    """
    y, need, max_steps = SudokuTask.answers(x), SudokuTask.needed_steps(x), len(output.y_hat)
    answers, steps = halt(output)
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
        "by_step": (output.y_hat.argmax(3) == y)[:, known].double().mean(1).tolist(),
        "unknown": len(waited),
        "given up": int((waited <= max_steps).sum()),
        "halted": (waited <= n).double().mean(1).tolist(),
    }
