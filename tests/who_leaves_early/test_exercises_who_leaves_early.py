"""The checks of lesson 13's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import math

import torch
from exercises import test_of_answers


def by_formula(arrows, after):
    """Doubled for the first loops, then in steps of 2 ** after."""
    doubled = math.ceil(math.log2(arrows))
    if doubled <= after + 1:
        return torch.tensor(max(1, doubled))
    return torch.tensor(after + 1 + math.ceil((arrows - 2 ** (after + 1)) / 2**after))


WRONG = {
    "loops_needed": [
        lambda arrows, after: max(1, math.ceil(math.log2(arrows))),  # as if nobody left
        lambda arrows, after: max(1, math.ceil(arrows / 2**after)),  # from the first loop on
        lambda arrows, after: math.ceil(arrows / 2),  # whenever they leave
        lambda arrows, after: by_formula(arrows, after - 1),  # a statement shows what it knew before its last loop
        lambda arrows, after: by_formula(arrows + 1, after),  # an arrow too many
    ],
}
RIGHT = {"loops_needed": [by_formula]}
test_answers = test_of_answers("13_who_leaves_early", WRONG, RIGHT)
