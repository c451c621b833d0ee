"""Stored runs of lesson 01: how its networks, ACT beside fixed depths, and a price that comes too early, were made."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.act_background.experiment import Prices, whose_answer
from ponder_course.common.parity import act, cross_entropy, fix_depth, inputs_by_k, measure, one_time_step, right
from ponder_course.common.runs import rounded
from ponder_course.common.store import Row
from ponder_evidence.runs import Experiment
from ponder_utils.act import ACT, ACTOutput
from ponder_utils.cells import RNNCell
from ponder_utils.losses import ACTLoss
from ponder_utils.steps import set_halting_bias
from ponder_utils.tasks import ParityTask
from ponder_utils.training import cool_down, train

# Sizes and training that all networks share, those of the lesson.
SIZES: Row = {"elements": 8, "hidden": 128, "N": 20, "lr": 7e-3, "clip": 0.1}
RECIPE: Row = SIZES | {"updates": 2000}
DEPTHS = [1, 2, 4, 10]
TAUS = [1e-4, 1e-3, 1e-2, 2e-2, 3e-2, 1e-1]
CHEAP, EXPENSIVE = TAUS[0], TAUS[-1]
BATCH = 128


class FixedDepth(nn.Module):
    """The network that may not choose: it takes the same number of steps for every input, and answers with the last."""

    def __init__(self, inputs: int, hidden: int, depth: int) -> None:
        super().__init__()
        self.cell = RNNCell(inputs, hidden)
        self.output = nn.Linear(hidden, 1)
        self.depth = depth

    def forward(self, x: Tensor) -> ACTOutput:
        """x: [1, batch, inputs] -> the output of an ACT that takes `depth` steps, the last with a weight of 1."""
        z, s = self.cell.encode(x[0]), None
        for _ in range(self.depth):
            s = self.cell(z, s)
        y_hat = self.output(s)[None, :, 0]
        return ACTOutput(y_hat, torch.full_like(y_hat, self.depth), torch.ones_like(y_hat), s)


def train_in_phases(
    model: nn.Module, prices: Prices, setting: Row, change: Callable[[Any], None] | None = None, **options: Any
) -> list[Row]:
    """Train on parity at one price after the other, and return the rows of `train`, their updates counted through.

    All phases share one optimizer and one stream of batches. When the first one ends, `change` may change the model.
    The options are those of `train`.
    """
    options["optimizer"] = torch.optim.Adam(model.parameters(), lr=setting["lr"], fused=True)
    options |= {"clip": setting["clip"], "progress": False}
    generator = torch.Generator(next(model.parameters()).device).manual_seed(setting["seed"])
    draw = partial(one_time_step, partial(ParityTask(setting["elements"]).batch, BATCH))
    rows: list[Row] = []
    for phase, (tau, updates) in enumerate(prices):
        if phase == 1 and change is not None:
            change(model)
        if updates > 0:
            start = rows[-1]["update"] if rows else 0
            made = train(model, ACTLoss(cross_entropy, tau), lambda _: draw(generator), int(updates), **options)
            rows += [row | {"update": start + row["update"]} for row in made]
    return rows


def run(kind: str, hyperparameter: float, updates: int, device: str = "cpu", **setting: Any) -> Row:
    """Train a network, and return "accuracy" and "steps" for each of `tested_k`.

    The hyperparameter of the kind "fixed depth" is the depth, and that of the others tau. A "long start" has a halting
    bias of -2. "charged late" trains at the lowest price in the first half and at tau in the second, "charged early"
    the other way round, both at a constant learning rate. The setting has the names of `SIZES`, and a seed.
    """
    torch.manual_seed(setting["seed"])
    elements, hidden, N = setting["elements"], setting["hidden"], setting["N"]
    fixed, half = kind == "fixed depth", updates // 2
    model: nn.Module = FixedDepth(elements, hidden, int(hyperparameter)) if fixed else act(elements, hidden, N)
    prices = {
        "fixed depth": [[0.0, updates]],
        "ACT": [[hyperparameter, updates]],
        "long start": [[hyperparameter, updates]],
        "charged late": [[CHEAP, half], [hyperparameter, updates - half]],
        "charged early": [[hyperparameter, half], [CHEAP, updates - half]],
    }[kind]
    if kind == "long start":
        set_halting_bias(model.halting, -2.0)
    schedule = cool_down(updates) if len(prices) == 1 else None
    train_in_phases(model.to(device), prices, setting, schedule=schedule)
    return measure(model.cpu(), inputs_by_k(elements))


def follow(prices: Prices, reset: bool = False, depth: int = 0, device: str = "cpu", **setting: Any) -> Row:
    """Train ACT at a constant learning rate while its price changes. The setting is as for `run`.

    When the first phase ends, `reset` gives it a new halting unit, as at the start; with a `depth`, it takes so many
    steps from then on, and answers with the last.

    Return, over two thousand inputs, at each "update" [points] "accuracy", mean "steps" and "one_step", the fraction
    of inputs with a single step; "whose", from `whose_answer` of the trained network.
    """
    torch.manual_seed(setting["seed"])
    model = act(setting["elements"], setting["hidden"], setting["N"]).to(device)
    x, y = ParityTask(setting["elements"]).batch(2000, torch.Generator(device).manual_seed(13))

    @torch.no_grad()
    def evaluate(model: nn.Module) -> dict[str, float]:
        output = model(x[None])
        steps = output.steps.float()
        one_step = (steps == 1).float().mean().item()
        return {"accuracy": right(output.y_hat[0], y), "steps": steps.mean().item(), "one_step": one_step}

    def change(model: ACT) -> None:
        if reset:
            model.halting.reset_parameters()
            nn.init.ones_(model.halting.bias)
        if depth:
            fix_depth(model, depth)

    before = {"update": 0, **evaluate(model)}
    log_every = max(1, min(100, int(sum(updates for _, updates in prices)) // 20))
    rows = [before, *train_in_phases(model, prices, setting, change, evaluate=evaluate, log_every=log_every)]
    logged = {name: [row[name] for row in rows] for name in ("update", "accuracy", "steps", "one_step")}
    return rounded(logged) | {"whose": whose_answer(model, x, y)}


def stories(updates: int) -> dict[str, list[list[float]]]:
    """Return four ways to charge for thinking, {name: prices}. After an early price there is time to recover."""
    half = updates // 2
    return {
        "always cheap": [[CHEAP, updates]],
        "charged late": [[CHEAP, half], [EXPENSIVE, updates - half]],
        "charged early": [[EXPENSIVE, half], [CHEAP, 3 * half]],
        "always expensive": [[EXPENSIVE, updates]],
    }


def _experiment(name: str, run: Callable[..., Any], settings: list[Row], seeds: int, **short: Any) -> Experiment:
    settings = [setting | {"seed": seed} for setting in settings for seed in range(seeds)]
    return Experiment(f"01_act_{name}_class", run, settings, [settings[0] | short])


HALF = RECIPE["updates"] // 2
EARLY: Row = {"prices": [[EXPENSIVE, HALF], [CHEAP, 3 * HALF]]}
CONTROLS: list[Row] = [
    *({"prices": prices} for prices in stories(2 * HALF).values()),
    {"prices": [[1e-3, 2 * HALF]]},  # whose answer
    EARLY | {"reset": True},
    EARLY | {"depth": 2},
    {"prices": [[EXPENSIVE, 0], [CHEAP, 1500]], "depth": 2},  # two steps from the start
    {"prices": [[3e-2, HALF], [CHEAP, 3 * HALF]]},  # early, and less
]
GRIDS: dict[str, Sequence[float]] = {
    "fixed_depth": DEPTHS,
    "ACT": TAUS,
    "charged_late": [3e-2, 1e-1],
    "charged_early": [3e-2, 1e-1],
}
EXPERIMENTS: dict[str, Experiment] = {}
for name, values in GRIDS.items():
    settings = [RECIPE | {"kind": name.replace("_", " "), "hyperparameter": value} for value in values]
    EXPERIMENTS[name] = _experiment(name, run, settings, 10, updates=20)
settings = [RECIPE | {"kind": "long start", "hyperparameter": 1e-3}]
EXPERIMENTS["long_start"] = _experiment("long_start", run, settings, 5, updates=20)
settings = [SIZES | control for control in CONTROLS]
EXPERIMENTS["controls"] = _experiment("controls", follow, settings, 5, prices=[[EXPENSIVE, 20], [CHEAP, 20]])
