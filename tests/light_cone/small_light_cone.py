"""Small networks of lesson 05."""

from functools import partial

from network import N, Network

from ponder_course.light_cone import experiment
from ponder_course.light_cone.task import AdditionTask, LineParityTask
from ponder_utils import LocalStep, PonderLoss, PonderNet

NETWORKS = {
    f"05 {task}, {vote}, residual {residual}": Network(
        lambda vote=vote, residual=residual: PonderNet(LocalStep(2, 8, vote=vote, residual=residual, noise=0.1), N),
        partial(experiment.TASKS[task](7).batch, 12),
        PonderLoss(experiment.mean_over_places, 0.4),
    )
    for task, vote, residual in (("parity", "least", False), ("addition", "pooled", True))
}
TASKS = {"line parity": LineParityTask(12), "at a rate": LineParityTask(12, 0.2), "addition": AdditionTask(12)}
