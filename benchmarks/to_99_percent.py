"""From scratch to 99 % on parity of 8 elements: labml-nn with its published settings, and the course's network."""

from __future__ import annotations

import math
import statistics
import time
from pathlib import Path

import torch
from torch.optim.lr_scheduler import LambdaLR

from benchmarks.labml import Labml
from benchmarks.timing import Row
from benchmarks.training_rows import BATCH, N, ponder_loss
from ponder_utils import GRUStep, ParityTask, PonderNet, evaluate, train
from ponder_course.results import run_grid

TASK = ParityTask(8)
EVERY, AT_MOST = 50, 50_000


class Reached(Exception):
    """The network is right on 99 % of held-out inputs, halting as it wants."""


def run(who: str, seed: int) -> Row:
    """Iterations and seconds of one training until 99 %; what the evaluations take is not counted."""
    torch.manual_seed(seed)
    held_out = TASK.batch(4096, torch.Generator().manual_seed(99))
    return {"ours": _ours, "labml": _labml}[who](seed, held_out)


def _ours(seed: int, held_out: tuple) -> Row:
    model, evaluating = PonderNet(GRUStep(8, 64), N), 0.0
    start, done = time.perf_counter(), 0

    def watch(model: PonderNet) -> Row:
        nonlocal evaluating, done
        began, done = time.perf_counter(), done + EVERY
        accuracy = evaluate(model, *held_out).accuracy
        evaluating += time.perf_counter() - began
        if accuracy >= 0.99:
            raise Reached
        return {"accuracy": accuracy}

    def cool_down(optimizer: torch.optim.Optimizer) -> LambdaLR:
        return LambdaLR(optimizer, lambda update: min(1.0, 2 * (1 - update / 2000)))

    options = {"lr": 7e-3, "clip": 0.1, "seed": seed, "schedule": cool_down, "progress": False}
    try:
        train(model, ponder_loss(), lambda g: TASK.batch(BATCH, g), 2000, evaluate=watch, log_every=EVERY, **options)
    except Reached:
        return {"iterations": done, "seconds_to_99": round(time.perf_counter() - start - evaluating, 2)}
    return {"iterations": None, "seconds_to_99": None}


def _labml(seed: int, held_out: tuple) -> Row:
    labml, spent = Labml(), 0.0
    for iterations in range(EVERY, AT_MOST + 1, EVERY):
        start = time.perf_counter()
        for _ in range(EVERY):
            labml.iteration()
        spent += time.perf_counter() - start
        if labml.accuracy(*held_out) >= 0.99:
            return {"iterations": iterations, "seconds_to_99": round(spent, 2)}
    return {"iterations": None, "seconds_to_99": None}


def race(file: Path) -> None:
    """Three seeds of each, two at a time on a thread each; a killed race goes on where it stopped."""
    settings = [{"who": who, "seed": seed} for seed in range(3) for who in ("labml", "ours")]
    rows = run_grid(run, settings, workers=2, store=file, name="to 99 %")
    medians, by_iteration = {}, {}
    for who in ("labml", "ours"):
        its = [row for row in rows if row["who"] == who]
        for row in its:
            print(who, "seed", row["seed"], row["iterations"], "iterations,", row["seconds_to_99"], "seconds")
        medians[who] = statistics.median(row["seconds_to_99"] or math.inf for row in its)
        if math.isinf(medians[who]):
            print(f"most runs of {who} did not reach 99 % in {AT_MOST} iterations: no summary")
            return
        reached = [row for row in its if row["iterations"]]
        by_iteration[who] = statistics.median(row["seconds_to_99"] / row["iterations"] for row in reached)
    ratio = medians["labml"] / medians["ours"]
    print(
        f"seconds to 99 %, medians: labml {medians['labml']:.0f}, ours {medians['ours']:.1f}, {ratio:.1f} times sooner"
    )
    print("target: at least 20 times:", "holds" if ratio >= 20 else "MISSED")
    each = by_iteration["labml"] / by_iteration["ours"]
    print(f"of these, {each:.1f} times by iteration, and {ratio / each:.1f} times by fewer iterations (lr, clip)")
