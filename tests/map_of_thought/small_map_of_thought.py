"""A small network of lesson 07."""

from functools import partial

from network import N, Network, cross_entropy

from ponder_course.common.training import of_asked
from ponder_course.map_of_thought.lesson import MazeStep
from ponder_course.map_of_thought.task import MazeTask
from ponder_utils import PonderLoss, PonderNet

NETWORKS = {
    "07 mazes": Network(
        lambda: PonderNet(MazeStep(8, 0.1), N),
        partial(MazeTask(3).batch, 12),
        of_asked(PonderLoss(cross_entropy, 0.8)),
    )
}
TASKS = {"mazes": MazeTask(4)}
