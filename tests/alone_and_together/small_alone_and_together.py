"""Small networks of lesson 08."""

from functools import partial

from network import N, Network

from ponder_course.alone_and_together.lesson import SleepyStep, loss_of_nodes, untrained
from ponder_course.alone_and_together.task import ForestTask

NETWORKS = {
    f"08 forests, {memory}": Network(
        lambda memory=memory: untrained(0, memory, SleepyStep, 6, 16, N),
        partial(ForestTask(6).batch, 12),
        loss_of_nodes,
    )
    for memory in ("initial", "current")
}
TASKS = {"forests": ForestTask(12)}
