"""The checks of lesson 08's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

import math
from collections.abc import Callable


def check_steps_needed(answer: Callable[[int], tuple[int, int]]) -> None:
    """Check the steps that a node of each depth needs, alone and together."""
    for depth in [*range(40), 1000]:
        got = tuple(answer(depth))
        assert got == _steps(depth), f"depth {depth:,}: not {got}"


def check_felt_at(answer: Callable[[int], tuple[int, int]]) -> None:
    """Check the step at which the arrow k above a node is felt, alone and together."""
    for k in range(64):
        got = tuple(answer(k))
        assert got == _steps(k), f"k = {k}: not {got}"


def _steps(arrows: int) -> tuple[int, int]:
    return max(1, arrows), max(1, math.ceil(math.log2(arrows + 1)))
