"""Lesson 08 with roots that are marked: does a node halt a step later than it can name its root since the root must
find out first that it is one?
"""

import torch
from torch import Tensor

from ponder_course.alone_and_together.experiment import MAX_DEPTH, N_NODES, measure, test_inputs
from ponder_course.alone_and_together.lesson import Addresses, SleepyStep, learn, loss_of_nodes
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_evidence.alone_and_together.experiment import TEST_STEPS, first_sensitive_step
from ponder_evidence.alone_and_together.fresh import counted
from ponder_evidence.runs import grid
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import EncodedStep


class MarkedRoots(Addresses):
    """Addresses, but in place of a parent a root has 0: that it is one can be seen without a comparison."""

    def forward(self, x: Tensor) -> Tensor:
        """x: parents [batch, nodes] -> [batch, nodes, size]."""
        own, parents = super().forward(x).chunk(2, dim=2)
        is_root = x == torch.arange(x.shape[1], device=x.device)
        return torch.cat([own, parents.masked_fill(is_root[..., None], 0.0)], dim=2)


def learn_marked(seed: int, updates: int = 1000, size: int = 64) -> PonderNet:
    """Train a network whose nodes ask each other, as `learn` does, but for the marks."""
    torch.manual_seed(seed)
    step = EncodedStep(MarkedRoots(N_NODES, size), SleepyStep(size, N_NODES))
    return learn(PonderNet(step, 14), loss_of_nodes, ForestTask(N_NODES, MAX_DEPTH), seed, updates, batch=16)


def run(seed: int, updates: int = 1000) -> Row:
    """Train a network whose roots are marked, and measure it: as `fresh` does, but for whom it reads."""
    model, x = learn_marked(seed, updates), test_inputs(N_NODES)
    row = counted(measure(model, x, TEST_STEPS))
    return rounded(row | {"felt": first_sensitive_step(model.step, x[-10:], TEST_STEPS)})


SETTINGS = seeded([{}], range(10, 20))
EXPERIMENTS = {"marked": grid("08_forests_marked", run, SETTINGS, {"updates": 5})}
