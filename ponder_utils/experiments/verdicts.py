"""What several runs say together: their range, their mean with its interval, and how many pass."""

from collections.abc import Sequence
from statistics import mean, stdev

from scipy.stats import t as student_t


def span(values: Sequence[float], form: str = ".2f") -> str:
    """From the least to the largest, such as "0.97 to 1.00"."""
    if not len(values):
        return "no runs"
    low, high = (format(extreme(values), form) for extreme in (min, max))
    return low if low == high else f"{low} to {high}"


def interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """Mean, and the ends of its Student's t interval; they are nan where there are too few values."""
    if len(values) < 2:
        return (mean(values) if len(values) else float("nan")), float("nan"), float("nan")
    half = student_t.ppf((1 + level) / 2, len(values) - 1) * stdev(values) / len(values) ** 0.5
    return mean(values), mean(values) - half, mean(values) + half


def told(values: Sequence[float], form: str = "+.2f") -> str:
    """The mean with its interval and the number of runs, such as "+0.21 [+0.18, +0.24], 10 runs"."""
    if not len(values):
        return "no runs"
    middle, low, high = interval(values)
    if len(values) == 1:
        return f"{middle:{form}}, one run"
    return f"{middle:{form}} [{low:{form}}, {high:{form}}], {len(values)} runs"


def count(values: Sequence[float], least: float) -> str:
    """How many are at least so large, such as "9 of 10"."""
    return f"{sum(value >= least for value in values)} of {len(values)}"
