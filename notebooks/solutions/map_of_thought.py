"""Solutions to the exercises of 07_map_of_thought. Look only after you have tried."""

from torch import Tensor

from ponder_course.map_of_thought.task import MazeTask


def steps_through_walls(x: Tensor) -> Tensor:
    """In a maze without walls the straight way is open."""
    without_walls = x.clone()
    without_walls[:, 0] = 1
    return MazeTask.needed_steps(without_walls)
