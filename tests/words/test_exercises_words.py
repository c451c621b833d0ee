"""The checks of lesson 12's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import math

import torch
from exercises import test_of_answers
from scipy.stats import binom


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
    "majority": [
        lambda p, n_votes: p,  # as one vote
        lambda p, n_votes: p**n_votes,  # all are right
        lambda p, n_votes: 1 - (1 - p) ** n_votes,  # any is right
        lambda p, n_votes: float(p > 0.5) if p != 0.5 else 0.5,  # endless votes
    ],
}
RIGHT = {
    "cost": [lambda d, n: torch.tensor([[d + 1, d + 1], [loops(d), n * loops(d)]])],
    "majority": [lambda p, n_votes: binom.sf(n_votes // 2, n_votes, p)],
}
test_answers = test_of_answers("12_words", WRONG, RIGHT)
