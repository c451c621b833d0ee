"""From scratch to 99 % on parity of 8 elements: labml-nn with its published settings, and the course's network.

PYTHONPATH=. python evidence/benchmarks/to_99_percent.py    20 minutes; needs labml-nn, from course-package[bench]
"""

import math
import statistics
import time
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.labml import Labml
from benchmarks.training_rows import BATCH, N, ponder_loss
from ponder_course.common.store import Row
from ponder_evidence.runs import run_and_keep
from ponder_utils import GRUStep, ParityTask, PonderNet, evaluate

FILE = Path(__file__).with_suffix(".jsonl")
TASK = ParityTask(8)
EVERY = 50
MAX_ITERATIONS = {"labml": 50_000, "ours": 2_000}


class Ours:
    """The course's network, with a learning rate that stays for half of its updates and falls to 0 in the other."""

    def __init__(self, seed: int) -> None:
        self.model = PonderNet(GRUStep(8, 64), N)
        self.loss = ponder_loss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=7e-3, fused=True)
        left = MAX_ITERATIONS["ours"]
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda n: min(1.0, 2 * (1 - n / left)))
        self.generator = torch.Generator().manual_seed(seed)

    def iteration(self) -> None:
        """Make one update; drawing the batch is part of it."""
        x, y = TASK.batch(BATCH, self.generator)
        self.loss(self.model(x), y).total.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=0.1)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad()

    def accuracy(self, x: Tensor, y: Tensor) -> float:
        """Return the accuracy of sampled halting, in expectation."""
        return evaluate(self.model, x, y).accuracy


def run(who: str, seed: int) -> Row:
    """Return the iterations and seconds of one training until 99 %; what the evaluations take is not counted."""
    torch.manual_seed(seed)
    x, y = TASK.batch(4096, torch.Generator().manual_seed(99))
    network: Labml | Ours = Labml() if who == "labml" else Ours(seed)
    spent = 0.0  # seconds
    for iterations in range(EVERY, MAX_ITERATIONS[who] + 1, EVERY):
        start = time.perf_counter()
        for _ in range(EVERY):
            network.iteration()
        spent += time.perf_counter() - start
        if network.accuracy(x, y) >= 0.99:
            return {"iterations": iterations, "seconds_to_99": round(spent, 2)}
    return {"iterations": None, "seconds_to_99": None}


def main() -> None:
    """Run three seeds of each, two at a time; print every run, and how much sooner ours are there."""
    settings = [{"who": who, "seed": seed} for seed in range(3) for who in ("labml", "ours")]
    rows = run_and_keep(run, settings, FILE, workers=2, name="to 99 %")
    medians = {}
    for who in ("labml", "ours"):
        runs = [row for row in rows if row["who"] == who]
        for row in runs:
            print(who, "seed", row["seed"], row["iterations"], "iterations,", row["seconds_to_99"], "seconds")
        medians[who] = statistics.median(row["seconds_to_99"] or math.inf for row in runs)
    print(f"medians of seconds: {medians}; ours are there {medians['labml'] / medians['ours']:.1f} times sooner")


if __name__ == "__main__":
    main()
