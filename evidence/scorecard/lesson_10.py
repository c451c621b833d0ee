"""This course's own network of lesson 10, as it is stored, on sudokus: each cell halts by itself. Give --updates 0."""

import math

from torch import Tensor, nn
from torch.nn.functional import pad

from ponder_course.common.store import CLONE
from ponder_course.common.trained import TrainOrLoad
from ponder_course.scorecard.tasks import Task
from ponder_course.sudoku.lesson import learn, on_boards, untrained
from ponder_course.sudoku.task import signs
from ponder_utils import PonderNet


class Elimination(nn.Module):
    """Lesson 10's network, with the inputs and the answers of the scorecard; boards of any size."""

    def __init__(self) -> None:
        super().__init__()
        stored = TrainOrLoad("none", f"{CLONE}/results/10_sudoku", 1, BUDGET="class")
        [self.ponder] = stored(learn, [{"seed": 20}], untrained)

    def forward(self, x: Tensor, n_loops: int) -> tuple[Tensor, Tensor]:
        """Return logits of nine digits, and of halting: x [boards, side, side, 1]."""
        side = x.shape[1]
        output = PonderNet(on_boards(self.ponder, math.isqrt(side)), n_loops)(signs(x[..., 0]))
        y_hat = pad(output.y_hat, (0, 9 - side), value=-30.0)  # a board of 4 x 4 has no digit above 4
        return y_hat.unflatten(2, (side, side)), output.halt_logits.unflatten(2, (side, side))


def network(task: Task) -> Elimination:
    """Return the network."""
    return Elimination()
