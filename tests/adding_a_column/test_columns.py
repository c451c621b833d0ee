"""Columns of numbers against Python's own integers, and carries against a loop that a student would write."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.adding_a_column.task import ColumnTask


def to_number(digits):
    return sum(int(digit) << place for place, digit in enumerate(digits))


def add_by_hand(a, b, width):
    """Add two numbers bit by bit: all carries move at once, one place a step. Sum, steps, and who was carried to."""
    total, carry = a ^ b, a & b
    steps, arrived = 1, [0] * width
    while True:
        carry = (carry << 1) % 2**width
        if carry == 0:
            return total, steps, arrived
        for place in range(width):
            arrived[place] = steps if carry >> place & 1 else arrived[place]
        steps += 1
        total, carry = total ^ carry, total & carry


@given(st.integers(1, 20), st.integers(1, 6), st.sampled_from((None, 0, 1, 0.5)), st.integers(0, 10**6))
def test_sums_carries_and_needs_are_those_by_hand(width, n_numbers, rate, seed):
    x, y = ColumnTask(width, n_numbers, rate).batch(5, torch.Generator().manual_seed(seed))
    assert x.shape == (n_numbers, 5, 1, width)
    assert y.shape == (n_numbers, 5, width)
    assert x.dtype == y.dtype == torch.float32
    assert set(x.unique().tolist()) | set(y.unique().tolist()) <= {0.0, 1.0}
    travelled, needed = ColumnTask.travelled(x), ColumnTask.needed_steps(x)
    assert needed.shape == (n_numbers, 5)
    assert needed.dtype == travelled.dtype == torch.int64
    for b in range(5):
        total = 0
        for t in range(n_numbers):
            number = to_number(x[t, b, 0])
            by_hand, steps, arrived = add_by_hand(total, number, width)
            total = (total + number) % 2**width
            assert total == by_hand == to_number(y[t, b])
            assert needed[t, b] == steps
            assert travelled[t, b].tolist() == arrived
