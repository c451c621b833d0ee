"""Small networks of lesson 06."""

from functools import partial

from network import N, Network

from ponder_course.common.lines import mean_over_places, whole_lines_right
from ponder_course.common.local import LocalStep
from ponder_course.ways_to_stop.problems import UnanswerableTask
from ponder_course.ways_to_stop.supervision import JudgeLoss
from ponder_utils import PonderLoss, PonderNet

LOSSES = {"no answer": PonderLoss(mean_over_places, 0.4), "judge": JudgeLoss(mean_over_places, whole_lines_right)}
BATCH = partial(UnanswerableTask(7).batch, 12)
NETWORKS = {
    f"06 {name}": Network(lambda: PonderNet(LocalStep(3, 8, noise=0.1), N), BATCH, loss)
    for name, loss in LOSSES.items()
}
TASKS = {"no answer": UnanswerableTask(8)}
