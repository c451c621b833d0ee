"""The stored runs as they lie in their files, and how facts of several runs are printed.

Facts are a second computation: this file and every `facts.py` take nothing from the code that made the printed numbers.
"""

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

RESULTS = Path(__file__).resolve().parents[1] / "results"
Run = tuple[dict[str, Any], dict[str, Any]]  # setting and result


@functools.cache
def stored(name: str) -> list[Run]:
    """Setting and result of each run in a file of `results/`."""
    lines = (RESULTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    return [(entry["setting"], entry["result"]) for entry in entries if "result" in entry]


def results(name: str, **wanted: Any) -> list[dict[str, Any]]:
    """The results of the runs with the wanted settings."""
    return [result for setting, result in stored(name) if wanted.items() <= setting.items()]


def mean_and_interval(measured: ArrayLike) -> tuple[float, float, float]:
    """Mean, and the ends of its interval of 95 % by Student's t."""
    values = np.array(measured, float)
    half = stats.t(len(values) - 1).ppf(0.975) * stats.sem(values) if np.ptp(values) else 0.0
    middle = values.mean()
    return middle, middle - half, middle + half


def mean_with_interval(measured: ArrayLike, form: str) -> str:
    """The same as they are printed."""
    middle, low, high = mean_and_interval(measured)
    return f"{middle:{form}} [{low:{form}}, {high:{form}}]"


def interval_of_difference(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """The interval of the mean of b less that of a, by Welch."""
    low, high = stats.ttest_ind(b, a, equal_var=False).confidence_interval(level)
    return float(low), float(high)


def from_to(values: list[float], form: str) -> str:
    """The least and the greatest value, or one if they print alike."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"
