"""The recipe of lesson 09, and its variants."""

from typing import Any

import torch

from ponder_course.adding_a_column.lesson import PHASES, ColumnStep, loss_of_sum, train_phase
from ponder_utils.losses import FixedDepthLoss
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import Step


def learn(
    seed: int, carry: str = "halted", always: bool = False, channels: int = 48, phases: Any = None, prices: Any = None
) -> PonderSequence:
    """Train a network, phase by phase; with other prices (lambda_p, beta) in all phases, if they are given.

    always: without halting. It learns from the answers at all steps, and passes on the state of step N. phases: as in
    the lesson, or flat, [narrow, widest, ...], as stored runs have them.
    """
    torch.manual_seed(seed)
    return fit_phases(ColumnStep(channels), seed, phases, carry, always, prices)


def fit_phases(
    step: Step, seed: int, phases: Any = None, carry: str = "halted", always: bool = False, prices: Any = None
) -> PonderSequence:
    """Train a step by the recipe of `learn`, and return its network."""
    for phase in phases or PHASES:
        digits, numbers, N, *rest = phase if len(phase) == 8 else [(phase[0], phase[1]), *phase[2:]]
        price = prices or rest[-2:]
        loss = FixedDepthLoss(loss_of_sum, every_step=True) if always else None
        train_phase(step, seed, (digits, numbers, N, *rest[:-2], *price), "last" if always else carry, loss)
    return PonderSequence(step, N, carry).eval()
