"""From which step on a digit is read, against loops over all digits, and the steps that it takes."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.mnist_rotation.readable import NOT_READ, first_step_read, steps_by_first_read


def by_hand(right, last):
    """The same for one digit: a list of truth values by step."""
    if not right[last - 1]:
        return 0
    first = last
    while first > 1 and right[first - 2]:
        first -= 1
    return first


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=8), st.integers(1, 5))
def test_a_digit_is_read_from_the_step_after_the_last_wrong_one(digits, last):
    right = torch.tensor(digits).T  # [N, batch]
    assert first_step_read(right, last).tolist() == [by_hand(digit, last) for digit in digits]


@given(st.integers(0, 10_000))
def test_groups_hold_all_digits_that_are_read_and_their_mean_steps(seed):
    generator = torch.Generator().manual_seed(seed)
    right = torch.rand(6, 40, generator=generator) < 0.7
    p = torch.rand(6, 40, generator=generator, dtype=torch.float64)
    p = p / p.sum(0)
    found, firsts = steps_by_first_read(p.log(), right, last=5), first_step_read(right, 5)
    assert sum(count for count, _ in found.values()) == 40
    assert found.get(NOT_READ, (0,))[0] == int((~right[4]).sum())
    for step, (count, steps) in found.items():
        slow = [sum((n + 1) * p[n, i].item() for n in range(6)) for i in range(40) if firsts[i] == step]
        assert (count, steps) == (len(slow), pytest.approx(sum(slow) / len(slow)))
