"""What the problem sheet of lesson 05 asks to derive, computed in another way; and what its checks refuse."""

import itertools
import math

import numpy as np
import pytest
import torch

from ponder_course.common.lines import LineParityTask


@pytest.mark.parametrize("length", range(1, 10))
def test_lines_are_guessed_as_often_as_the_bound_says(length):
    """The package's bound is the sheet's, and the solution's anchors reach it: counted over all lines."""
    x = torch.zeros(1, 2, length)
    x[0, 1, 0] = 1
    best = LineParityTask.best_probs(x, length)[:, 0]
    bits = np.array(list(itertools.product((0, 1), repeat=length)))
    ones = np.concatenate([np.zeros((len(bits), 1), int), bits.cumsum(1)], 1)  # of the first i bits
    for n in range(1, length + 1):
        coins = math.ceil((length - n) / (2 * n))
        assert best[n - 1].item() == 0.5**coins
        anchors = [min(2 * n * (j + 1), length) for j in range(coins)]
        right = np.ones(len(bits), bool)
        for place in range(n + 1, length + 1):
            anchor = next(c for c in anchors if c - n < place <= c + n)
            heard = range(max(1, place - n + 1), min(length, place + n - 1) + 1)
            assert set(range(min(place, anchor) + 1, max(place, anchor) + 1)) <= set(heard)
            right &= (ones[:, place] - ones[:, anchor]) % 2 == ones[:, place] % 2
        assert right.mean() == 0.5**coins
