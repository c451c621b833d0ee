"""Rows about inference: what halting saves on a trained network."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from benchmarks.timing import Effort, Row, compare
from benchmarks.training_rows import BATCH, N, ponder_loss
from ponder_course.common.lines import LineParityTask, mean_over_places, whole_lines_right
from ponder_course.common.local import LocalStep
from ponder_course.common.training import fit
from ponder_utils import GRUStep, ParityTask, PonderLoss, PonderNet, evaluate, train

TASK = ParityTask(8)
TARGETS = {1: 1.0, 128: 0.75, 1024: 0.48, 8192: 0.44}  # of halting by "sample", by batch size


@torch.no_grad()
def all_steps(model: PonderNet, x: Tensor) -> None:
    """Take all N steps by a forward pass, the fastest way there is."""
    model(x)


def trained_network(n_hidden: int, effort: Effort) -> PonderNet:
    """Return a network that is right on nearly all inputs, and takes about 8 of its 20 steps."""
    torch.manual_seed(0)
    model = PonderNet(GRUStep(8, n_hidden), N)
    n_updates = effort.updates(2000)
    train(model, ponder_loss(), lambda g: TASK.batch(BATCH, g), n_updates, lr=5e-3, clip=0.1, progress=False)
    return model


def inference_rows(effort: Effort) -> list[Row]:
    """Measure halting rules against all N steps, at several batch sizes.

    `needed` is the mean step at which samples halt, as a fraction of N: what would be left if leaving the batch, and
    small batches, cost nothing.
    """
    rows = []
    for n_hidden in (64, 128):
        model = trained_network(n_hidden, effort)
        for batch_size in effort.sizes((1, 128, 1024, 8192)):
            rows.append(halting_row(model, f"GRU {n_hidden}", "sample", batch_size, effort, TARGETS[batch_size]))
        for rule in ("quantile", "most_probable"):
            rows.append(halting_row(model, f"GRU {n_hidden}", rule, 1024, effort))
    return rows


def halting_row(
    model: PonderNet, name: str, rule: str, batch_size: int, effort: Effort, target: float | None = None
) -> Row:
    """Measure one rule on one network at one batch size."""
    x, y = TASK.batch(batch_size, torch.Generator().manual_seed(1))
    score = evaluate(model, x, y)
    effort.require(score.accuracy, at_least=0.99)
    needed = score.steps if rule == "sample" else model.predict(x, rule, check_every=1).computed.float().mean().item()
    rounds = 51 if batch_size <= 128 else 25 if batch_size == 1024 else 9
    row = compare(
        f"{name}, {rule}, batch {batch_size}: halting / all {N} steps",
        partial(model.predict, x, rule, generator=torch.Generator().manual_seed(0)),
        partial(all_steps, model, x),
        effort.rounds(rounds),
        target,
    )
    return row | {"needed": round(needed / N, 3), "accuracy": round(score.accuracy, 4)}


def light_cone_rows(effort: Effort) -> list[Row]:
    """Measure a network that must think (lesson 05), trained on 16 places, on lines of 64: halting / all 80 steps."""
    torch.manual_seed(0)
    trained = PonderNet(LocalStep(2, 32, noise=0.1), 20)
    loss = PonderLoss(mean_over_places, 0.4)
    fit(trained, loss, lambda g: LineParityTask(16).batch(64, g), effort.updates(1000), lr=5e-3)
    model, task = PonderNet(trained.step, 80).eval(), LineParityTask(64)
    rows = []
    for batch_size in effort.sizes((1, 128, 1024)):
        x, y = task.batch(batch_size, torch.Generator().manual_seed(1))
        prediction = model.predict(x, "threshold", q=0.2)
        accuracy = whole_lines_right(prediction.y_hat, y).float().mean().item()
        effort.require(accuracy, at_least=0.97)
        row = compare(
            f"64 places, threshold, batch {batch_size}: halting / all 80 steps",
            partial(model.predict, x, "threshold", q=0.2),
            partial(all_steps, model, x),
            effort.rounds(51 if batch_size == 1 else 15),
        )
        needed = prediction.steps.float().mean().item()
        rows.append(row | {"needed": round(needed / 80, 3), "accuracy": round(accuracy, 4)})
    return rows
