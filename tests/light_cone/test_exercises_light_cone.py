"""The checks of lesson 05's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import math

import torch
from exercises import solutions, test_of_answers
from torch import nn

light_cone = solutions("05_light_cone")

WRONG = {
    "steps_needed": [
        lambda resets: [sum(resets[: i + 1]) for i in range(len(resets))],  # which segment it is
        lambda resets: list(range(1, len(resets) + 1)),  # to the start of the line
        lambda resets: [n - 1 for n in light_cone.steps_needed(resets)],  # distance, not steps
        lambda resets: max(light_cone.steps_needed(resets)),  # of the line
    ],
    "step_of_news": [
        lambda distance, kernel: distance + 1,  # a kernel of 3
        lambda distance, kernel: 1 + distance // (kernel // 2),  # rounded down
        lambda distance, kernel: math.ceil(distance / (kernel // 2)),  # from 0
        lambda distance, kernel: 1 + math.ceil(distance / kernel),  # the whole width to one side
    ],
    "gossip": [
        lambda h: torch.zeros_like(h),
        lambda h: h,
        lambda h: h.mean(1, keepdim=True).expand_as(h),  # over channels
    ],
}
RIGHT = {
    "gossip": [
        lambda h: h.mean(2, keepdim=True),  # broadcasts
        lambda h: nn.functional.pad(h, (0, 2))[..., 2:],  # to the left only
    ],
}

test_answers = test_of_answers("05_light_cone", WRONG, RIGHT)
