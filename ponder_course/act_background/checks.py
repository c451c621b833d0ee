"""The checks of lesson 01's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

from collections.abc import Callable, Sequence

import torch

from ponder_course.common.notebook import check_on


def check_weights_with_cap(answer: Callable[[list[float], float], Sequence[float]]) -> None:
    """Check the weights of some inputs, of which some reach the cap."""
    for lambdas, epsilon, expected in [
        ([0.1, 0.3, 0.55, 0.5], 0.1, [0.1, 0.3, 0.6]),
        ([0.995, 0.5], 0.01, [1]),
        ([0.5, 0.5], 0.01, [0.5, 0.5]),
        ([0.2, 0.2], 0.01, [0.2, 0.8]),
        ([0.1, 0.3, 0.2], 0.01, [0.1, 0.3, 0.6]),
        ([0.0], 0.01, [1]),
    ]:
        got = [round(float(p_n), 6) for p_n in answer(list(lambdas), epsilon)]
        assert got == expected, f"units {lambdas}, epsilon {epsilon}: expected {expected}, got {got}"


INPUTS = [[0.1, 0.3, 0.55, 0.5], [0.995, 0.5, 0.5, 0.5], [0.5, 0.25, 0.125, 0.1], [0.01] * 4]
LAMBDAS = torch.tensor(INPUTS, dtype=torch.float64).T  # [M, batch]
STEPS = {0.11: [3, 1, 4, 4], 0.01: [4, 1, 4, 4], 0.25: [3, 1, 2, 4]}  # by epsilon
check_count_steps = check_on(*((LAMBDAS, epsilon, steps) for epsilon, steps in STEPS.items()))

check_missing_for_one_fewer = check_on(
    ([0.995, 0.5], 0.01, 0),
    ([0.1, 0.3, 0.55, 0.5], 0.12, 0.48),
    ([0.2, 0.3, 0.2, 0.2], 0.12, 0.18),
    ([0.6, 0.6], 0.12, 0.28),
    ([0.01] * 5, 0.12, 0.84),
    tolerance=1e-5,
)
