"""Rows about inference: what halting saves on a trained network."""

from __future__ import annotations

import torch

from benchmarks.timing import Row, compare
from benchmarks.training_rows import BATCH, N, ponder_loss
from ponder_utils import GRUStep, LineParityTask, ParityTask, PonderNet, evaluate, train
from ponder_course.experiments import light_cone as lines

TASK = ParityTask(8)
TARGETS = {1: "<= 1", 128: "<= 0.75", 1024: "<= 0.48", 8192: "<= 0.44"}


def trained_network(n_hidden: int) -> PonderNet:
    """A network that is right on nearly all inputs, and takes about 8 of its 20 steps."""
    torch.manual_seed(0)
    model = PonderNet(GRUStep(8, n_hidden), N)
    train(model, ponder_loss(), lambda g: TASK.batch(BATCH, g), 2000, lr=5e-3, clip=0.1, progress=False)
    return model


def light_cone_rows() -> list[Row]:
    """A network that must think (lesson 05), trained on 16 places, on lines of 64: halting against all 80 steps."""
    step = lines.learn(**lines.RECIPE, seed=0).step
    model, task, rows = PonderNet(step, 80).eval(), LineParityTask(64), []
    for batch_size in (1, 128, 1024):
        x, y = task.batch(batch_size, torch.Generator().manual_seed(1))
        got = model.predict(x, "threshold", q=0.2)
        right = lines.whole_lines_right(got.y_hat, y).float().mean().item()
        if right < 0.97:
            raise RuntimeError(f"the network has not learnt: right on {right:.1%}")

        def all_steps(x: torch.Tensor = x) -> None:
            with torch.no_grad():
                model(x)

        row = compare(
            f"64 places, threshold, batch {batch_size}: halting / all 80 steps",
            lambda x=x: model.predict(x, "threshold", q=0.2),
            all_steps,
            rounds=51 if batch_size == 1 else 15,
        )
        rows.append(row | {"needed": round(got.steps.float().mean().item() / 80, 3), "accuracy": round(right, 4)})
    return rows


def inference_rows() -> list[Row]:
    """Halting rules against all N steps, at several batch sizes.

    All N steps are a forward pass, the fastest way there is to take them. `needed` is the mean step at which samples
    halt, as a share of N: what would be left if leaving the batch, and small batches, cost nothing.
    """
    rows = []
    for n_hidden in (64, 128):
        model = trained_network(n_hidden)
        for rule in ("sample", "quantile", "most_probable"):
            for batch_size in (1, 128, 1024, 8192) if rule == "sample" else (1024,):
                x, y = TASK.batch(batch_size, torch.Generator().manual_seed(1))
                score, got = evaluate(model, x, y), model.predict(x, rule, look_every=1)
                if score.accuracy < 0.99:
                    raise RuntimeError(f"the network has not learnt: right on {score.accuracy:.1%}")

                def all_steps(x: torch.Tensor = x, model: PonderNet = model) -> None:
                    with torch.no_grad():
                        model(x)

                generator = torch.Generator().manual_seed(0)
                row = compare(
                    f"GRU {n_hidden}, {rule}, batch {batch_size}: halting / all {N} steps",
                    lambda x=x, model=model, rule=rule, g=generator: model.predict(x, rule, generator=g),
                    all_steps,
                    rounds=51 if batch_size <= 128 else 25 if batch_size == 1024 else 9,
                    target=TARGETS[batch_size] if rule == "sample" else "",
                )
                needed = score.steps if rule == "sample" else got.computed.float().mean().item()
                rows.append(row | {"needed": round(needed / N, 3), "accuracy": round(score.accuracy, 4)})
    return rows
