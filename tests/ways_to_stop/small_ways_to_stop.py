"""Small networks of lesson 06."""

from functools import partial

from network import N, Network

from ponder_course.light_cone.lesson import LocalStep, loss_of_line
from ponder_course.ways_to_stop.lesson import judge_loss
from ponder_course.ways_to_stop.problems import UnanswerableTask
from ponder_utils import PonderLoss, PonderNet

LOSSES = {"no answer": PonderLoss(loss_of_line, 0.4), "judge": judge_loss}
BATCH = partial(UnanswerableTask(7).batch, 12)
NETWORKS = {
    f"06 {name}": Network(lambda: PonderNet(LocalStep(3, 8, noise=0.1), N), BATCH, loss)
    for name, loss in LOSSES.items()
}
TASKS = {"no answer": UnanswerableTask(8)}
