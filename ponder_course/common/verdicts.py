"""What several runs say together: their range, their mean with an interval, and how many pass.

Values are one number for each run, in a list, array or tensor; NaN or inf, as of a run that diverged, has no interval.
"""

import math
from collections.abc import Collection, Mapping, Sequence, Set
from statistics import mean, stdev, variance
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ponder_course.common.store import plain
from ponder_utils._check import check_real


def _values(name: str, values: Sequence[float], *, finite: bool = False) -> list[float]:
    """Return Python's numbers, since `statistics` cuts the decimals off the mean of NumPy's integers."""
    listed = isinstance(values, Collection) and not isinstance(values, Mapping | Set | str | bytes)
    numbers: list[Any] = plain(list(values), name) if listed and getattr(values, "ndim", 1) == 1 else [values]
    if not all(isinstance(value, int | float) for value in numbers) or not listed:
        raise TypeError(f"{name} must be a list, array or tensor of one number for each run; got {values!r}")
    diverged = len(numbers) - sum(map(math.isfinite, numbers))
    if finite and diverged and len(numbers) > 1:
        advice = "Say so, and count them as not having learnt."
        raise ValueError(f"{name} must be finite; got NaN or inf in {diverged} of {len(numbers)} runs. {advice}")
    return numbers


def span(values: Sequence[float], form: str = ".2f") -> str:
    """Return the smallest and the largest value, such as "0.97 to 1.00", and how many are NaN."""
    values = _values("values", values)
    if not values:
        return "no runs"
    numbers = [value for value in values if not math.isnan(value)] or values
    low, high = (format(extreme(numbers), form) for extreme in (min, max))
    hidden = f", {len(values) - len(numbers)} of {len(values)} nan" if len(numbers) < len(values) else ""
    return (low if low == high else f"{low} to {high}") + hidden


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and the ends of Student's 95 % interval for it, which are nan for fewer than two values."""
    values = _values("values", values, finite=True)
    if len(values) < 2:
        return (mean(values) if values else math.nan), math.nan, math.nan
    half = stdtrit(len(values) - 1, 0.975) * stdev(values) / len(values) ** 0.5
    return mean(values), mean(values) - half, mean(values) + half


def estimate(values: Sequence[float], form: str = "+.2f") -> str:
    """Return the mean with its interval and the number of runs, such as "+0.21 [+0.18, +0.24], 10 runs"."""
    middle, low, high = interval(values)
    if not len(values):
        return "no runs"
    if len(values) == 1:
        return f"{middle:{form}}, one run"
    return f"{middle:{form}} [{low:{form}}, {high:{form}}], {len(values)} runs"


def count(values: Sequence[float], at_least: float) -> str:
    """Return how many values are at least so large, such as "9 of 10"; NaN is not."""
    values = _values("values", values)
    return f"{sum(value >= at_least for value in values)} of {len(values)}"


def verdict(changes: Sequence[float], form: str = "+.2f", what: tuple[str, str] = ("more", "fewer")) -> str:
    """Return "more" or "fewer", or "undecided" where the 95 % interval for the mean holds 0, with the estimate."""
    middle, low, high = interval(changes)
    if len(changes) < 3:
        outcome = "too few runs"
    else:
        outcome = "undecided" if low <= 0 <= high else what[0] if middle > 0 else what[1]
    return f"{outcome}: {estimate(changes, form)}"


def welch(a: Sequence[float], b: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """Return the mean of b less that of a and Welch's interval, not paired: nan where one has fewer than two."""
    a, b = _values("a", a, finite=True), _values("b", b, finite=True)
    level = check_real("level", level, 0, 1, open_low=True)
    if min(len(a), len(b)) < 2:
        return math.nan, math.nan, math.nan
    part_a, part_b = variance(a) / len(a), variance(b) / len(b)
    middle, half = mean(b) - mean(a), 0.0
    if part_a + part_b:
        fraction = part_a / (part_a + part_b)  # whose square does not vanish, as that of a small variance would
        freedom = 1 / (fraction**2 / (len(a) - 1) + (1 - fraction) ** 2 / (len(b) - 1))
        half = stdtrit(freedom, (1 + level) / 2) * (part_a + part_b) ** 0.5
    return middle, middle - half, middle + half


def difference(a: Sequence[float], b: Sequence[float], form: str = "+.1%") -> str:
    """Return the mean of b less that of a with Welch's 95 % interval, such as "+0.2% [-0.1%, +0.5%], 10 and 8 runs"."""
    middle, low, high = welch(a, b)
    if min(len(a), len(b)) < 2:
        return "too few runs"
    return f"{middle:{form}} [{low:{form}}, {high:{form}}], {len(b)} and {len(a)} runs"


def paired_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Return how likely it is by chance that so many and so large changes go one way: Wilcoxon's test of signed ranks.

    a and b belong to the same seeds. For few values that are bounded or have two modes, where a t interval says little.
    Two-sided. Pairs that differ by no more than a rounding error are left out, and ties count as they are. Exact up to
    17 pairs, and no less than 2 / 2**pairs; of more, 200,000 choices of signs are drawn, always the same.
    """
    from scipy.stats import permutation_test, rankdata  # here, since it takes a second and most notebooks do without

    a, b = _values("a", a, finite=True), _values("b", b, finite=True)
    if len(a) != len(b):
        raise ValueError(f"a and b must hold a value for each seed, both; got {len(a)} and {len(b)} values")
    scale = max(map(abs, [*a, *b]), default=0) or 1
    changes = np.round(np.array(b) / scale - np.array(a) / scale, 12)
    changes = changes[changes != 0]
    if len(changes) < 2:
        return 1.0
    signed = np.sign(changes) * rankdata(abs(changes))
    how = {"permutation_type": "samples", "n_resamples": 200_000, "batch": 2_000}
    return float(permutation_test((signed,), np.sum, random_state=np.random.default_rng(0), **how).pvalue)


def paired(a: Sequence[float], b: Sequence[float], form: str = "+.2f") -> str:
    """Return the mean of b less a, seed by seed, with its interval and `paired_p`, or "no runs"."""
    p = paired_p(a, b)
    changes = [after - before for before, after in zip(_values("a", a), _values("b", b), strict=True)]
    return f"{estimate(changes, form)}, p = {p:.3f} by signed ranks" if changes else "no runs"
