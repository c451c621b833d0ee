"""Solutions to the exercises of 04_mnist_rotation. Look only after you have tried."""

import torch
from torch import Tensor, nn


def right_if_stopped(y_hat: Tensor, y: Tensor) -> Tensor:
    """The answer at each step is the largest logit; the mean over the batch leaves a number for each step."""
    right = y_hat.argmax(2) == y  # [N, batch]
    return right.float().mean(1)


def turned_within(x: Tensor, degrees: float, generator: torch.Generator) -> Tensor:
    """The fault was `rand(1)`: one angle, expanded to the whole batch. Each image needs a draw of its own."""
    angle = (degrees * (2 * torch.rand(len(x), generator=generator) - 1)).deg2rad()
    c, s, zero = angle.cos(), angle.sin(), torch.zeros(len(x))
    where_from = torch.stack([torch.stack([c, -s, zero], 1), torch.stack([s, c, zero], 1)], 1)
    places = nn.functional.affine_grid(where_from, list(x.shape), align_corners=False)
    return nn.functional.grid_sample(x, places, align_corners=False)


def steps_of_right_answers(p: Tensor, right: Tensor) -> Tensor:
    """E[n | right]. Where later answers are better, more of the right ones come late, whichever image it is."""
    n = torch.arange(1, len(p) + 1).to(p)[:, None]
    kept = p * right
    return (n * kept).sum() / kept.sum()


def steps_to_know_all(height: int, width: int, kernel: int, row: int, column: int) -> int:
    """One step for the own patch, then kernel // 2 places further with each; the farthest side decides."""
    farthest = max(row, height - 1 - row, column, width - 1 - column)
    return 1 + -(-farthest // (kernel // 2))


def same_for_all(by_step: list[float], steps: float) -> float:
    """Between two whole numbers of steps, some digits take the one and the others the other."""
    low = min(int(steps), len(by_step) - 1)  # at the last step, there is none above
    return by_step[low - 1] + (steps - low) * (by_step[low] - by_step[low - 1])
