"""Which stored runs are older than today's code, and does today's code make them again? make stale, make again.

    python tools/again.py
    python tools/again.py --run

With --run, one run of each stored file, the shortest, is made anew and kept in `results/again/`, unless that was done
with the code of today. Without, a table says for each file how many of its runs are older than the code behind them,
and how the run that was made again compares with the stored one of its seed: "to the bit" if all numbers are equal,
"within noise" if at least one of the other seeds is as far from the stored run by the same count, else "different".
"""

from __future__ import annotations

import argparse
import importlib
import math
import pkgutil
from collections import Counter
from pathlib import Path

from stamp import ROOT

import ponder_course
from ponder_course.common.fingerprint import fingerprint_of
from ponder_course.common.runs import Experiment, run_all
from ponder_course.common.store import Row, key_of, read

RESULTS = ROOT / "results"


def experiments() -> list[Experiment]:
    """The experiments of all lessons, in the order of their names."""
    found: list[Experiment] = []
    for module in pkgutil.walk_packages(ponder_course.__path__, "ponder_course."):
        if not module.ispkg:
            found += getattr(importlib.import_module(module.name), "EXPERIMENTS", {}).values()
    return sorted(found, key=lambda experiment: experiment.name)


def shortest(entries: list[Row]) -> Row:
    """The run that took the fewest seconds, of those that others equal in all but the seed where there are such."""
    done = [entry for entry in entries if "result" in entry]
    alike = Counter(_but_seed(entry["setting"]) for entry in done)
    with_others = [entry for entry in done if alike[_but_seed(entry["setting"])] > 1]
    return min(with_others or done, key=lambda entry: entry["seconds"])


def _but_seed(setting: Row) -> str:
    return key_of({name: value for name, value in setting.items() if name != "seed"})


def make_again(folder: Path, again: Path) -> None:
    """Make one run of each file of the folder anew, the quickest first, where today's code has not yet made it."""
    runs: list[tuple[Experiment, Row]] = []
    for experiment in experiments():
        entries = read(folder / f"{experiment.name}.jsonl")
        if entries:
            runs.append((experiment, shortest(entries)))
    for experiment, entry in sorted(runs, key=lambda run: run[1]["seconds"]):
        path = again / f"{experiment.name}.jsonl"
        today = fingerprint_of(experiment.run)
        made = [key_of(made["setting"]) for made in read(path) if made.get("fingerprint") == today]
        if key_of(entry["setting"]) not in made:
            path.unlink(missing_ok=True)
            run_all(
                experiment.run,
                [entry["setting"]],
                file=path,
                checkpointed=experiment.checkpointed,
                name=experiment.name,
            )


def values(result: object, place: str = "") -> dict[str, object]:
    """Every number and string of a result by its place in it, such as "/steps/3", but how many seconds it took."""
    if not isinstance(result, dict | list):
        return {place: result}
    found: dict[str, object] = {}
    for name, part in result.items() if isinstance(result, dict) else enumerate(result):
        if not str(name).endswith("seconds"):
            found |= values(part, f"{place}/{name}")
    return found


def compare(again: Row, stored: Row, others: list[Row]) -> str:
    """How the result of a run that was made again differs from the stored one, beside those of the other seeds.

    Counted are the numbers that are farther from the stored one than all that remain are from each other: first of the
    new run, then of each other seed as if it were the new one.
    """
    new, old, *rest = (values(result) for result in (again, stored, *others))
    places = new.keys() | old.keys()
    different = sum(not _equal(new.get(place), old.get(place)) for place in places)
    if not different:
        return "to the bit"
    counts = []
    for seed in (new, *rest):
        remain = [old, *(other for other in (new, *rest) if other is not seed)]
        counts.append(sum(_beyond(seed.get(place), [other.get(place) for other in remain]) for place in places))
    beyond, *of_seeds = counts
    kind = "within noise" if beyond <= max(of_seeds, default=-1) else "different"
    seeds = f"{min(of_seeds)} to {max(of_seeds)}" if of_seeds else "none"
    return f"{kind}: {different} of {len(places)} numbers differ, {beyond} beyond other seeds (these: {seeds})"


def _equal(a: object, b: object) -> bool:
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))


def _beyond(number: object, remain: list[object]) -> bool:
    """Whether a number is farther from the first of those that remain than the numbers among them are apart."""
    if _equal(number, remain[0]):
        return False
    if not isinstance(number, int | float) or not isinstance(remain[0], int | float):
        return True
    numbers = [other for other in remain if isinstance(other, int | float)]
    return not abs(number - remain[0]) <= max(numbers) - min(numbers)


def table(folder: Path, again: Path) -> list[str]:
    """A line for each file: how many of its runs are older than the code, and how one that was made again compares."""
    lines = []
    for experiment in experiments():
        entries = read(folder / f"{experiment.name}.jsonl")
        if not entries:
            continue
        today = fingerprint_of(experiment.run)
        older = sum(entry.get("fingerprint") != today for entry in entries)
        line = f"{experiment.name:40} {older:3} of {len(entries):3} older"
        made = read(again / f"{experiment.name}.jsonl")
        if not made:
            lines.append(f"{line}, none made again")
            continue
        if "error" in made[0]:
            lines.append(f"{line}, made again: {made[0]['error'].splitlines()[0]}")
            continue
        setting = made[0]["setting"]
        alike = [entry for entry in entries if "result" in entry and _but_seed(entry["setting"]) == _but_seed(setting)]
        (stored,) = [entry["result"] for entry in alike if key_of(entry["setting"]) == key_of(setting)]
        others = [entry["result"] for entry in alike if key_of(entry["setting"]) != key_of(setting)]
        since = "" if made[0].get("fingerprint") == today else " (with older code)"
        lines.append(f"{line}, made again{since}: {compare(made[0]['result'], stored, others)}")
    return lines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="make one run of each file again: two hours of one core")
    if parser.parse_args().run:
        make_again(RESULTS, RESULTS / "again")
    print("\n".join(table(RESULTS, RESULTS / "again")))
