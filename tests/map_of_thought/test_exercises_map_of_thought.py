"""The checks of lesson 07's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import torch
from exercises import test_of_answers

from ponder_course.map_of_thought.task import MazeTask, distances


def without_walls(x):
    return torch.cat([torch.ones_like(x[:, :1]), x[:, 1:]], 1)


WRONG = {
    "steps_through_walls": [
        lambda x: MazeTask.needed_steps(x),  # round the corners
        lambda x: MazeTask.needed_steps(torch.ones_like(x)),  # stars everywhere
        lambda x: MazeTask.needed_steps(x.index_fill_(1, torch.tensor(0), 1.0)),  # changes the mazes
        lambda x: MazeTask.needed_steps(without_walls(x)) - 1,  # distances
    ],
}
RIGHT = {
    "steps_through_walls": [
        lambda x: distances(torch.ones_like(x[:, 0]), x[:, 1] + x[:, 2]) + 1,
    ],
}

test_answers = test_of_answers("07_map_of_thought", WRONG, RIGHT)
