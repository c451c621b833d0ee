"""What several runs say together, against scipy, all choices of signs, and numbers worked out by hand."""

import itertools
import math
from statistics import mean

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ponder_course.common.measures import best_halting
from ponder_course.common.verdicts import count, difference, estimate, interval, paired, paired_p, span, verdict, welch

numbers = st.lists(st.floats(-100, 100), min_size=2, max_size=20)


@given(numbers)
def test_the_interval_is_that_of_students_t_test(values):
    middle, low, high = interval(values)
    assert middle == pytest.approx(mean(values))
    error = stats.sem(values)
    if error > 1e-9:
        assert (low, high) == pytest.approx(stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error))
    assert low <= middle <= high


@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")  # scipy's, where all values of one side are equal
@given(numbers, numbers, st.sampled_from([0.8, 0.95]))
def test_a_difference_has_the_interval_of_welchs_t_test(a, b, level):
    if np.var(a) + np.var(b) > 1e-9:
        expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval(level)
        assert welch(a, b, level) == pytest.approx((np.mean(b) - np.mean(a), *expected), abs=1e-6)


few = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=6)


@given(few, st.sampled_from([1, 0.1, 1e-9]))
def test_the_p_of_pairs_is_that_of_all_choices_of_signs(pairs, unit):
    changes = [after - before for before, after in pairs if after != before]
    sizes = [abs(change) for change in changes]
    rank = [sum(x < y for x in sizes) + (sum(x == y for x in sizes) + 1) / 2 for y in sizes]
    ways = [abs(np.dot(signs, rank)) for signs in itertools.product([1, -1], repeat=len(rank))]
    as_far = sum(one >= abs(np.dot(np.sign(changes), rank)) for one in ways)
    a, b = ([unit * value for value in values] for values in zip(*pairs, strict=True))
    assert paired_p(a, b) == pytest.approx(as_far / len(ways))


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_no_choice_of_steps_is_better_than_the_best(n_steps, batch_size, seed):
    generator = torch.Generator().manual_seed(seed)
    probs = torch.rand(n_steps, batch_size, generator=generator, dtype=torch.float64)
    steps, accuracy = best_halting(probs)
    assert steps == sorted(steps)
    assert accuracy == sorted(accuracy)
    for _ in range(30):
        at = torch.randint(n_steps, (1, batch_size), generator=generator)
        cost, right = (at + 1).double().mean().item(), probs.gather(0, at).mean().item()
        for price in (1.0, 0.1, 0.01, 0.001):  # among those that are drawn
            best = max(a - price * s for s, a in zip(steps, accuracy, strict=True))
            assert right - price * cost <= best + 1e-6


def test_runs_in_words():
    assert span([0.1, 0.3, 0.2]) == "0.10 to 0.30"
    assert span([0.5, 0.5], ".1%") == "50.0%"
    assert span([]) == estimate([]) == paired([], []) == "no runs"
    assert estimate([1.0, 2.0, 3.0]) == "+2.00 [-0.48, +4.48], 3 runs"
    assert estimate([1.0]) == "+1.00, one run"
    assert count([0.97, 0.98, 0.1], 0.97) == "2 of 3"
    assert difference([0.1, 0.1], [0.3, 0.3]) == "+20.0% [+20.0%, +20.0%], 2 and 2 runs"
    assert difference([0.1], [0.3, 0.3]) == "too few runs"
    assert paired([1.0, 2.0, 3.0], [1.5, 2.5, 3.5]) == "+0.50 [+0.50, +0.50], 3 runs, p = 0.250 by signed ranks"
    with pytest.raises(ValueError, match=r"a and b .*2 and 3"):
        paired([1, 2], [1, 2, 3])


def test_a_verdict_is_undecided_where_the_interval_holds_zero():
    assert verdict([1.0, 2.0, 3.0]) == "undecided: +2.00 [-0.48, +4.48], 3 runs"
    assert verdict([2.0, 2.5, 3.0]) == "more: +2.50 [+1.26, +3.74], 3 runs"
    assert verdict([-2.0, -2.5, -3.0], ".1f", ("better", "worse")) == "worse: -2.5 [-3.7, -1.3], 3 runs"
    assert verdict([2.0, 2.5]) == "too few runs: +2.25 [-0.93, +5.43], 2 runs"


@pytest.mark.parametrize("diverged", [math.nan, math.inf])
def test_runs_that_diverged_are_counted_and_have_no_interval_and_no_p(diverged):
    values, others = [1.0, diverged, 2.0], [2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match=r"values .* 1 of 3 runs"):
        verdict(values)
    for say in (welch, paired):
        with pytest.raises(ValueError, match=r"b .* 1 of 3 runs"):
            say(others, values)
    assert span([1.0, math.nan, 2.0]) == "1.00 to 2.00, 1 of 3 nan"
    assert count(values, 3) == f"{int(diverged > 0)} of 3"
