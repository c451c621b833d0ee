"""Small networks of lesson 08."""

from functools import partial

from network import N, Network, cross_entropies

from ponder_course.alone_and_together import experiment
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.training import of_asked
from ponder_utils import PonderLoss, PonderNet

NETWORKS = {
    f"08 forests, {memory}": Network(
        lambda memory=memory: PonderNet(experiment.make_step(memory, 6, 16), N),
        partial(ForestTask(6).batch, 12),
        of_asked(PonderLoss(cross_entropies, 0.8)),
    )
    for memory in ("initial", "current")
}
TASKS = {"forests": ForestTask(12)}
