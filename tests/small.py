"""A small network, its loss and its task, with what tests of training share."""

import torch
from torch import nn

from ponder_utils.evaluation import evaluate
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import GRUStep, RNNStep
from ponder_utils.tasks import ParityTask

TASK = ParityTask(6)
HELD_OUT = TASK.batch(512, torch.Generator().manual_seed(99))
cross_entropy = nn.BCEWithLogitsLoss(reduction="none")


def make(seed=0, step=RNNStep, max_steps=6):
    torch.manual_seed(seed)
    return PonderNet(step(6, 32), max_steps), PonderLoss(cross_entropy, 0.3)


def draw(generator):
    return TASK.batch(64, generator)


def score(model):
    return {"accuracy": evaluate(model, *HELD_OUT).accuracy}


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


WITH_ADAM = {"lr": 5e-3, "log_every": 20, "checkpoint_every": 50, "evaluate": score, "monitor": "accuracy"}
WITH_ADAM |= {"progress": False}


class WithDropout(GRUStep):
    """Draws from torch's global generator, which must be restored too."""

    def forward(self, z, h):
        y_hat, h, halt_logit = super().forward(z, h)
        return y_hat, nn.functional.dropout(h, 0.2, self.training), halt_logit


class Normed(RNNStep):
    """Has running means."""

    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size)
        self.norm = nn.BatchNorm1d(input_size)

    def encode(self, x):
        return super().encode(self.norm(x))
