"""The checks of lesson 04's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import math

import torch
from exercises import test_of_answers
from torch import nn


def turn_each(x, degrees, generator, draw):
    angle = draw(len(x), generator).mul(degrees).deg2rad()
    c, s, zero = angle.cos(), angle.sin(), torch.zeros(len(x))
    matrix = torch.stack([torch.stack([c, -s, zero], 1), torch.stack([s, c, zero], 1)], 1)
    places = nn.functional.affine_grid(matrix, list(x.shape), align_corners=False)
    return nn.functional.grid_sample(x, places, align_corners=False)


def to_the_edges(height, width, row, column):
    """Places to the farther edge, down or up and right or left."""
    return max(row, height - 1 - row), max(column, width - 1 - column)


WRONG = {
    "right_if_stopped": [
        lambda y_hat, y: (y_hat.argmax(2) == y).sum(1),  # counts
        lambda y_hat, y: (y_hat.argmax(2) == y).float().mean(0),  # for each digit
        lambda y_hat, y: (y_hat.argmax(2) == y).float().mean(),  # over the steps, too
        lambda y_hat, y: (y_hat.argmax(2) == y).float().cummax(0).values.mean(1),  # right at this step or before
    ],
    "turned_within": [
        lambda x, d, g: turn_each(x, d, g, lambda n, g: torch.rand(n, generator=g)),  # one way only
        lambda x, d, g: turn_each(x, d, g, lambda n, g: torch.rand(n, generator=g) - 0.5),  # half as far
        lambda x, d, g: turn_each(x, d, g, lambda n, g: torch.randn(n, generator=g)),  # normal, not uniform
        lambda x, d, g: turn_each(x, d, g, lambda n, g: torch.randint(0, 2, (n,), generator=g) * 2.0 - 1),  # exactly d
    ],
    "steps_of_right_answers": [
        lambda p, right: ((p * right).sum(0) * (torch.arange(1.0, 7)[:, None] * p).sum(0)).sum() / (p * right).sum(),
        lambda p, right: (torch.arange(1.0, 7)[:, None] * p * right).sum(0).mean(),  # not divided by what is kept
        lambda p, right: (torch.arange(0.0, 6)[:, None] * p * right).sum() / (p * right).sum(),  # counted from 0
        lambda p, right: ((torch.arange(1.0, 7)[:, None] * p * right).sum(0) / (p * right).sum(0)).nanmean(),
    ],
    "steps_to_know_all": [
        lambda height, width, kernel, *place: 1 + max(to_the_edges(height, width, *place)),  # kernel of 3
        lambda height, width, kernel, *place: math.ceil(
            max(to_the_edges(height, width, *place)) / (kernel // 2)
        ),  # from 0
        lambda height, width, kernel, *place: 1 + max(to_the_edges(height, width, *place)) // (kernel // 2),  # floor
        lambda height, width, kernel, *place: (
            1 + math.ceil(sum(to_the_edges(height, width, *place)) / (kernel // 2))  # no diagonals
        ),
    ],
    "same_for_all": [
        lambda by_step, steps: by_step[int(steps) - 1],  # rounded down
        lambda by_step, steps: by_step[min(round(steps), len(by_step)) - 1],
        lambda by_step, steps: by_step[int(steps)] if int(steps) < len(by_step) else by_step[-1],  # from 0
        lambda by_step, steps: by_step[int(steps) - 1] * (1 - steps % 1) + by_step[int(steps)] * (steps % 1),  # the end
    ],
}
RIGHT = {
    "turned_within": [
        lambda x, d, g: torch.cat(
            [turn_each(image[None], d, g, lambda n, g: 1 - 2 * torch.rand(n, generator=g)) for image in x]
        ),
    ],
}

test_answers = test_of_answers("04_mnist_rotation", WRONG, RIGHT)
