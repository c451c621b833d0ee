"""The checks of lesson 01's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

import torch

from ponder_course.common.notebook import check_on

check_weights_with_cap = check_on(
    ([0.1, 0.3, 0.55, 0.5], 0.1, [0.1, 0.3, 0.6]),
    ([0.995, 0.5], 0.01, [1]),
    ([0.5, 0.5], 0.01, [0.5, 0.5]),
    ([0.2, 0.2], 0.01, [0.2, 0.8]),  # from here on they reach the cap
    ([0.1, 0.3, 0.2], 0.01, [0.1, 0.3, 0.6]),
    ([0.0], 0.01, [1]),
)

INPUTS = [[0.1, 0.3, 0.55, 0.5], [0.995, 0.5, 0.5, 0.5], [0.5, 0.25, 0.125, 0.1], [0.01] * 4]
LAMBDAS = torch.tensor(INPUTS, dtype=torch.float64).T  # [N, batch]
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
