"""Measure the claims about speed: ours and the others' side by side, in one run, on one thread.

python -m benchmarks            in minutes: latest.json, and its table in docs/package.md; 1 if a target is missed
python -m benchmarks --smoke    every row once, in seconds, and no file changed: shows only that all can be measured
python -m benchmarks --page     the table of latest.json into docs/package.md, and nothing measured
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from benchmarks.inference_rows import inference_rows, what_it_buys
from benchmarks.timing import ROOT, Effort, Row
from benchmarks.training_rows import act_rows, parity_rows
from ponder_utils import __version__
from ponder_utils.checkpoints import atomic_write

HERE = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "package.md"
GROUPS = (parity_rows, act_rows, inference_rows)


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


def filled(page: str, table: Row) -> str:
    """Return the page with the table between its markers; ValueError unless each of them stands there once."""
    before, rest = page.split("<!--bench-->")
    _, after = rest.split("<!--/bench-->")
    made_with = table["made_with"]
    machine = f"One thread of {made_with['machine']}; torch {made_with['torch']}."
    return f"{before}<!--bench-->\n{what_it_buys(table['rows'])}\n\n{machine}\n<!--/bench-->{after}"


def verdict(rows: list[Row]) -> str:
    """Return in a line which targets are missed, "" if none is."""
    missed = [f"{row['claim']}: {row['ratio']} > {row['target']}" for row in rows if not row.get("holds", True)]
    return f"MISSED: {'; '.join(missed)}" if missed else ""


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    if arguments.smoke:
        with tempfile.TemporaryDirectory() as folder:
            table = measure(Path(folder), Effort(smoke=True))
        print(what_it_buys(table["rows"]))
        return 0
    if not arguments.page:
        measure(HERE, Effort())
    table = json.loads((HERE / "latest.json").read_text(encoding="utf-8"))
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), table), encoding="utf-8")
    missed = verdict(table["rows"])
    print(missed or "All targets are met.")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
