"""The recipe of lesson 09, and its variants."""

from typing import Any

import torch

from ponder_course.adding_a_column.lesson import PHASES, ColumnStep, loss_of_sum, train_phase
from ponder_utils.losses import FixedDepthLoss
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import Step


def learn(
    seed: int, carry: str = "halted", always: bool = False, channels: int = 48, phases: Any = PHASES, prices: Any = None
) -> PonderSequence:
    """Train a network, phase by phase; with other prices (lambda_p, beta) in all phases, if they are given.

    always: without halting. It learns from the answers at all steps, and passes on the state of step N. phases: as in
    the lesson.
    """
    torch.manual_seed(seed)
    return fit_phases(ColumnStep(channels), seed, phases, carry, always, prices)


def fit_phases(
    step: Step, seed: int, phases: Any = PHASES, carry: str = "halted", always: bool = False, prices: Any = None
) -> PonderSequence:
    """Train a step by the recipe of `learn`, and return its network."""
    for *sizes, lambda_p, beta in phases:
        loss = FixedDepthLoss(loss_of_sum, every_step=True) if always else None
        train_phase(step, seed, (*sizes, *(prices or (lambda_p, beta))), "last" if always else carry, loss)
    return PonderSequence(step, phases[-1][2], carry).eval()  # N of the last phase
