"""The checks of lesson 08's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import math

import numpy as np
import torch
from exercises import test_of_answers

from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together.task import ForestTask

WRONG = {
    "steps_needed": [
        lambda depth: (max(1, depth), max(1, math.ceil(math.log2(max(1, depth))))),  # right, and not sure of it
        lambda depth: (depth, math.ceil(math.log2(depth + 1))),  # a root that takes no step
        lambda depth: (depth + 1, 1 + math.ceil(math.log2(depth + 1))),  # the start is a step
        lambda depth: (max(1, depth), max(1, math.log2(depth + 1))),  # no whole steps
        lambda depth: (max(1, depth), max(1, round(math.log2(depth + 1)))),  # the nearest
        lambda depth: max(1, depth),  # alone only
    ],
    "felt_at": [
        lambda k: (max(1, k), max(1, math.ceil(math.log2(max(1, k))))),  # k arrows
        lambda k: (k + 1, max(1, math.ceil(math.log2(k + 1)))),  # the need of what stands above it
        lambda k: (max(1, k), max(1, math.floor(math.log2(k + 1)))),  # rounded down
        lambda k: (k, math.ceil(math.log2(k + 1))),  # before the first step
        lambda k: (max(1, k), max(1, k)),  # alone, twice
    ],
}
RIGHT = {
    "steps_needed": [
        lambda depth: np.array([max(depth, 1), np.ceil(np.log2(depth + 1)).clip(1)], dtype=np.int64),
        lambda depth: torch.tensor([max(depth, 1), max(1, depth.bit_length())], dtype=torch.float64),
        lambda depth: [max(1, depth), next(n for n in range(1, 99) if 2**n >= depth + 1)],
        lambda depth: (max(1.0, float(depth)), max(1.0, math.ceil(math.log2(depth + 1)))),
    ],
    "felt_at": [
        lambda k: [np.int64(max(k, 1)), np.float64(max(1, int(k).bit_length()))],
        lambda k: torch.tensor([max(k, 1), next(n for n in range(1, 99) if 2**n > k)]),
        lambda k: (max(1, k), max(1, math.ceil(math.log2(k + 1)))),
    ],
}

test_answers = test_of_answers("08_alone_and_together", WRONG, RIGHT, ForestTask=ForestTask, forests=forests)
