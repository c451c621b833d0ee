"""Small networks of lesson 09."""

from network import N, Network

from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.light_cone.lesson import LocalStep, loss_of_line
from ponder_utils import PonderLoss, PonderSequence


def columns(generator):
    x, y = ColumnTask(5, 3).batch(12, generator)
    return x, y.flatten(0, 1)


NETWORKS = {
    f"09 columns, {carry}": Network(
        lambda carry=carry: PonderSequence(LocalStep(2, 8), N, carry), columns, PonderLoss(loss_of_line, 0.4)
    )
    for carry in ("mean", "last")
}
TASKS = {"columns": ColumnTask(6, 3)}
