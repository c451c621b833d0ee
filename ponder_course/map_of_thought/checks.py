"""The checks of lesson 07's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

from collections.abc import Callable

import torch
from torch import Tensor

from ponder_course.map_of_thought.task import MazeTask


def check_steps_through_walls(answer: Callable[[Tensor], Tensor]) -> None:
    """Check the steps that each place of some mazes needs if news goes through walls."""
    x, _ = MazeTask(4).batch(20, torch.Generator().manual_seed(1))
    before, got = x.clone(), answer(x)
    assert torch.equal(x, before), "please leave the mazes as they are"
    places = torch.cartesian_prod(torch.arange(7), torch.arange(7))[:, None]
    for maze, steps in zip(x, got, strict=True):
        apart = (places - (maze[1] + maze[2]).nonzero()).abs().amax(2)  # from each star: [places, stars]
        assert torch.equal(steps, apart.amin(1).view(7, 7) + 1), "some place needs another number"
