"""The checks of lesson 09's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import numpy as np
import torch
from exercises import test_of_answers

WRONG = {
    "my_column": [
        lambda width: [0, 2**width - 1, 0, 1],  # four numbers
        lambda width: [0, 2**width - 1, 1, 0, 0],  # it stops at the third
        lambda width: [2**width - 1, 1, 2**width - 1, 1, 0],  # it stops twice
        lambda width: [0, 0, 2**width, 1, 0],  # a digit too many
        lambda width: [1, 1, 2**width - 4, 1, 0],  # a carry that meets a 0 at once
    ],
    "carry_prob": [
        lambda k: 0.25 * 0.5**k,  # the first move is free
        lambda k: 0.5**k,  # begins at every other place
        lambda k: 0.25 * 0.5 ** (k - 1) * 0.5,  # and ends just there
        lambda k: 0.25 * 0.25 ** (k - 1),  # goes on at one place in four
    ],
}
RIGHT = {
    "my_column": [
        lambda width: torch.tensor([2**width - 1, 0, 0, 1, 0]),
        lambda width: np.array([1, 2**width - 2, 0, 1.0, 2**width - 1]),
    ],
    "carry_prob": [
        lambda k: torch.tensor(0.5, dtype=torch.float64) ** (k + 1),
    ],
}

test_answers = test_of_answers("09_adding_a_column", WRONG, RIGHT)
