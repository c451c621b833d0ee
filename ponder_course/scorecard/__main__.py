"""`python -m ponder_course.scorecard your_model.py`: a row of JSON and a picture. `--table`: the table of all rows."""

import argparse
import hashlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import torch

import ponder_utils
from ponder_course.common.runs import rounded
from ponder_course.common.store import Row
from ponder_course.common.style import picture
from ponder_course.scorecard.measure import Looped, Refused, check, doubts, measure, measure_leaving, seconds, train
from ponder_course.scorecard.picture import draw
from ponder_course.scorecard.table import PAGE, with_table
from ponder_course.scorecard.tasks import TASKS, Task
from ponder_utils._check import check_int


def load(path: Path) -> Any:
    """Return a file as a module. FileNotFoundError, or ValueError if it has no `network`."""
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} must be a file of Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not callable(getattr(module, "network", None)):
        raise ValueError(f"{path} must define a function network(task), which returns your network")
    return module


def possible_tasks(file: Any, names: list[str] | None) -> list[str]:
    """Return which tasks a network can take, before anything is trained. Those that are named must all be possible."""
    possible = []
    for name in names or TASKS:
        try:
            check(Looped(file.network(TASKS[name]), TASKS[name]))
            possible.append(name)
        except Exception as why:  # the network's own, too
            shape = [3, *TASKS[name].trained.draw(1, torch.Generator()).x.shape[1:]]
            print(f"{name}, where x is {shape}: {type(why).__name__}: {why}")
            if names and isinstance(why, Refused):
                sys.exit(1)
            if names:
                raise
    return possible


def score(file: Any, task: Task, updates: int, n_samples: int, seed: int) -> Row:
    """Train and measure what a file's `network` returns, and return what a row says of one task."""
    torch.manual_seed(seed)
    model = Looped(file.network(task), task)
    check(model)
    row: Row = {"budget": train(model, updates, seed, getattr(file, "train", None))}
    check(model)  # again: a weight that starts at 0 may have learnt to look ahead
    for doubt in doubts(model):
        print(f"{task.name}: the halting logits {doubt}")
    row["halts"] = "samples" if model.together else "places"
    choosing, reporting = seed + 1000, seed + 2000  # training draws with seed and seed + 1
    rows = measure(model, task.trained, n_samples, choosing)["rules"]
    chosen = {rule: measured["rule"] for rule, measured in rows.items()}
    for size, name in ((task.trained, "trained"), (task.larger, "larger")):
        row[name] = {"size": size.name}
        try:
            model(size.draw(1, torch.Generator().manual_seed(0)).x, 2)
        except Exception as why:  # whatever a network of a fixed size says
            row[name]["refused"] = str(why)
            continue
        row[name] |= measure(model, size, n_samples, reporting, chosen)
    if task.is_text and hasattr(file, "in_earnest"):
        row["leaving"] = measure_leaving(model, file.in_earnest, n_samples, reporting)
    row["seconds"] = seconds(model)
    return row


def summary(task_name: str, task: Row) -> str:
    """Return a few lines that say what was measured."""
    lines = []
    for size in ("trained", "larger"):
        measured = task[size]
        lines.append(f"{task_name}, {measured['size']}")
        last = len(measured.get("by_loop", []))
        if "refused" in measured:
            lines.append(f"  refused: {measured['refused']}")
        for rule, row in measured.get("rules", {}).items():
            early = f"early {row['early']:.1%}"
            if row["right_when_early"] is not None:
                early += f" (of these right {row['right_when_early']:.1%})"
            loops = f"{row['steps']:.2f} loops where {row['needed']:.2f} are needed"
            name, parameters = row["rule"]
            level = f"{name} {next(iter(parameters.values())):g}"
            with_need = f"correlation of loops and need {row['correlation']:.2f}"
            right = f"{rule} ({level}): right {row['right']:.1%}"
            lines.append(f"  {right}, {loops}, {early}, late {row['late']:.1%}, {with_need}")
            if row["steps"] == last:
                lines.append(f"    It never stops before loop {last}, the last that is measured.")
    for way, row in task.get("leaving", {}).items():
        lines.append(f"  {way}: right {row['right']:.1%}, {row['steps']:.2f} loops for {row['needed']:.2f}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m ponder_course.scorecard",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("file", nargs="?", type=Path, help="defines network(task)")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, help="else all that the network can take")
    parser.add_argument("--updates", type=int, default=1000, help="of 32 samples; 0: the network is loaded")
    parser.add_argument("--samples", type=int, default=200, help="in each measurement")
    parser.add_argument("--seed", type=int, default=0, help="of the training; measurements draw with others")
    parser.add_argument("--out", type=Path, default=Path("runs/scorecard"), help="folder of row and picture")
    parser.add_argument("--table", action="store_true", help=f"write the table of all rows into {PAGE.name}")
    options = parser.parse_args(arguments)
    if options.table:
        PAGE.write_text(with_table(), encoding="utf-8")
        return
    if options.file is None:
        parser.error("give a file, or --table")
    if options.updates:
        check_int("updates", options.updates, 2)
    file = load(options.file)
    tasks = possible_tasks(file, options.tasks)
    if not tasks:
        parser.error("the network can take none of the tasks")
    row: Row = {
        "network": options.file.stem,
        "sha256": hashlib.sha256(options.file.read_bytes()).hexdigest(),
        "seed": options.seed,
        "samples": options.samples,
        "versions": {"torch": torch.__version__, "ponder_utils": ponder_utils.__version__},
        "tasks": {},
    }
    for name in tasks:
        print(f"{name}: training and measuring", flush=True)
        try:
            row["tasks"][name] = score(file, TASKS[name], options.updates, options.samples, options.seed)
        except Refused as why:
            print(f"{name}, refused after training: {why}")
            continue
        print(summary(name, row["tasks"][name]))
    if not row["tasks"]:
        sys.exit(1)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{options.file.stem}.json").write_text(json.dumps(rounded(row)) + "\n", encoding="utf-8")
    (options.out / f"{options.file.stem}.png").write_bytes(picture(draw(row))[0])
    print(f"Written: {options.out / options.file.stem}.json and .png")


if __name__ == "__main__":
    main()
