"""Small networks of lesson 05."""

from functools import partial

from network import N, Network
from torch import nn

from ponder_course.common.lines import AdditionTask, LineParityTask
from ponder_course.light_cone.lesson import LocalStep, loss_of_line
from ponder_utils import PonderLoss, PonderNet

NETWORKS = {
    f"05 {name}": Network(
        lambda: PonderNet(LocalStep(2, 8, noise=0.1), N), partial(task.batch, 12), PonderLoss(loss_of_line, 0.4)
    )
    for name, task in {"parity": LineParityTask(7), "addition": AdditionTask(7)}.items()
}
TASKS = {"line parity": LineParityTask(12), "at a rate": LineParityTask(12, 0.2), "addition": AdditionTask(12)}


class Clock(nn.Module):
    """Halts at L, and guesses 0 at every place that has not heard its start."""

    def forward(self, x, h):
        n = 1 if h is None else h + 1
        need = LineParityTask.needed_steps(x)
        known = LineParityTask.answers(x) * (need <= n)
        return 20.0 * known - 10.0, n, 40.0 * (need.amax(1) <= n) - 20.0
