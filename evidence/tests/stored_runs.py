"""Stored runs for tests: setting and result apart."""

from pathlib import Path

from ponder_course.common.store import read

RESULTS = Path(__file__).resolve().parents[1] / "results"


def stored(name):
    """Setting and result of each run in a file of `results/`."""
    return [(entry["setting"], entry["result"]) for entry in read(RESULTS / f"{name}.jsonl")]


def results(name):
    """The results of the runs."""
    return [result for _, result in stored(name)]
