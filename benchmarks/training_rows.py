"""Rows about training: data, iterations, and memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks import labml, peers
from benchmarks.timing import Effort, Row, can_compile, compare
from ponder_course.common.digits import load_digits
from ponder_course.mnist_rotation.networks import ConvEncoder, MLPCell
from ponder_course.mnist_rotation.task import RotationTask
from ponder_utils import (
    ACT,
    ACTLoss,
    EncodedStep,
    GRUStep,
    ParityTask,
    PonderLoss,
    PonderNet,
    RecurrentStep,
    RNNCell,
    RNNStep,
    train,
)

N, BATCH, ROUNDS = 20, 128, 25
UPDATES = 20  # in one timed call, so that what `train` does once weighs little


def ponder_loss(lambda_p: float = 0.2) -> PonderLoss:
    """Return the loss with the criterion of parity."""
    return PonderLoss(peers.bce, lambda_p)


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


def parity_rows(effort: Effort) -> list[Row]:
    """Measure batches and updates of parity against labml-nn, a textbook loop and the matrix products alone."""
    rows = []
    if labml.installed() or not effort.smoke:
        rows += labml_rows(effort)
    rows += textbook_rows(GRUStep(8, 64), nn.GRUCell(8, 64), "8 elements, GRU 64", effort)
    rows += textbook_rows(RNNStep(64, 128), nn.RNNCell(64, 128), "64 elements, RNN 128", effort)
    return rows


def labml_rows(effort: Effort) -> list[Row]:
    """Measure the rows for which labml-nn must be installed."""
    rows = []
    n_updates = effort.updates(UPDATES)
    generator = torch.Generator().manual_seed(0)
    for n_elements in (8, 64):
        loader = labml.Labml(n_elements).batches
        batch = partial(ParityTask(n_elements).batch, BATCH, generator)
        name = f"a batch of 128, {n_elements} elements: at once / labml's loader"
        rows.append(compare(name, batch, partial(next, loader), effort.rounds(ROUNDS)))
    draw = partial(ParityTask(8).batch, BATCH)
    training = partial(ours, PonderNet(GRUStep(8, 64), N), ponder_loss(), draw, n_updates)
    other = partial(repeated, labml.Labml(8, 64, N).iteration, n_updates)
    name = "training, 8 elements, GRU 64: ours / labml's"
    rows.append(compare(name, training, other, effort.rounds(ROUNDS), target=round(1 / 2.2, 4)))
    return rows


def textbook_rows(step: RecurrentStep, cell: nn.RNNCellBase, network: str, effort: Effort) -> list[Row]:
    """Measure a training of ours, and the same compiled, against the textbook loop and the products alone."""
    n_elements, n_hidden = cell.input_size, cell.hidden_size
    n_updates, rounds = effort.updates(UPDATES), effort.rounds(ROUNDS)
    draw = partial(ParityTask(n_elements).batch, BATCH)
    textbook = peers.TextbookPonderNet(cell, n_hidden, N)
    training = partial(ours, PonderNet(step, N), ponder_loss(), draw, n_updates)
    tutorial = partial(by_hand, textbook, textbook.loss, draw, n_updates)
    products = partial(repeated, peers.products_alone(n_elements, n_hidden, step.cell.n_gates), n_updates)
    rows = [
        compare(f"training, {network}: ours / textbook loop", training, tutorial, rounds),
        compare(f"training, {network}: ours / its products alone", training, products, rounds, target=2.0),
    ]
    if can_compile() and not effort.smoke:  # compiling takes most of a minute
        model, loss_fn = PonderNet(type(step)(n_elements, n_hidden), N), ponder_loss()
        model.compile()
        loss_fn.compile()
        compiled = partial(ours, model, loss_fn, draw, n_updates)
        rows.append(compare(f"training, {network}: ours, compiled / ours", compiled, training, rounds))
        rows.append(compare(f"training, {network}: ours, compiled / its products alone", compiled, products, rounds))
    return rows


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
        nn.init.normal_(textbook.halt.weight, std=0.3)
        nn.init.constant_(textbook.halt.bias, bias)
        peers.copy_act(textbook, act)
        training = partial(ours, act, ACTLoss(peers.bce, tau=1e-3), draw_sequence, n_updates, lr)
        tutorial = partial(by_hand, textbook, partial(textbook.loss, tau=1e-3), draw, n_updates, lr)
        steps = act(draw_sequence(torch.Generator().manual_seed(0))[0]).steps.float()
        name = f"training, ACT, {steps.mean():.1f} steps on average, at most {steps.max():.0f}: ours / textbook loop"
        rows.append(compare(name, training, tutorial, effort.rounds(ROUNDS)))
    return rows


def image_rows(effort: Effort) -> list[Row]:
    """Measure the data of an epoch of rotated digits, and a training iteration of the network of two write-ups."""
    x, y = load_digits("digits").train
    task, generator = RotationTask(x, y, within=22.5), torch.Generator().manual_seed(0)
    loader = peers.image_loader(x, y)
    once = EncodedStep(ConvEncoder(64), RecurrentStep(MLPCell(64, 64, dropout=0.2), n_outputs=10))
    loss_fn = PonderLoss(nn.CrossEntropyLoss(reduction="none"), prior=0.2)

    def every_step(x: Tensor, h: Tensor | None) -> tuple:
        z, _ = once.encode(x)
        return once(z, h)

    def iteration(step: Callable) -> None:
        inputs, labels = task.batch(BATCH, generator)
        loss_fn(PonderNet(step, N)(inputs), labels).total.backward()

    def epoch() -> None:
        for _ in range(len(loader)):
            task.batch(BATCH, generator)[0].sub_(0.1307).div_(0.3081)

    return [
        compare(
            "an epoch of rotated digits: in batches / image by image",
            epoch,
            lambda: list(loader),
            effort.rounds(ROUNDS),
        ),
        compare(
            "training on digits: encoder once / at each of 20 steps",
            partial(iteration, once),
            partial(iteration, every_step),
            effort.rounds(7),
        ),
    ]
