"""See what this machine's GPU makes of the course, and write it into one file.

python -m benchmarks.gpu             table, tests and lessons: benchmarks/gpu.json, and the lessons as run in runs/gpu
python -m benchmarks.gpu --smoke     the same, with lessons at smoke alone and a short table, and into runs/gpu only
python -m benchmarks.gpu --at-once 4 four lessons at once, which takes less time in all and more for each

It exits with 2 on a machine without a GPU, 1 if a test or a lesson has failed, 0 if all is well. The file is written
after each part, so that it is right even if this command is killed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import nbformat
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


def run_tests(folder: Path) -> Row:
    """Run the tests marked `cuda`: how many passed, and the names of those that failed."""
    report = folder / "tests.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "tests", "-q", "-m", "cuda", f"--junitxml={report}"]
    subprocess.run(command, cwd=ROOT, check=False)
    return counts_of(report)


def counts_of(report: Path) -> Row:
    """Return how many tests of a JUnit report passed, and the names of the others; none if there is no report."""
    if not report.exists():
        return {"passed": 0, "failed": ["pytest itself: no report was written"]}
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    kinds = [{part.tag for part in case} & {"failure", "error", "skipped"} for case in cases]
    failed = [str(case.get("name")) for case, kind in zip(cases, kinds, strict=True) if kind - {"skipped"}]
    return {"passed": kinds.count(set()), "failed": failed}


def lessons() -> dict[str, bool]:
    """Return the lessons by name, and whether they have a parameter DEVICE; one without needs no GPU."""
    found = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        parameters = next(cell.source for cell in cells if "parameters" in cell.metadata.get("tags", []))
        found[path.stem] = "DEVICE: str" in parameters
    return found


def run_lesson(folder: Path, name: str, budget: str, has_device: bool) -> Row:
    """Run a lesson on the GPU, if it can: its status, minutes and headline."""
    out = folder / budget / name
    command = [sys.executable, "tools/course.py", name, "-p", "BUDGET", budget, "--out", str(out)]
    if has_device:
        command += ["-p", "DEVICE", "cuda"]
    subprocess.run(command, cwd=ROOT, check=False)
    (row,) = json.loads((out / "course.json").read_text(encoding="utf-8"))
    return {"lesson": name, "budget": budget, "device": "cuda" if has_device else "cpu"} | {
        key: row[key] for key in ("status", "minutes", "headline")
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
    """Run all parts, and write what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--at-once", type=int, default=1, help="lessons that run at the same time; 1 if not given")
    args = parser.parse_args(arguments)
    if args.at_once < 1:
        parser.error(f"--at-once must be at least 1; got {args.at_once}")
    smoke = args.smoke
    if not torch.cuda.is_available():
        print(NO_GPU)
        return 2
    folder = ROOT / "runs" / "gpu"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "gpu.json" if smoke else ROOT / "benchmarks" / "gpu.json"
    seen: Row = {"made_with": machine(), "lessons_at_once": args.at_once, "table": [], "tests": None, "lessons": []}

    def write() -> None:
        with atomic_write(file) as draft:
            draft.write_text(json.dumps(seen, indent=1) + "\n", encoding="utf-8")

    torch.set_num_threads(1)  # as in the lessons
    for device, n_sizes in (("cuda", 2 if smoke else len(WIDTHS)), ("cpu", 2)):
        seen["table"] += table(device, Effort(smoke), n_sizes)
        write()
    seen["tests"] = run_tests(folder)
    write()
    budgets = ("smoke",) if smoke else ("smoke", "class")
    jobs = [(name, budget, has_device) for budget in budgets for name, has_device in lessons().items()]
    with ThreadPoolExecutor(args.at_once) as pool:
        for row in pool.map(lambda job: run_lesson(folder, *job), jobs):
            seen["lessons"].append(row)
            write()
    failed = [*seen["tests"]["failed"], *(row["lesson"] for row in seen["lessons"] if row["status"] != "ok")]
    print(f"{seen['tests']['passed']} tests passed; failed: {', '.join(failed) or 'nothing'}. All is in {file}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
