"""The checks of lesson 07's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

from collections.abc import Callable

import torch
from torch import Tensor

from ponder_course.map_of_thought.experiment import with_both_colours
from ponder_course.map_of_thought.task import MazeTask


def first_maze() -> Tensor:
    """Return the maze that the lesson draws first, and whose slowest place is asked: [3, 9, 9]."""
    x, _ = MazeTask(5).batch(200, torch.Generator().manual_seed(4))
    return x[with_both_colours(x)[0]]


def check_slowest_place(answer: Callable[[], tuple[int, int, int]]) -> None:
    """Check the row and the column, from 1, of a place of `first_maze` that needs the most steps, and how many."""
    maze = first_maze()
    row, column, steps = answer()
    needed = MazeTask.needed_steps(maze[None])[0]
    assert maze[0, row - 1, column - 1] > 0, "that place is a wall"
    assert steps == needed[row - 1, column - 1], "that place needs another number of steps"
    assert steps == needed[maze[0] > 0].max(), "another place needs more steps"


def check_steps_through_walls(answer: Callable[[Tensor], Tensor]) -> None:
    """Check the steps that each place of some mazes needs if news goes through walls."""
    x, _ = MazeTask(4).batch(20, torch.Generator().manual_seed(1))
    before, got = x.clone(), answer(x)
    assert torch.equal(x, before), "please leave the mazes as they are"
    places = torch.cartesian_prod(torch.arange(7), torch.arange(7))[:, None]
    for maze, steps in zip(x, got, strict=True):
        apart = (places - (maze[1] + maze[2]).nonzero()).abs().amax(2)  # from each star: [places, stars]
        assert torch.equal(steps, apart.amin(1).view(7, 7) + 1), "some place needs another number"
