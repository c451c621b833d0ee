"""From scratch to 99 % on parity of 8 elements: labml-nn with its published settings, and the course's network."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from benchmarks.labml import Labml
from benchmarks.timing import Row
from benchmarks.training_rows import BATCH, N, ponder_loss
from ponder_course.common.runs import run_all
from ponder_utils import GRUStep, ParityTask, PonderNet, evaluate, train

TASK = ParityTask(8)
EVERY, MAX_ITERATIONS = 50, 50_000
NOT_REACHED: Row = {"iterations": None, "seconds_to_99": None}


class Reached(Exception):
    """The network is right on 99 % of held-out inputs, halting as it wants."""


def run(who: str, seed: int) -> Row:
    """Return the iterations and seconds of one training until 99 %; what the evaluations take is not counted."""
    torch.manual_seed(seed)
    x, y = TASK.batch(4096, torch.Generator().manual_seed(99))
    return labml_run(x, y) if who == "labml" else our_run(x, y, seed)


def our_run(x: Tensor, y: Tensor, seed: int) -> Row:
    """Train the course's network until it is right on 99 % of x, y."""
    model = PonderNet(GRUStep(8, 64), N)
    evaluating = 0.0  # seconds
    done = 0

    def score(_: nn.Module) -> Row:
        nonlocal evaluating, done
        began = time.perf_counter()
        done += EVERY
        accuracy = evaluate(model, x, y).accuracy
        evaluating += time.perf_counter() - began
        if accuracy >= 0.99:
            raise Reached
        return {"accuracy": accuracy}

    def schedule(optimizer: torch.optim.Optimizer) -> LambdaLR:
        return LambdaLR(optimizer, lambda update: min(1.0, 2 * (1 - update / 2000)))

    start = time.perf_counter()
    try:
        train(
            model,
            ponder_loss(),
            lambda generator: TASK.batch(BATCH, generator),
            2000,
            lr=7e-3,
            clip=0.1,
            seed=seed,
            schedule=schedule,
            evaluate=score,
            log_every=EVERY,
            progress=False,
        )
    except Reached:
        return {"iterations": done, "seconds_to_99": round(time.perf_counter() - start - evaluating, 2)}
    return NOT_REACHED


def labml_run(x: Tensor, y: Tensor) -> Row:
    """Train labml-nn's network until it is right on 99 % of x, y."""
    labml = Labml()
    spent = 0.0  # seconds
    for iterations in range(EVERY, MAX_ITERATIONS + 1, EVERY):
        start = time.perf_counter()
        for _ in range(EVERY):
            labml.iteration()
        spent += time.perf_counter() - start
        if labml.accuracy(x, y) >= 0.99:
            return {"iterations": iterations, "seconds_to_99": round(spent, 2)}
    return NOT_REACHED


def race(file: Path) -> None:
    """Run three seeds of each, two at a time on a thread each; a killed race goes on where it stopped."""
    settings = [{"who": who, "seed": seed} for seed in range(3) for who in ("labml", "ours")]
    summarise(run_all(run, settings, workers=2, file=file, name="to 99 %"))


def summarise(rows: Sequence[Row]) -> None:
    """Print every run, and how much sooner ours are there."""
    medians, per_iteration = {}, {}
    for who in ("labml", "ours"):
        runs = [row for row in rows if row["who"] == who]
        for row in runs:
            print(who, "seed", row["seed"], row["iterations"], "iterations,", row["seconds_to_99"], "seconds")
        medians[who] = statistics.median(row["seconds_to_99"] or math.inf for row in runs)
        if math.isinf(medians[who]):
            print(f"most runs of {who} did not reach 99 % in {MAX_ITERATIONS} iterations: no summary")
            return
        reached = [row for row in runs if row["iterations"]]
        per_iteration[who] = statistics.median(row["seconds_to_99"] / row["iterations"] for row in reached)
    sooner = medians["labml"] / medians["ours"]
    print(
        f"seconds to 99 %, medians: labml {medians['labml']:.0f}, ours {medians['ours']:.1f}, {sooner:.1f} times sooner"
    )
    print("target: at least 20 times:", "holds" if sooner >= 20 else "MISSED")
    faster = per_iteration["labml"] / per_iteration["ours"]
    fewer = sooner / faster
    print(f"of these, {faster:.1f} times by iteration, and {fewer:.1f} times by fewer iterations (lr, clip)")
