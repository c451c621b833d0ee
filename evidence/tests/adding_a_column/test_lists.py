"""Lists of numbers against Python's own integers."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_evidence.adding_a_column.lists import draw_lists, needed_steps


def to_number(digits):
    return sum(int(digit) << place for place, digit in enumerate(digits))


@given(st.integers(1, 20), st.integers(1, 6), st.integers(0, 10**6))
def test_running_sums_and_needs_are_those_by_hand(width, n_numbers, seed):
    x, y = draw_lists(width, n_numbers, 5, torch.Generator().manual_seed(seed))
    needed = needed_steps(x, y)
    for b in range(5):
        total = 0
        for t in range(n_numbers):
            number = to_number(x[t, b, 0])
            flipped, carries, steps = total ^ number, total & number, 1
            while carries := (carries << 1) % 2**width:
                flipped, carries, steps = flipped ^ carries, flipped & carries, steps + 1
            total = (total + number) % 2**width
            assert total == flipped == to_number(y[t, b])
            assert needed[t, b] == steps
