"""This course's own network of lessons 05 and 09: neighbours, and the least vote of all places halts a line."""

import torch
from torch import Tensor, nn

from ponder_course.light_cone.lesson import LocalStep
from ponder_course.scorecard.tasks import Task
from ponder_utils import PonderNet


class Voting(nn.Module):
    """A PonderNet with the inputs and the answers of the scorecard."""

    def __init__(self) -> None:
        super().__init__()
        self.ponder = PonderNet(LocalStep(2, 32, noise=0.1), max_steps=20)

    def forward(self, x: Tensor, n_loops: int) -> tuple[Tensor, Tensor]:
        """Return logits of no and yes, and of halting [n_loops, batch]: x [batch, places, 2]."""
        output = self.ponder(x.mT.float(), max_steps=n_loops)
        return torch.stack([-output.y_hat, output.y_hat], -1) / 2, output.halt_logits


def network(task: Task) -> Voting:
    """Return the network, untrained; for lines and columns."""
    return Voting()
