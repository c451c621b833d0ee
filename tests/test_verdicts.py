import math
from statistics import mean

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ponder_utils.evaluation import best_halting
from ponder_course.verdicts import count, interval, span, told

numbers = st.lists(st.floats(-100, 100), min_size=2, max_size=20)


@given(numbers)
def test_the_interval_is_that_of_students_t_test(values):
    middle, low, high = interval(values)
    assert middle == pytest.approx(mean(values))
    error = stats.sem(values)
    if error > 1e-9:
        expected = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error)
        assert (low, high) == pytest.approx(expected)
    assert low <= middle <= high


def test_nineteen_of_twenty_intervals_hold_the_truth():
    rng = np.random.default_rng(0)
    held = [low <= 3 <= high for _, low, high in (interval(list(rng.normal(3, 2, 5))) for _ in range(2000))]
    assert 0.935 < sum(held) / len(held) < 0.965


def test_runs_are_told_in_words():
    assert span([0.1, 0.3, 0.2]) == "0.10 to 0.30"
    assert span([0.5, 0.5], ".1%") == "50.0%"
    assert span([]) == told([]) == "no runs"
    assert told([1.0, 2.0, 3.0]) == "+2.00 [-0.48, +4.48], 3 runs"
    assert told([1.0]) == "+1.00, one run"
    assert count([0.97, 0.98, 0.1], 0.97) == "2 of 3"
    assert math.isnan(interval([1.0])[1])


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_no_choice_of_steps_is_better_than_the_best(n_steps, batch_size, seed):
    generator = torch.Generator().manual_seed(seed)
    chances = torch.rand(n_steps, batch_size, generator=generator, dtype=torch.float64)
    steps, accuracy = best_halting(chances)
    assert steps == sorted(steps)
    assert accuracy == sorted(accuracy)
    for _ in range(30):
        at = torch.randint(n_steps, (1, batch_size), generator=generator)
        cost, right = (at + 1).double().mean().item(), chances.gather(0, at).mean().item()
        for price in (1.0, 0.1, 0.01, 0.001):  # among those that are drawn
            best = max(a - price * s for s, a in zip(steps, accuracy, strict=True))
            assert right - price * cost <= best + 1e-6


def test_a_line_that_is_known_at_step_3_costs_3_steps():
    chances = torch.tensor([[1.0, 0.5], [1.0, 0.5], [1.0, 1.0]])
    assert {*zip(*best_halting(chances), strict=True)} == {(1.0, 0.75), (2.0, 1.0)}
