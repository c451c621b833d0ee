"""Measure what this machine's GPU makes of training and of halting, into benchmarks/gpu.json: make gpu.

python -m benchmarks.gpu             updates a second of lines and mazes, by batch and width; halting, by batch
python -m benchmarks.gpu --halting   halting alone, in a minute or two; what else is in the file stays

It exits with 2 on a machine without a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
from collections.abc import Callable
from datetime import date
from typing import Any, NamedTuple

import torch
from torch import nn

from benchmarks.inference_rows import inference_rows, what_it_buys
from benchmarks.timing import ROOT, Effort, Row, seconds
from ponder_course.common.lines import LineParityTask
from ponder_course.common.training import of_asked
from ponder_course.light_cone.lesson import LocalStep, loss_of_line
from ponder_course.map_of_thought.lesson import MazeStep
from ponder_course.map_of_thought.task import MazeTask
from ponder_utils import PonderLoss, PonderNet, __version__
from ponder_utils.checkpoints import atomic_write

NO_GPU = "make gpu: this machine has no GPU that PyTorch can use; nothing was run."


class Work(NamedTuple):
    """A network and its task, of one width."""

    task: Any
    step: Callable[[int], nn.Module]  # width -> step
    loss: Callable[..., Any]
    max_steps: int


CRITERION = nn.BCEWithLogitsLoss(reduction="none")
WORKS = {
    "lines": Work(
        LineParityTask(16),
        lambda width: LocalStep(2, width, noise=0.1),
        PonderLoss(loss_of_line, 0.4),
        20,
    ),
    "mazes": Work(MazeTask(5), lambda width: MazeStep(width, noise=0.1), of_asked(PonderLoss(CRITERION, 0.8)), 24),
}
BATCHES = {"lines": (64, 256, 1024, 4096), "mazes": (32, 128, 512, 2048)}
WIDTHS = (32, 64, 128, 256)


def machine() -> Row:
    """Return what the numbers depend on."""
    gpu = torch.cuda.get_device_properties(0) if torch.cuda.is_available() else None
    return {
        "gpu": gpu and gpu.name,
        "gpu_gb": gpu and round(gpu.total_memory / 2**30, 1),
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "version": __version__,
        "date": str(date.today()),
    }


def updates_per_second(work: Work, batch: int, width: int, device: str, effort: Effort) -> float | None:
    """Return how many updates (forward, loss, backward, Adam) of one batch a second holds; None if memory runs out."""
    try:
        model = PonderNet(work.step(width), work.max_steps).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        x, y = (part.to(device) for part in work.task.batch(batch, torch.Generator().manual_seed(0)))

        def update() -> None:
            optimizer.zero_grad()
            work.loss(model(x), y).total.backward()
            optimizer.step()

        update()
        update()
        return round(1 / statistics.median(seconds(update) for _ in range(effort.rounds(15))), 2)
    except torch.OutOfMemoryError:
        return None


def table(device: str, effort: Effort, n_sizes: int) -> list[Row]:
    """Measure lines and mazes at the smallest batches and widths: a row for each, printed as it comes."""
    rows = []
    for name, work in WORKS.items():
        for batch in BATCHES[name][:n_sizes]:
            for width in WIDTHS[:n_sizes]:
                rate = updates_per_second(work, batch, width, device, effort)
                row = {"task": name, "batch": batch, "width": width, "device": device, "updates_per_second": rate}
                print(f"{name}, batch {batch}, width {width}, {device}: {rate} updates a second", flush=True)
                rows.append(row)
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Measure what the command line asks for, and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halting", action="store_true")
    chosen = parser.parse_args(arguments)
    effort, file = Effort(), ROOT / "benchmarks" / "gpu.json"
    if not torch.cuda.is_available():
        print(NO_GPU)
        return 2
    torch.set_num_threads(1)  # as in the lessons
    if chosen.halting:
        record = json.loads(file.read_text(encoding="utf-8"))
    else:
        rows = table("cuda", effort, len(WIDTHS)) + table("cpu", effort, 2)
        record = {"made_with": machine(), "table": rows}
    record["halting"] = {"made_with": machine(), "rows": inference_rows(effort, "cuda")}
    print(what_it_buys(record["halting"]["rows"]))
    with atomic_write(file) as draft:
        draft.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"All is in {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
