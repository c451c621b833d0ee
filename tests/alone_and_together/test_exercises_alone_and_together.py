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
    ],
    "felt_at": [
        lambda k: (max(1, k), max(1, math.ceil(math.log2(max(1, k))))),  # k arrows
        lambda k: (k + 1, max(1, math.ceil(math.log2(k + 1)))),  # the need of what stands above it
        lambda k: (max(1, k), max(1, math.floor(math.log2(k + 1)))),  # rounded down
        lambda k: (k, math.ceil(math.log2(k + 1))),  # before the first step
    ],
}
RIGHT = {
    "steps_needed": [
        lambda depth: torch.tensor([max(depth, 1), max(1, depth.bit_length())], dtype=torch.float64),
    ],
    "felt_at": [
        lambda k: [np.int64(max(k, 1)), np.float64(max(1, int(k).bit_length()))],
    ],
}

test_answers = test_of_answers("08_alone_and_together", WRONG, RIGHT, ForestTask=ForestTask, forests=forests)
