"""The checks of lesson 09's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

from collections.abc import Callable, Iterable

import torch

from ponder_course.adding_a_column.experiment import WIDTH
from ponder_course.adding_a_column.task import ColumnTask


def check_my_column(answer: Callable[[int], Iterable[int]]) -> None:
    """Check that of five numbers the fourth alone needs ten steps or more."""
    numbers = [int(number) for number in answer(WIDTH)]
    assert len(numbers) == 5, f"five numbers, not {len(numbers)}"
    assert all(0 <= n < 2**WIDTH for n in numbers), f"each number from 0 to {2**WIDTH - 1}"
    steps = ColumnTask.needed_steps(ColumnTask.digits(numbers, WIDTH))[:, 0].tolist()
    assert steps[3] >= 10, f"the fourth number needs {steps[3]} steps, not 10"
    assert max(steps[:3] + steps[4:]) <= 2, f"it stops more than once: steps {steps}"


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
