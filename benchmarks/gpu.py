"""Measure how many updates a second this machine's GPU makes, beside one core, into benchmarks/gpu.json: make gpu.

python -m benchmarks.gpu             lines and mazes, by batch and width
python -m benchmarks.gpu --smoke     a short table, into runs/gpu.json

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
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from benchmarks.timing import Effort, Row, seconds
from ponder_course.common.lines import LineParityTask, mean_over_places
from ponder_course.common.local import LocalStep
from ponder_course.common.training import of_asked
from ponder_course.map_of_thought import experiment as mazes
from ponder_course.map_of_thought.task import MazeTask
from ponder_utils import PonderLoss, PonderNet, __version__
from ponder_utils.checkpoints import atomic_write

ROOT = Path(__file__).resolve().parents[1]
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
        PonderLoss(mean_over_places, 0.4),
        20,
    ),
    "mazes": Work(
        MazeTask(5), lambda width: mazes.MazeStep(width, noise=0.1), of_asked(PonderLoss(CRITERION, 0.8)), 24
    ),
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
    """Measure the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true")
    smoke = parser.parse_args(arguments).smoke
    if not torch.cuda.is_available():
        print(NO_GPU)
        return 2
    torch.set_num_threads(1)  # as in the lessons
    rows = table("cuda", Effort(smoke), 2 if smoke else len(WIDTHS)) + table("cpu", Effort(smoke), 2)
    file = ROOT / ("runs" if smoke else "benchmarks") / "gpu.json"
    with atomic_write(file) as draft:
        draft.write_text(json.dumps({"made_with": machine(), "table": rows}, indent=1) + "\n", encoding="utf-8")
    print(f"All is in {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
