"""The checks of lesson 09's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

from collections.abc import Callable

import torch

from ponder_course.adding_a_column.experiment import binary, needed_steps

PLACES = 5


def check_slowest(answer: Callable[[int, int], int]) -> None:
    """Check, of all numbers of five places but 0, that no other number makes a slower sum."""
    for a in range(1, 2**PLACES):
        b = int(answer(a, PLACES))
        assert 0 <= b < 2**PLACES, f"b from 0 to {2**PLACES - 1}; got {b}"
        needs = needed_steps(torch.cat([binary(a, other, PLACES) for other in range(2**PLACES)])).tolist()
        assert needs[b] == max(needs), f"{a:05b} + {b:05b} needs {needs[b]}, and another sum {max(needs)}"


def check_carry_prob(answer: Callable[[int], float]) -> None:
    """Check the probability that a carry begins at a place and travels k places or more, counted over all pairs."""
    a = torch.arange(2**8)
    b = a[:, None]
    made, passes = a & b & 1, (a ^ b) >> 1  # at the first of 8 places, and at the others
    for k in range(1, 7):
        ones = 2 ** (k - 1) - 1
        expected = (made * (passes & ones == ones)).double().mean().item()
        got = float(answer(k))
        assert abs(got - expected) < 1e-9, f"k = {k}: not {got:g}"
