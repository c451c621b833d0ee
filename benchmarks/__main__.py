"""Measure the claims about speed: ours and the others' side by side, in one run, on one thread.

python -m benchmarks            the table, in minutes: latest.json and growth.png
python -m benchmarks --long     iterations and seconds to 99 % parity, from scratch: to_99_percent.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import torch
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from benchmarks.inference_rows import inference_rows, light_cone_rows
from benchmarks.timing import Row
from benchmarks.to_99_percent import race
from benchmarks.training_rows import act_rows, growth_rows, image_rows, many_rows, memory_rows, parity_rows
from ponder_course.figures import COLOURS, MARKERS, panels, picture, styled

HERE = Path(__file__).parent


def made_with() -> Row:
    """What the numbers hang on."""
    return {
        "torch": torch.__version__,
        "labml-nn": version("labml-nn"),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "device": "cpu",
        "threads": torch.get_num_threads(),
    }


def print_row(row: Row) -> None:
    """One line of the table."""
    low, high = row["quartiles"]
    told = f"{row['claim']:68} {row['ours_ms']:10.3f} {row['other_ms']:10.3f} ms  {row['ratio']:.3f} [{low}, {high}]"
    if "needed" in row:
        told += f"  needed {row['needed']}"
    if "target" in row:
        told += f"  {row['target']}: {'holds' if row['holds'] else 'MISSED'}"
    print(told, flush=True)


@styled
def growth_figure(growth: Sequence[Row], memory: Sequence[Row]) -> Figure:
    """Time of a training iteration against N, batch and hidden size, and memory against N; a doubling to each tick."""
    figure, axes = panels(4, width=3.2)
    for ax, changed in zip(axes, ("N", "batch", "hidden"), strict=False):
        rows = [row for row in growth if row["changed"] == changed]
        ax.plot([row[changed] for row in rows], [row["ms"] for row in rows], marker="o", color=COLOURS[0])
        ax.set(
            xlabel={"N": "steps $N$", "batch": "batch size", "hidden": "hidden units"}[changed],
            ylabel="training iteration (ms)",
        )
    for which, kind in enumerate(("plain", "recomputed")):
        y = [row[f"{kind}_mb"] for row in memory]
        axes[3].plot([row["N"] for row in memory], y, marker=MARKERS[which], color=COLOURS[which], label=kind)
    axes[3].set(xlabel="steps $N$", ylabel="peak memory (MB)")
    axes[3].legend()
    for ax in axes:
        ax.set_xscale("log", base=2)
        ax.set_yscale("log", base=2)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(ScalarFormatter())
    return figure


def main() -> None:
    """Measure, print, and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    if parser.parse_args().long:
        race(HERE / "to_99_percent.jsonl")
        return
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows: list[Row] = []
    for group in (parity_rows, act_rows, image_rows, many_rows, inference_rows, light_cone_rows):
        for row in group():
            print_row(row)
            rows.append(row)
    memory, growth = memory_rows(), growth_rows()
    for row in memory:
        print(
            f"peak memory, N = {row['N']}: {row['plain_mb']} MB; "
            f"recomputed in segments of {row['segment']}: {row['recomputed_mb']} MB"
        )
    table = {"made_with": made_with(), "rows": rows, "memory": memory, "growth": growth}
    (HERE / "latest.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    (HERE / "growth.png").write_bytes(picture(growth_figure(growth, memory))[0])


if __name__ == "__main__":
    main()
