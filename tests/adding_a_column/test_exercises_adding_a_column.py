"""The checks of lesson 09's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import numpy as np
import torch
from exercises import test_of_answers

WRONG = {
    "slowest": [
        lambda a, places: 2**places - 1 - a,  # the digits differ everywhere, so no carry begins
        lambda a, places: 2**places - 1,  # a carry meets another at once
        lambda a, places: 1,  # begins only where a is odd
        lambda a, places: 2**places,  # a digit too many
        lambda a, places: a,
    ],
    "carry_prob": [
        lambda k: 0.25 * 0.5**k,  # the first move is free
        lambda k: 0.5**k,  # begins at every other place
        lambda k: 0.25 * 0.5 ** (k - 1) * 0.5,  # and ends just there
        lambda k: 0.25 * 0.25 ** (k - 1),  # goes on at one place in four
    ],
}
RIGHT = {
    "slowest": [
        lambda a, places: (2**places - a) % 2**places,
        lambda a, places: torch.tensor(2.0**places - a),
        lambda a, places: np.array((2**places - 1 ^ a) + (a & -a) | (a & -a) - 1),  # whatever stands to the right
    ],
    "carry_prob": [
        lambda k: torch.tensor(0.5, dtype=torch.float64) ** (k + 1),
    ],
}

test_answers = test_of_answers("09_adding_a_column", WRONG, RIGHT)
