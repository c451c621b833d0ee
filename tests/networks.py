"""Small networks, each with its batches and its loss, and tasks: what every device must be able to run.

A lesson lists its own, {name: ...}, as NETWORKS and TASKS in `small_<lesson>.py` in its folder of tests.
"""

import sys
from importlib import import_module
from pathlib import Path

from network import PARITY, N, Network, cross_entropy
from torch import nn

from ponder_course import LESSONS
from ponder_utils import GRUStep, ParityTask, PonderLoss, PonderNet, RecurrentStep, RNNStep

HERE = Path(__file__).parent


NETWORKS = {
    "uniform prior": Network(
        lambda: PonderNet(RNNStep(8, 16), N), PARITY, PonderLoss(cross_entropy, "uniform", direction="p_G||p")
    ),
    "RNN": Network(lambda: PonderNet(RNNStep(8, 16), N), PARITY, PonderLoss(cross_entropy, 0.3)),
    "GRU": Network(lambda: PonderNet(GRUStep(8, 16), N), PARITY, PonderLoss(cross_entropy, 0.3)),
    "LSTM": Network(lambda: PonderNet(RecurrentStep(nn.LSTMCell(8, 16)), N), PARITY, PonderLoss(cross_entropy, 0.3)),
}
TASKS = {"parity": ParityTask(8)}
for lesson in LESSONS:
    if (HERE / lesson / f"small_{lesson}.py").exists():
        sys.path.append(str(HERE / lesson))
        small = import_module(f"small_{lesson}")
        NETWORKS |= getattr(small, "NETWORKS", {})
        TASKS |= getattr(small, "TASKS", {})
