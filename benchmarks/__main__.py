"""Measure the claims about speed: ours and the others' side by side, in one run, on one thread.

python -m benchmarks            the table, in minutes: latest.json
python -m benchmarks --smoke    every row once, in seconds, and no file changed: shows only that all can be measured
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from benchmarks.inference_rows import inference_rows, light_cone_rows
from benchmarks.timing import Effort, Row
from benchmarks.training_rows import act_rows, image_rows, parity_rows
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
    """Measure all rows, print them, write latest.json into the folder, and return the table."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows: list[Row] = []
    for group in GROUPS:
        for row in group(effort):
            print_row(row)
            rows.append(row)
    table = {"made_with": made_with(), "rows": rows}
    with atomic_write(folder / "latest.json") as draft:
        draft.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    return table


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
