"""How the stored runs of lesson 05 were made."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.common.lines import AdditionTask, LineParityTask
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_course.light_cone.experiment import CARRIES, TESTS, measure
from ponder_course.light_cone.lesson import LocalStep, loss_of_line
from ponder_evidence.runs import grid
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet

# A network's setting; an experiment says what it changes. Trained on lines of 16 places.
RECIPE: Row = {"task": "parity", "N": 20, "lambda_p": 0.4, "beta": 0.01, "direction": "p||p_G", "vote": "least"}
RECIPE |= {"residual": False, "noise": 0.1, "updates": 1000, "lr": 5e-3}
N_PLACES, CHANNELS, BATCH = 16, 32, 64
TASKS: dict[str, Callable[[int], Any]] = {
    "parity": LineParityTask,
    "addition": AdditionTask,
    "addition, long carries": partial(AdditionTask, rate=None),
}


class VariedStep(LocalStep):
    """Lesson 05's step, or a variant of it.

    vote: "least", or "pooled": one logit, read from the mean and the maximum of the state over all places. residual:
    h_n = h_{n-1} + relu(W_h * h_{n-1} + W_x * x) instead of tanh.
    """

    def __init__(self, vote: str, residual: bool, noise: float) -> None:
        super().__init__(2, CHANNELS, noise)
        self.residual, self.pooled = residual, None
        if vote == "pooled":
            self.heads = nn.Conv1d(CHANNELS, 1, 1)
            self.pooled = nn.Linear(2 * CHANNELS, 1)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the next state."""
        if not self.residual:
            return super().move(z, h)
        h = h + torch.relu(self.from_h(h) + z)
        return h + self.noise * torch.randn_like(h) if self.training else h

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, places] and a_n [batch]."""
        if self.pooled is None:
            return super().read(h)
        return self.heads(h)[:, 0], self.pooled(torch.cat([h.mean(2), h.amax(2)], dim=1)).squeeze(1)


def learn(*, task: str, N: int, lambda_p: float, beta: float, direction: str, **setting: Any) -> PonderNet:
    """Train a network of a `RECIPE`."""
    torch.manual_seed(setting["seed"])
    step = {name: setting.pop(name) for name in ("vote", "residual", "noise")}
    model = PonderNet(VariedStep(**step), N)
    loss = PonderLoss(loss_of_line, lambda_p, beta, direction=direction)
    return fit(model, loss, partial(TASKS[task](N_PLACES).batch, BATCH), **setting)[0]


def run(**setting: Any) -> Row:
    """Train a network of this setting, and measure it, also on "uniform" numbers if it adds: {places: measures}."""
    model = learn(**setting)
    kinds = {"tests": setting["task"]} | ({} if setting["task"] == "parity" else {"uniform": "addition"})
    result: Row = {name: {} for name in kinds}
    for name, task in kinds.items():
        for places, (N, n_lines) in TESTS.items():
            result[name][places] = measure(model, TASKS[task](places), N, n_lines)
        for by_one in ("by_step", "by_need"):  # of few lines and many steps
            del result[name][max(TESTS)][by_one]
    return rounded(result)


UNIFORM = CARRIES | {"task": "addition"}
CHANGES: dict[str, list[tuple[Row, int]]] = {
    "main": [({}, 10)],
    "addition": [(CARRIES, 10), (CARRIES | {"residual": True}, 10), (UNIFORM, 5), (UNIFORM | {"residual": True}, 5)],
    "vote": [({"vote": "pooled"}, 10), ({"vote": "pooled", "lambda_p": 0.2}, 5)],
    "noise": [({"noise": 0.0}, 10), ({"noise": 0.0, "updates": 3000}, 5), ({"noise": 0.3}, 5)],
    "prior": [({"lambda_p": lambda_p}, 5) for lambda_p in (0.1, 0.2, 0.3, 0.6, 0.8)]
    + [({"lambda_p": lambda_p, "N": 40}, 5) for lambda_p in (0.1, 0.2)],
    "beta": [({"beta": 0.001}, 5), ({"beta": 0.1}, 5)],
    "reversed": [({"direction": "p_G||p", "lambda_p": lambda_p}, 5) for lambda_p in (0.2, 0.4, 0.8)],
}
EXPERIMENTS = {}
for name, changes in CHANGES.items():
    settings = [setting for change, n_seeds in changes for setting in seeded([RECIPE | change], n_seeds)]
    EXPERIMENTS[name] = grid(f"05_light_cone_{name}", run, settings, {"updates": 20})
