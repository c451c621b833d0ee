"""Lesson 01: networks that pay for thinking, ACT beside fixed depths on parity, and a price that comes too early."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from statistics import mean
from typing import Any

import torch
from pandas import DataFrame
from torch import Tensor, nn

from ponder_course.common.parity import act, cross_entropy, fix_depth, inputs_by_k, measure, one_time_step, right
from ponder_course.common.runs import Load, rounded, run_all, same_but_seed
from ponder_course.common.store import Row
from ponder_utils.act import ACT, ACTOutput
from ponder_utils.cells import RNNCell, encode_input
from ponder_utils.evaluation import binary_correct
from ponder_utils.losses import ACTLoss
from ponder_utils.states import hidden_state
from ponder_utils.steps import set_halting_bias
from ponder_utils.tasks import ParityTask
from ponder_utils.training import cool_down, train

Prices = Sequence[Sequence[float]]  # [time penalty tau, number of updates] of each phase of a training

# Sizes and training that all networks share. N is the cap on steps, which the lesson calls M.
SIZES: Row = {"elements": 8, "hidden": 128, "N": 20, "lr": 7e-3, "clip": 0.1}
RECIPE: Row = SIZES | {"updates": 2000}
BUDGETS: dict[str, Row] = {
    "smoke": {"elements": 4, "hidden": 32, "updates": 60},
    "class": {},
    "paper": {"elements": 64, "lr": 3e-4, "clip": 1.0, "updates": 200_000},
}
DEPTHS = [1, 2, 4, 10]
TAUS = [1e-4, 1e-3, 1e-2, 2e-2, 3e-2, 1e-1]
CHEAP, EXPENSIVE = TAUS[0], TAUS[-1]
BATCH = 128
LEARNT = 0.95  # accuracy from which on a network counts as one that has learnt the task


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


@torch.no_grad()
def whose_answer(model: ACT, x: Tensor, y: Tensor) -> Row:
    """Return whose answer ACT gives: how often the average is right, and states alone. x: [batch, inputs], y: [batch].

    average, last: right answers of the weighted average, and of each input's last state alone; remainder: its mean
    weight; by_n: for n = 1, 2, ... the fraction of inputs that halt there, how many of these state n alone gets right,
    their mean remainder, and how many it gets right of those that go on (None where there are none).
    """
    output = model(x[None])
    N, R, by_n = output.steps[0], output.remainder[0], []
    state, last = None, torch.zeros(len(x), dtype=torch.bool, device=x.device)
    for n in range(1, int(N.max()) + 1):
        flagged = nn.functional.pad(x, (0, 1), value=float(n == 1))
        state = model.cell(encode_input(model.cell, flagged), state)
        correct = binary_correct(model.output(hidden_state(state))[:, 0], y)
        halts, goes_on = n == N, n < N
        last = torch.where(halts, correct, last)
        row = {"n": n, "halt": _mean(halts), "right": _mean(correct[halts]), "remainder": _mean(R[halts])}
        by_n.append(row | {"right, going on": _mean(correct[goes_on])})
    average = binary_correct(output.y_hat[0], y)
    return {"average": _mean(average), "last": _mean(last), "remainder": _mean(R), "by_n": by_n}


def _mean(values: Tensor) -> float | None:
    return round(values.float().mean().item(), 5) if len(values) else None


def stories(updates: int) -> dict[str, list[list[float]]]:
    """Return four ways to charge for thinking, {name: prices}. After an early price there is time to recover."""
    half = updates // 2
    return {
        "always cheap": [[CHEAP, updates]],
        "charged late": [[CHEAP, half], [EXPENSIVE, updates - half]],
        "charged early": [[EXPENSIVE, half], [CHEAP, 3 * half]],
        "always expensive": [[EXPENSIVE, updates]],
    }


def changed(row: Row) -> str:
    """Return what `follow` changed in a network when its first phase ended."""
    if row.get("reset"):
        return "a new halting unit"
    return f"{row['depth']} steps for everyone" if row.get("depth") else "nothing changed"


def expensive(prices: Prices) -> list[tuple[float, float]]:
    """Return from which update to which the price is the highest."""
    ends = [0.0, *accumulate(updates for _, updates in prices)]
    phases = zip(prices, pairwise(ends), strict=True)
    return [(start, end) for (tau, _), (start, end) in phases if tau == EXPENSIVE and end > start]


def learnt_at(row: Row, at_least: float = LEARNT) -> int | None:
    """Return the update from which on a row of `follow` stays at least so accurate, or None."""
    below = [i for i, accuracy in enumerate(row["accuracy"]) if accuracy < at_least]
    first = below[-1] + 1 if below else 0
    return row["update"][first] if first < len(row["update"]) else None


def table(live: Sequence[Row], stored: Sequence[Row]) -> DataFrame:
    """Return a row for each result of `run`: kind, setting, accuracy, steps (means over k), learnt, live."""
    lines = []
    for number, row in enumerate([*live, *stored]):
        accuracy, steps = mean(row["accuracy"]), mean(row["steps"])
        lines.append((row["kind"], row["hyperparameter"], accuracy, steps, accuracy >= LEARNT, number < len(live)))
    return DataFrame(lines, columns=["kind", "setting", "accuracy", "steps", "learnt", "live"])


def train_beside_stored(
    base: Row, seeds: int, load: Load, kind: str, values: Sequence[float], *, device: str, workers: int
) -> DataFrame:
    """Return the `table` of networks trained now, one for each value and seed, and of the stored ones like them.

    With no seeds, it is that of the stored ones alone.
    """
    grid = [{"kind": kind, "hyperparameter": value, "seed": 100 + k} for value in values for k in range(max(seeds, 1))]
    settings = [base | setting for setting in grid]
    made = run_all(partial(run, device=device), settings, workers=workers, name=kind) if seeds else []
    return table(made, same_but_seed(load(kind.replace(" ", "_")), settings))
