"""Work expands to fill the loops: how fast news travels where only the answer after the last of N steps is learnt from.

Beside it networks that learn from the answer after every step. Neither has a halting head.
"""

from functools import partial

import torch
from torch import Tensor

from ponder_course.common.lines import LineParityTask
from ponder_course.common.measures import mean, think
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_course.light_cone.experiment import fresh
from ponder_course.light_cone.lesson import LocalStep, loss_of_line
from ponder_evidence.light_cone.experiment import BATCH, CHANNELS
from ponder_evidence.runs import grid
from ponder_utils.evaluation import binary_correct
from ponder_utils.losses import FixedDepthLoss
from ponder_utils.pondernet import PonderNet

N_LINES = 4000
QUANTILE = 0.9  # of places: half of them are right by luck before the news has come


def right_for_good(right: Tensor) -> Tensor:
    """Return the step from which each place is right and stays so, N + 1 if it is wrong at the last: [N, ...] -> [...].

    right: bool [N, ...], whether it is right after each step.
    """
    stays = right.flip(0).int().cummin(0).values  # from the last step backwards
    return len(right) + 1 - stays.sum(0)


def measure(model: PonderNet, task: LineParityTask, N: int, n_lines: int = N_LINES) -> Row:
    """Return when the places of fresh lines are right for good, within N steps, beside their need L.

    "places_right", "lines_right": the fraction that is right at step N; "by_step": of lines, at each step; "since": for
    L from 1 to the line's length, the step from which a QUANTILE of the places of that need is right for good (N + 1:
    not within N steps); "slope": the steps by which that rises from one L to the next, by least squares.
    """
    x, y = fresh(task, n_lines)
    y_hat = think(model, x, N).y_hat  # [N, lines, places]
    right = binary_correct(y_hat, y.expand_as(y_hat))
    need, step = task.needed_steps(x), right_for_good(right).double()
    needs = torch.arange(1, task.n_places + 1)
    since = torch.stack([step[need == L].quantile(QUANTILE, interpolation="higher") for L in needs])
    distance = needs - needs.double().mean()
    return {
        "places_right": mean(right[-1]),
        "lines_right": mean(right[-1].all(1)),
        "by_step": right.all(2).double().mean(1).tolist(),
        "since": since.tolist(),
        "slope": ((distance * since).sum() / (distance**2).sum()).item(),
    }


def run(*, places: int, N: int, every_step: bool, noise: float, seed: int, updates: int, lr: float) -> Row:
    """Train a network of N steps, and `measure` it within as many."""
    torch.manual_seed(seed)
    task = LineParityTask(places)
    model = PonderNet(LocalStep(2, CHANNELS, noise=noise), N)
    loss = FixedDepthLoss(loss_of_line, every_step)
    fit(model, loss, partial(task.batch, BATCH), updates, lr=lr, seed=seed)
    return rounded(measure(model, task, N))


# Lesson 05's network and training. Lines of 12 places, all of whose answers can be known after 12 steps.
RECIPE: Row = {"places": 12, "noise": 0.1, "updates": 1000, "lr": 5e-3}
KINDS: list[Row] = [{"every_step": every_step, "N": N} for every_step in (False, True) for N in (12, 24, 36)]
SETTINGS = seeded([RECIPE | kind for kind in KINDS], 5, seed_by_seed=True)
EXPERIMENTS = {"deadline": grid("05_light_cone_deadline", run, SETTINGS, {"updates": 5}, n_short=len(KINDS))}
