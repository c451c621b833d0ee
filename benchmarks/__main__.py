"""Measure the claims about speed: ours and the others' side by side, in one run, on one thread.

python -m benchmarks            the table, in minutes: latest.json and growth.png
python -m benchmarks --smoke    every row once, in seconds, and no file changed: shows only that all can be measured
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from benchmarks.inference_rows import inference_rows, light_cone_rows
from benchmarks.timing import Effort, Row
from benchmarks.training_rows import act_rows, growth_rows, image_rows, memory_rows, parity_rows
from ponder_course.common.style import COLOURS, MARKERS, panels, picture, slide
from ponder_utils import __version__
from ponder_utils.checkpoints import atomic_write

HERE = Path(__file__).parent
GROUPS = (parity_rows, act_rows, image_rows, inference_rows, light_cone_rows)


def made_with() -> Row:
    """Return the versions and the machine that the numbers depend on."""
    try:
        labml = version("labml-nn")
    except PackageNotFoundError:
        labml = None
    asked = ["git", "-C", str(HERE), "describe", "--always", "--dirty"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=False)
    return {
        "version": __version__,
        "commit": commit.stdout.strip() or None,
        "torch": torch.__version__,
        "labml-nn": labml,
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "device": "cpu",
        "threads": torch.get_num_threads(),
    }


def print_row(row: Row) -> None:
    """Print one line of the table."""
    low, high = row["quartiles"]
    line = f"{row['claim']:68} {row['ours_ms']:10.3f} {row['other_ms']:10.3f} ms  {row['ratio']:.3f} [{low}, {high}]"
    if "needed" in row:
        line += f"  needed {row['needed']}"
    if "target" in row:
        line += f"  <= {row['target']}: {'holds' if row['holds'] else 'MISSED'}"
    print(line, flush=True)


def measure(folder: Path, effort: Effort) -> Row:
    """Measure all rows, print them, write latest.json and growth.png into the folder, and return the table."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows: list[Row] = []
    for group in GROUPS:
        for row in group(effort):
            print_row(row)
            rows.append(row)
    memory, growth = memory_rows(effort), growth_rows(effort)
    for row in memory:
        print(
            f"peak memory, N = {row['N']}: {row['plain_mb']} MB; "
            f"recomputed in segments of {row['segment']}: {row['recomputed_mb']} MB"
        )
    table = {"made_with": made_with(), "rows": rows, "memory": memory, "growth": growth}
    with atomic_write(folder / "latest.json") as draft:
        draft.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    with atomic_write(folder / "growth.png") as draft:
        draft.write_bytes(picture(growth_figure(growth, memory))[0])
    return table


@slide
def growth_figure(growth: Sequence[Row], memory: Sequence[Row]) -> Figure:
    """Draw the time of a training iteration against N, batch and hidden size, and memory against N."""
    figure, axes = panels(4, width=3.2)
    draw_time(axes[0], growth, "N", "steps $N$")
    draw_time(axes[1], growth, "batch", "batch size")
    draw_time(axes[2], growth, "hidden", "hidden units")
    for which, kind in enumerate(("plain", "recomputed")):
        megabytes = [row[f"{kind}_mb"] for row in memory]
        axes[3].plot([row["N"] for row in memory], megabytes, marker=MARKERS[which], color=COLOURS[which], label=kind)
    axes[3].set(xlabel="steps $N$", ylabel="peak memory (MB)")
    axes[3].legend()
    for ax in axes:  # a doubling to each tick
        ax.set_xscale("log", base=2)
        ax.set_yscale("log", base=2)
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.yaxis.set_major_formatter(ScalarFormatter())
    return figure


def draw_time(ax: Axes, growth: Sequence[Row], changed: str, label: str) -> None:
    """Draw the time of an iteration against the size that was changed."""
    rows = [row for row in growth if row["changed"] == changed]
    ax.plot([row[changed] for row in rows], [row["ms"] for row in rows], marker="o", color=COLOURS[0])
    ax.set(xlabel=label, ylabel="training iteration (ms)")


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true")
    if parser.parse_args().smoke:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), Effort(smoke=True))
    else:
        measure(HERE, Effort())


if __name__ == "__main__":
    main()
