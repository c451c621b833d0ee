"""The checks of lesson 12's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import math

import torch
from exercises import test_of_answers


def loops(depth):
    return max(1, math.ceil(math.log2(depth + 1)))


WRONG = {
    "cost": [
        lambda d, n: ((d, d), (loops(d), loops(d) * n)),  # STOP costs nothing
        lambda d, n: ((d + 1, d + 1), (loops(d), loops(d))),  # one node alone
        lambda d, n: ((d + 1, d + 1), (math.ceil(math.log2(d + 1)), math.ceil(math.log2(d + 1)) * n)),  # a root: none
        lambda d, n: ((d + 1, d + 1), (max(1, math.ceil(math.log2(max(d, 1)))), loops(d) * n)),  # only to name
        lambda d, n: ((d + 1, (d + 1) * n), (loops(d), loops(d) * n)),  # each word computes the text anew
    ],
}
RIGHT = {
    "cost": [lambda d, n: torch.tensor([[d + 1, d + 1], [loops(d), n * loops(d)]])],
}
test_answers = test_of_answers("12_words", WRONG, RIGHT)
