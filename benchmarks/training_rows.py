"""Rows about training: a number of updates, ours and a peer's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks import labml, peers
from benchmarks.timing import Effort, Row, can_compile, row_of, times
from ponder_utils import (
    ACT,
    ACTLoss,
    GRUStep,
    ParityTask,
    PonderLoss,
    PonderNet,
    RecurrentStep,
    RNNCell,
    RNNStep,
    train,
)

N, BATCH = 20, 128
UPDATES = 20  # in one timed call, so that what `train` does once weighs little


def ponder_loss() -> PonderLoss:
    """Return the loss with the criterion of parity."""
    return PonderLoss(peers.bce, 0.2)


def ours(model: nn.Module, loss_fn: Callable, draw: Callable, n_updates: int, lr: float = 3e-4) -> None:
    """Make so many updates by `train`: data, forward, loss, backward, clip, Adam."""
    train(model, loss_fn, draw, n_updates, lr=lr, clip=1.0, progress=False)


def by_hand(model: nn.Module, loss: Callable, draw: Callable, n_updates: int, lr: float = 3e-4) -> None:
    """Make so many updates of a textbook network in a loop of one's own; loss(x, y) is a method of the network."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    generator = torch.Generator().manual_seed(0)
    for _ in range(n_updates):
        optimizer.zero_grad()
        loss(*draw(generator)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def repeated(call: Callable[[], object], times: int) -> None:
    """Call it so many times."""
    for _ in range(times):
        call()


def compare(claim: str, training: Callable, other: Callable, effort: Effort, target: float) -> Row:
    """Time a training of ours and another one in turn."""
    seconds, of_other = times([training, other], effort.rounds(25))
    return row_of(claim, seconds, of_other, target)


def parity_rows(effort: Effort) -> list[Row]:
    """Measure a training on parity against labml-nn's and a textbook loop's, and against itself, compiled."""
    n_updates, draw = effort.updates(UPDATES), partial(ParityTask(8).batch, BATCH)
    training = partial(ours, PonderNet(GRUStep(8, 64), N), ponder_loss(), draw, n_updates)
    rows = []
    if labml.installed() or not effort.smoke:
        other = partial(repeated, labml.Labml(8, 64, N).iteration, n_updates)
        rows.append(compare("training, 8 elements, GRU 64: ours / labml-nn's", training, other, effort, 0.5))
    rows.append(textbook_row(GRUStep(8, 64), nn.GRUCell(8, 64), "8 elements, GRU 64", effort))
    rows.append(textbook_row(RNNStep(64, 128), nn.RNNCell(64, 128), "64 elements, RNN 128", effort))
    if can_compile() and not effort.smoke:  # compiling takes most of a minute
        model, loss_fn = PonderNet(GRUStep(8, 64), N), ponder_loss()
        model.compile()
        loss_fn.compile()
        compiled = partial(ours, model, loss_fn, draw, n_updates)
        rows.append(compare("training, 8 elements, GRU 64: ours, compiled / ours", compiled, training, effort, 1.0))
    return rows


def textbook_row(step: RecurrentStep, cell: nn.RNNCellBase, network: str, effort: Effort) -> Row:
    """Measure a training of ours against the textbook loop."""
    n_updates, draw = effort.updates(UPDATES), partial(ParityTask(cell.input_size).batch, BATCH)
    textbook = peers.TextbookPonderNet(cell, cell.hidden_size, N)
    training = partial(ours, PonderNet(step, N), ponder_loss(), draw, n_updates)
    tutorial = partial(by_hand, textbook, textbook.loss, draw, n_updates)
    return compare(f"training, {network}: ours / textbook loop", training, tutorial, effort, 0.85)


def act_rows(effort: Effort) -> list[Row]:
    """Measure ACT with the sizes of its paper and one time step, with the same weights on both sides.

    It is measured at two lengths of thought. The learning rate is so small that the networks think as long in the last
    round as in the first.
    """
    task, n_updates, lr = ParityTask(64), effort.updates(10), 1e-9
    rows = []

    def draw(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        return task.batch(BATCH, generator)

    def draw_sequence(generator: torch.Generator) -> tuple[Tensor, Tensor]:
        x, y = draw(generator)
        return x[None], y[None]

    for bias in (1.0, -2.0):
        act, textbook = ACT(RNNCell(65, 128)), peers.TextbookACT(nn.RNNCell(65, 128), 128)
        nn.init.normal_(act.halting.weight, std=0.2)
        nn.init.constant_(act.halting.bias, bias)
        peers.copy_act(act, textbook)
        training = partial(ours, act, ACTLoss(peers.bce, tau=1e-3), draw_sequence, n_updates, lr)
        tutorial = partial(by_hand, textbook, partial(textbook.loss, tau=1e-3), draw, n_updates, lr)
        steps = act(draw_sequence(torch.Generator().manual_seed(0))[0]).steps.float()
        name = f"training, ACT, {steps.mean():.1f} steps on average, at most {steps.max():.0f}: ours / textbook loop"
        rows.append(compare(name, training, tutorial, effort, 1.0))
    return rows
