"""This course's own network of lesson 07, as it is stored, on mazes: each place halts by itself. Give --updates 0."""

import torch
from torch import Tensor, nn

from ponder_course.common.store import CLONE
from ponder_course.common.trained import TrainOrLoad
from ponder_course.map_of_thought.lesson import learn, untrained
from ponder_course.scorecard.tasks import Task


class Map(nn.Module):
    """Lesson 07's network, with the inputs and the answers of the scorecard."""

    def __init__(self) -> None:
        super().__init__()
        stored = TrainOrLoad("none", f"{CLONE}/results/07_map_of_thought", 1, BUDGET="class")
        [self.ponder] = stored(learn, [{"seed": 100}], untrained)

    def forward(self, x: Tensor, n_loops: int) -> tuple[Tensor, Tensor]:
        """Return logits of both colours, and of halting: x [mazes, height, width, 1]."""
        token = x[..., 0]
        maze = torch.stack([token > 0, token == 2, token == 3], 1).float()
        output = self.ponder(maze, max_steps=n_loops)
        return torch.stack([-output.y_hat, output.y_hat], -1) / 2, output.halt_logits


def network(task: Task) -> Map:
    """Return the network."""
    return Map()
