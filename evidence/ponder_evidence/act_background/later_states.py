"""How much all states but the first weigh in ACT's answer while it learns parity: a step can be taken and not count."""

from typing import Any

import torch
from torch import nn

from ponder_course.act_background.experiment import Prices
from ponder_course.common.parity import act, right
from ponder_course.common.runs import rounded
from ponder_course.common.store import Row
from ponder_evidence.act_background.experiment import CHEAP, EXPENSIVE, SIZES, train_in_phases
from ponder_evidence.runs import Experiment
from ponder_utils.act import ACT
from ponder_utils.cells import encode_input
from ponder_utils.states import hidden_state
from ponder_utils.tasks import ParityTask


@torch.no_grad()
def look(model: ACT, x: torch.Tensor, y: torch.Tensor) -> dict[str, float]:
    """Return of inputs x [batch, elements]: "accuracy", mean "steps", "one_step", the fraction of inputs that take one,
    and "later", the mean weight of all states but the first.
    """
    output = model(x[None])
    N = output.steps[0]
    first = model.cell(encode_input(model.cell, nn.functional.pad(x, (0, 1), value=1.0)), None)
    lambda_1 = model.halting(hidden_state(first)).sigmoid()[:, 0]
    is_one = N == 1
    return {
        "accuracy": right(output.y_hat[0], y),
        "steps": N.float().mean().item(),
        "one_step": is_one.float().mean().item(),
        "later": torch.where(is_one, 0.0, 1 - lambda_1).mean().item(),
    }


def run(prices: Prices, seed: int, **setting: Any) -> Row:
    """Train ACT while its price changes, as `follow` does: what `look` sees at each "update", [points] each."""
    torch.manual_seed(seed)
    model = act(setting["elements"], setting["hidden"], setting["N"])
    x, y = ParityTask(setting["elements"]).batch(2000, torch.Generator().manual_seed(13))
    log_every = min(100, int(sum(updates for _, updates in prices)))
    how: Row = {"evaluate": lambda model: look(model, x, y), "log_every": log_every}
    rows = [{"update": 0, **look(model, x, y)}, *train_in_phases(model, prices, setting | {"seed": seed}, **how)]
    return rounded({name: [row[name] for row in rows] for name in ("update", "accuracy", "steps", "one_step", "later")})


EARLY: Prices = [[EXPENSIVE, 1000], [CHEAP, 3000]]
CONSTANT = (1e-3, 2e-2, 3e-2)
SETTINGS = [SIZES | {"prices": EARLY, "seed": seed} for seed in range(10)]
SETTINGS += [SIZES | {"prices": [[price, 2000]], "seed": seed} for price in CONSTANT for seed in range(5)]
SHORT = [SIZES | {"prices": [[EXPENSIVE, 5], [CHEAP, 5]], "seed": 0}]
EXPERIMENTS = {"later states": Experiment("01_act_later_states_class", run, SETTINGS, SHORT)}
