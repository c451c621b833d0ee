"""Lesson 01: networks that pay for thinking, ACT beside fixed depths on parity, and a price that comes too early."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from statistics import mean

import torch
from pandas import DataFrame
from torch import Tensor, nn

from ponder_course.common.store import Row
from ponder_utils.act import ACT
from ponder_utils.cells import encode_input
from ponder_utils.evaluation import binary_correct
from ponder_utils.states import hidden_state

Prices = Sequence[Sequence[float]]  # [time penalty tau, number of updates] of each phase of a training

LEARNT = 0.95  # accuracy from which on a network counts as one that has learnt the task


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


def changed(row: Row) -> str:
    """Return what `follow` changed in a network when its first phase ended."""
    if row.get("reset"):
        return "a new halting unit"
    return f"{row['depth']} steps for everyone" if row.get("depth") else "nothing changed"


def expensive(prices: Prices) -> list[tuple[float, float]]:
    """Return from which update to which the price is the highest."""
    taus = [tau for tau, _ in prices]
    ends = [0.0, *accumulate(updates for _, updates in prices)]
    phases = zip(prices, pairwise(ends), strict=True)
    return [(start, end) for (tau, _), (start, end) in phases if tau == max(taus) and end > start]


def learnt_at(row: Row, at_least: float = LEARNT) -> int | None:
    """Return the update from which on a row of `follow` stays at least so accurate, or None."""
    below = [i for i, accuracy in enumerate(row["accuracy"]) if accuracy < at_least]
    first = below[-1] + 1 if below else 0
    return row["update"][first] if first < len(row["update"]) else None


def table(rows: Sequence[Row]) -> DataFrame:
    """Return a row for each stored network: kind, setting, accuracy, steps (means over k), learnt."""
    lines = []
    for row in rows:
        accuracy, steps = mean(row["accuracy"]), mean(row["steps"])
        lines.append((row["kind"], row["hyperparameter"], accuracy, steps, accuracy >= LEARNT))
    return DataFrame(lines, columns=["kind", "setting", "accuracy", "steps", "learnt"])
