"""Measure how many updates a second this machine's GPU makes of lesson 05, by batch and width: make gpu.

python -m benchmarks.gpu    into benchmarks/gpu.json; it exits with 2 on a machine without a GPU
"""

import json
import os
import platform
import statistics
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import torch

from ponder_course.common.lines import LineParityTask
from ponder_course.light_cone.lesson import LocalStep, loss_of_line
from ponder_utils import PonderLoss, PonderNet, __version__
from ponder_utils.checkpoints import atomic_write

FILE = Path(__file__).with_name("gpu.json")
BATCHES = (64, 256, 1024, 4096)
WIDTHS = (32, 64, 128, 256)

Row = dict[str, Any]


def updates_per_second(batch: int, width: int, device: str, rounds: int) -> float:
    """Return how many updates (forward, loss, backward, Adam) of one batch a second holds."""
    model = PonderNet(LocalStep(2, width, noise=0.1), 20).to(device)
    loss_fn = PonderLoss(loss_of_line, 0.4)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    x, y = (part.to(device) for part in LineParityTask(16).batch(batch, torch.Generator().manual_seed(0)))
    seconds = []
    for _ in range(2 + rounds):  # the first two are not counted
        start = time.perf_counter()
        optimizer.zero_grad()
        loss_fn(model(x), y).total.backward()
        optimizer.step()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return round(1 / statistics.median(seconds[2:]), 2)


def table(device: str, n_sizes: int, rounds: int = 15) -> list[Row]:
    """Measure the smallest batches and widths: a row for each, printed as it comes."""
    rows = []
    for batch in BATCHES[:n_sizes]:
        for width in WIDTHS[:n_sizes]:
            rate = updates_per_second(batch, width, device, rounds)
            print(f"lines, batch {batch}, width {width}, {device}: {rate} updates a second", flush=True)
            rows.append({"task": "lines", "batch": batch, "width": width, "device": device, "updates_per_second": rate})
    return rows


def main() -> int:
    """Measure, and write what was measured."""
    if not torch.cuda.is_available():
        print("make gpu: this machine has no GPU that PyTorch can use; nothing was run.")
        return 2
    torch.set_num_threads(1)  # as in the lessons
    gpu = torch.cuda.get_device_properties(0)
    made_with = {
        "gpu": gpu.name,
        "gpu_gb": round(gpu.total_memory / 2**30, 1),
        "cuda": torch.version.cuda,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "version": __version__,
        "date": str(date.today()),
    }
    record = {"made_with": made_with, "table": table("cuda", len(WIDTHS)) + table("cpu", 2)}
    with atomic_write(FILE) as draft:
        draft.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
