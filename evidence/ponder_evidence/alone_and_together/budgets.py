"""Lesson 08 with equal budgets: more updates for one head and for four, and networks that learn without halting.

The latter differ in the weight that each step's loss has in training: all on the last of a few steps, the same on each
of them, or what a network that learnt to halt spends there in the mean. The last asks whether it is halting that helps,
or when the loss is taken.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.alone_and_together.experiment import MAX_DEPTH, N_NODES, measure, test_inputs
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit, of_asked
from ponder_evidence.alone_and_together.experiment import TEST_STEPS, asked, first_sensitive_step, learn, make_step
from ponder_evidence.alone_and_together.fresh import counted
from ponder_evidence.runs import Experiment
from ponder_utils.halting import PonderOutput
from ponder_utils.losses import Criterion, CriterionLoss, LossTerms, apply_mask
from ponder_utils.pondernet import PonderNet

TASK = ForestTask(N_NODES, MAX_DEPTH)  # of training
FEW = 5  # steps: trees of training need 4 at most


class WeightedLoss(CriterionLoss):
    """sum_n w_n loss_n, averaged over the batch: the same weights [N] for every sample, and no halting."""

    def __init__(self, criterion: Criterion, weights: Tensor) -> None:
        super().__init__(criterion)
        self.weights = weights

    def forward(self, output: PonderOutput, y: Tensor, mask: Tensor | None = None) -> LossTerms:
        """y: [batch, ...] -> three scalars; there is no regularization."""
        output, y = apply_mask(output, y, mask)
        loss = self.weights @ self.loss_by_step(output.y_hat, y).mean(1)
        return LossTerms(loss, loss, torch.zeros_like(loss))


@torch.no_grad()
def mean_halting(model: PonderNet, x: Tensor) -> Tensor:
    """Return the mean over all nodes of forests x of p_n, for each of the network's N steps: [N]."""
    log_p: Tensor = model.eval()(x).log_p
    return log_p.exp().flatten(1).mean(1)


def weights_of(kind: str, seed: int) -> Tensor:
    """Return the weights of the steps' losses: "last", "every" or "spent", as the network of this seed halts."""
    if kind == "last":
        return torch.eye(FEW)[-1]
    if kind == "every":
        return torch.full((FEW,), 1 / FEW)
    forests, _ = TASK.batch(300, torch.Generator().manual_seed(seed))
    return mean_halting(learn(seed, "current"), forests)


def learn_without_halting(seed: int, kind: str, updates: int = 1000, lr: float = 3e-3, batch: int = 16) -> PonderNet:
    """Train a network as `learn` does, for as many steps as there are weights, whose loss has these weights."""
    weights = weights_of(kind, seed)
    torch.manual_seed(seed)
    model = PonderNet(make_step("current"), len(weights))
    loss = WeightedLoss(nn.CrossEntropyLoss(reduction="none"), weights)
    return fit(model, of_asked(loss), partial(TASK.batch, batch), updates, lr=lr, seed=seed)[0]


def run(seed: int, kind: str, **setting: Any) -> Row:
    """Train a network, "halting" or by the weights of a kind, and measure it: as `fresh` does."""
    halts = kind == "halting"
    model = learn(seed, "current", **setting) if halts else learn_without_halting(seed, kind, **setting)
    x = test_inputs(N_NODES)
    row = counted(measure(model, x, TEST_STEPS))
    felt = first_sensitive_step(model.step, x[-10:], TEST_STEPS)
    return rounded(row | {"asked": asked(model.step, x[-50:]), "felt": felt})


HEADS: list[Row] = [
    {"kind": "halting", "n_heads": n, "updates": updates} for n, updates in ((4, 1000), (1, 3000), (4, 3000))
]
WITHOUT: list[Row] = [{"kind": kind} for kind in ("last", "every", "spent")]
SEEDS = range(10, 20)  # those of `fresh`, which is one head with 1,000 updates
SETTINGS = seeded(WITHOUT + HEADS, SEEDS, seed_by_seed=True)
SHORT = [WITHOUT[0] | {"updates": 5, "seed": 10}, HEADS[0] | {"updates": 5, "seed": 10}]
EXPERIMENTS = {"budgets": Experiment("08_forests_budgets", run, SETTINGS, SHORT)}
