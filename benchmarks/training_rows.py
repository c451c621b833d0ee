"""Rows about training: data, iterations, many networks at once, and memory."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from benchmarks import peers
from benchmarks.labml import Labml
from benchmarks.timing import Row, can_compile, compare, peak_bytes, seconds
from ponder_utils import (
    ACT,
    ACTLoss,
    CheckpointedStep,
    ConvEncoder,
    EncodedStep,
    GRUStep,
    MLPCell,
    ParityTask,
    PonderLoss,
    PonderNet,
    RecurrentStep,
    RNNCell,
    RNNStep,
    RotationTask,
    load_digits,
    train,
    train_many,
)

N, BATCH = 20, 128


def iterations(model: nn.Module, loss_fn: Callable, task: ParityTask, n: int) -> None:
    """So many updates by `train`: data, forward, loss, backward, clip, Adam."""
    train(model, loss_fn, lambda g: task.batch(BATCH, g), n, lr=3e-4, progress=False)


def by_hand(loss: Callable, model: nn.Module, task: ParityTask, n: int, lr: float = 3e-4) -> None:
    """The same around a textbook network, which computes its own loss."""
    optimizer, generator = torch.optim.Adam(model.parameters(), lr=lr), torch.Generator().manual_seed(0)
    for _ in range(n):
        optimizer.zero_grad()
        loss(*task.batch(BATCH, generator)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def ponder_loss(lambda_p: float = 0.2, max_steps: int = N) -> PonderLoss:
    """With the criterion of parity."""
    return PonderLoss(peers.bce, lambda_p, max_steps)


def parity_rows() -> list[Row]:
    """Twenty iterations a call, so that what `train` sets up once weighs little."""
    rows, twenty = [], 20
    generator = torch.Generator().manual_seed(0)
    for n_elements in (8, 64):
        labml, task = Labml(n_elements), ParityTask(n_elements)
        name = f"a batch of 128, {n_elements} elements: at once / labml's loader"
        rows.append(compare(name, partial(task.batch, BATCH, generator), partial(next, labml.batches)))
    for step, n_elements, n_hidden, cell in ((GRUStep, 8, 64, nn.GRUCell), (RNNStep, 64, 128, nn.RNNCell)):
        task, network = ParityTask(n_elements), f"{n_elements} elements, {step.__name__[:3]} {n_hidden}"
        ours = partial(iterations, PonderNet(step(n_elements, n_hidden), N), ponder_loss(), task, twenty)
        if step is GRUStep:
            labml = Labml(n_elements, n_hidden, N)
            rows.append(
                compare(
                    f"training, {network}: ours / labml's",
                    ours,
                    lambda labml=labml: [labml.iteration() for _ in range(twenty)],
                    target="<= 0.4545",  # 1 / 2.2
                )
            )
        textbook = peers.TextbookPonderNet(cell(n_elements, n_hidden), n_hidden, N)
        rows.append(
            compare(
                f"training, {network}: ours / textbook loop",
                ours,
                partial(by_hand, textbook.loss, textbook, task, twenty),
            )
        )
        products = peers.products_alone(n_elements, n_hidden, ours.args[0].step.cell.n_gates)

        def floor(products: Callable = products) -> None:
            for _ in range(twenty):
                products()

        rows.append(compare(f"training, {network}: ours / its products alone", ours, floor, target="<= 2"))
        if can_compile():
            model, loss = PonderNet(step(n_elements, n_hidden), N), ponder_loss()
            model.compile()
            loss.compile()
            compiled = partial(iterations, model, loss, task, twenty)
            rows.append(compare(f"training, {network}: ours, compiled / ours", compiled, ours))
            rows.append(compare(f"training, {network}: ours, compiled / its products alone", compiled, floor))
    return rows


def act_rows() -> list[Row]:
    """ACT with the sizes of its paper and one time step, at two lengths of thought; the same weights on both sides.

    The learning rate is so small that the networks think as long in the last round as in the first.
    """
    task, ten, lr, rows = ParityTask(64), 10, 1e-9, []
    for bias in (1.0, -2.0):
        act, textbook = ACT(RNNCell(65, 128)), peers.TextbookACT(nn.RNNCell(65, 128), 128)
        nn.init.normal_(textbook.halt.weight, std=0.3)
        nn.init.constant_(textbook.halt.bias, bias)
        peers.same_act(textbook, act)
        loss = ACTLoss(peers.bce, tau=1e-3)

        def draw(generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
            x, y = task.batch(BATCH, generator)
            return x[None], y[None]

        def ours(act: ACT = act, loss: ACTLoss = loss) -> None:
            train(act, loss, draw, ten, lr=lr, progress=False)

        n_updates = act(draw(torch.Generator().manual_seed(0))[0]).n_updates.float()
        other = partial(by_hand, lambda x, y, t=textbook: t.loss(x, y, 1e-3), textbook, task, ten, lr)
        name = f"training, ACT, {n_updates.mean():.1f} updates in the mean, {n_updates.max():.0f} at most"
        rows.append(compare(f"{name}: ours / textbook loop", ours, other))
    return rows


def image_rows() -> list[Row]:
    """Rotated digits: the data of an epoch, and a training iteration of the network of the two write-ups."""
    x, y = load_digits("digits").train
    task, generator = RotationTask(x, y, within=22.5), torch.Generator().manual_seed(0)
    loader = peers.image_loader(x, y)
    once = EncodedStep(ConvEncoder(64), RecurrentStep(MLPCell(64, 64, dropout=0.2), n_outputs=10))
    loss = PonderLoss(nn.CrossEntropyLoss(reduction="none"), prior=0.2, max_steps=N)

    def every_step(x: torch.Tensor, h: torch.Tensor | None) -> tuple:
        return once(once.start(x)[0], h)

    def iteration(step: Callable) -> None:
        inputs, labels = task.batch(BATCH, generator)
        loss(PonderNet(step, N)(inputs), labels).total.backward()

    def epoch() -> None:
        for _ in loader.batch_sampler:
            task.batch(BATCH, generator)[0].sub_(0.1307).div_(0.3081)

    return [
        compare("an epoch of rotated digits: in batches / image by image", epoch, lambda: list(loader)),
        compare(
            "training on digits: encoder once / at each of 20 steps",
            partial(iteration, once),
            partial(iteration, every_step),
            rounds=7,
        ),
    ]


def many_rows() -> list[Row]:
    """K networks by `train_many`, and one after the other by `train`: where stacking pays, and where it does not."""
    rows = []
    for n_hidden, batch in ((64, 64), (128, 128)):
        for k in (1, 5, 25):
            task = ParityTask(8)
            models = [PonderNet(RNNStep(8, n_hidden), N) for _ in range(k)]
            losses = [ponder_loss(lambda_p) for lambda_p, _ in zip((0.1, 0.3, 0.5, 0.7, 0.9) * 5, models, strict=False)]
            draw, options = partial(task.batch, batch), {"lr": 3e-4, "progress": False}

            def together(
                models: list = models, losses: list = losses, draw: Callable = draw, o: dict = options
            ) -> None:
                train_many(models, losses, draw, 10, seeds=range(len(models)), **o)

            def alone(models: list = models, losses: list = losses, draw: Callable = draw, o: dict = options) -> None:
                for model, loss in zip(models, losses, strict=True):
                    train(model, loss, draw, 10, **o)

            name = f"{k} networks, RNN {n_hidden}, batch {batch}: stacked / one by one"
            rows.append(compare(name, together, alone, rounds=7 if k < 25 else 5))
    return rows


def memory_rows() -> list[Row]:
    """Peak memory of a training iteration against N, plain and with steps recomputed in segments of about sqrt(N)."""
    x, y = ParityTask(8).batch(BATCH)
    rows = []
    for max_steps in (5, 10, 20, 40, 80, 160):
        step, row = GRUStep(8, 64), {"N": max_steps, "segment": round(math.sqrt(max_steps))}
        for kind, its in (("plain", step), ("recomputed", CheckpointedStep(step, row["segment"]))):
            model, loss = PonderNet(its, max_steps), ponder_loss(max_steps=max_steps)

            def iteration(model: PonderNet = model, loss: PonderLoss = loss) -> None:
                loss(model(x), y).total.backward()

            iteration()
            model.zero_grad(set_to_none=False)
            row[f"{kind}_mb"] = round(peak_bytes(iteration) / 2**20, 2)
        rows.append(row)
    return rows


def growth_rows() -> list[Row]:
    """Milliseconds of a training iteration, with one size changed at a time."""
    usual, rows = {"N": 20, "batch": 128, "hidden": 64}, []
    for changed, values in {
        "N": (5, 10, 20, 40, 80),
        "batch": (32, 64, 128, 256, 512),
        "hidden": (32, 64, 128, 256),
    }.items():
        for value in values:
            size = usual | {changed: value}
            model, loss = PonderNet(GRUStep(8, size["hidden"]), size["N"]), ponder_loss(max_steps=size["N"])
            x, y = ParityTask(8).batch(size["batch"])

            def iteration(model: PonderNet = model, loss: PonderLoss = loss, x=x, y=y) -> None:  # noqa: ANN001
                loss(model(x), y).total.backward()

            iteration()
            median = statistics.median(seconds(iteration) for _ in range(9))
            rows.append({"changed": changed, **size, "ms": round(1e3 * median, 3)})
    return rows
