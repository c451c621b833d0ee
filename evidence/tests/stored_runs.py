"""Stored runs for tests: setting and result apart."""

from pathlib import Path

from ponder_course.common.store import read

RESULTS = Path(__file__).resolve().parents[1] / "results"


def stored(name):
    """Setting and result of each run in a file of `results/`."""
    return [(entry["setting"], entry["result"]) for entry in read(RESULTS / f"{name}.jsonl")]


def results(name, **wanted):
    """The results of the runs with the wanted settings."""
    return [result for setting, result in stored(name) if wanted.items() <= setting.items()]
