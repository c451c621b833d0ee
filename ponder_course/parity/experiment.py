"""What is read from networks on parity: whether they have learnt it, and what their steps depend on."""

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ponder_course.common.parity import tested_k
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_utils.evaluation import evaluate
from ponder_utils.halting import expected_steps
from ponder_utils.pondernet import PonderNet
from ponder_utils.tasks import ParityTask

SIZES = {6: "small", 8: "large"}  # of stored networks, by the elements of their inputs
FORMS = ("log space", "log space, reversed", "textbook")  # of PonderNet's loss
LAMBDA_PS = (0.1, 0.3, 0.5, 0.7, 0.9)
N = 20  # most steps of each of the stored networks of the paper's size, of 64 and 96 elements
METHODS = {"PonderNet": 0.1, "ACT": 1e-4, "last step": 0.1, "every step": 0.1}  # theirs, with lambda_p or ACT's tau


@torch.no_grad()
def steps_by_ones(model: PonderNet, elements: int) -> Row:
    """Return what the expected steps depend on, over 20,000 inputs whose k is drawn uniformly.

    "by_ones": [elements + 1], the mean steps where so many elements are +1. "explained": the fraction of the variance
    of the steps that is between inputs of different "k", and that between inputs with different numbers of "ones".
    """
    x, _ = ParityTask(elements).batch(20_000, torch.Generator().manual_seed(14))
    steps = torch.cat([expected_steps(model(part).log_p) for part in x.split(2000)]).double()
    table = pd.DataFrame({"steps": steps, "k": x.abs().sum(1), "ones": (x == 1).sum(1)})
    variance = table["steps"].var(ddof=0)
    explained = {}
    for count in ("k", "ones"):
        group_mean = table.groupby(count)["steps"].transform("mean")
        explained[count] = group_mean.var(ddof=0) / variance if variance else 0.0
    by_ones = table.groupby("ones")["steps"].mean().reindex(range(elements + 1))
    return {"by_ones": by_ones.tolist(), "explained": explained}


@torch.no_grad()
def map_of_answers(model: PonderNet, x: Tensor, y: Tensor) -> tuple[list[int], list[list[int]]]:
    """Return the most probable steps of inputs, [batch], in their order, and 1 where an input is right, [batch, N]."""
    output = model(x)
    steps, order = (output.log_p.argmax(0) + 1).sort(stable=True)
    right = (output.y_hat > 0) == (y > 0.5)  # [N, batch]
    return steps.tolist(), right.T[order].int().tolist()


def has_learnt(row: Row, at_least: float = 0.99) -> bool:
    """Return whether a run ended, and has this accuracy on average over the k that it was trained on."""
    tested = zip(tested_k(row["elements"]), row["accuracy"], strict=True)
    return not row.get("stopped") and mean(accuracy for k, accuracy in tested if k <= row["k_max"]) >= at_least


def rise(row: Row, last: int | None = None, first: int = 1) -> float:
    """Return the steps at k = last (None: the largest there is) less those at k = first."""
    ks = tested_k(row["elements"])
    return row["steps"][-1 if last is None else ks.index(last)] - row["steps"][ks.index(first)]


def by_seed(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each setting and seed of lesson 03: with the mean accuracy and steps of its runs that learnt.

    A setting that was run again with the same seed need not give the same network, but is no further seed either. Where
    none of the runs has learnt, the first stands for all.
    """
    repeats: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        repeats.setdefault((row["elements"], row["loss"], row["lambda_p"], row["seed"]), []).append(row)
    averaged = []
    for same in repeats.values():
        learnt = [row for row in same if has_learnt(row)] or same[:1]
        means = {name: np.mean([row[name] for row in learnt], axis=0).tolist() for name in ("accuracy", "steps")}
        averaged.append(learnt[0] | means)
    return averaged


def outcomes(rows: Sequence[Row]) -> pd.DataFrame:
    """Return a table of the runs, ordered by its first three columns: size, loss, lambda_p.

    Then come outcome: "learnt", "not learnt" or "crashed"; steps: the mean over k; rise: nan unless learnt.
    """
    table = []
    for row in sorted(rows, key=lambda row: (row["elements"], FORMS.index(row["loss"]), row["lambda_p"])):
        outcome = "crashed" if row["stopped"] else "learnt" if has_learnt(row) else "not learnt"
        change = rise(row) if outcome == "learnt" else float("nan")
        table.append((SIZES[row["elements"]], row["loss"], row["lambda_p"], outcome, mean(row["steps"]), change))
    return pd.DataFrame(table, columns=["size", "loss", "lambda_p", "outcome", "steps", "rise"])


def on_the_way(model: PonderNet, tested_on: Mapping[str, tuple[Tensor, Tensor]]) -> Row:
    """Return "accuracy" and "steps" of "all" inputs, and p_n and right answers of the "easy" and the "hard" ones.

    tested_on: of each of the three, the inputs [batch, elements] and their targets [batch].
    """
    scores = {name: evaluate(model, x, y) for name, (x, y) in tested_on.items()}
    row: Row = {"accuracy": scores["all"].accuracy, "steps": scores["all"].steps}
    for name in ("easy", "hard"):
        row |= {name: scores[name].p, f"{name} right": scores[name].accuracy}
    return row


def accuracy_within(row: Row) -> float:
    """Return the accuracy over the k that a network was trained on."""
    return mean(row["accuracy"][: row["k_max"]])


def by_pace(rows: Sequence[Row]) -> list[Row]:
    """Return the runs ordered by their steps at k = 16, the fewest first."""
    return sorted(rows, key=lambda row: row["steps"][15])


def earliest_and_latest(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return {title: "by_ones"} of the ACT that halts earliest, and of the PonderNets that halt earliest and latest.

    The title has the accuracy over all k; "by_ones" has an entry for each of the first three k that were probed.
    """
    pace = {network: by_pace(matching(rows, network=network)) for network in ("ACT", "PonderNet")}
    chosen = [(f"{network}, the earliest", rows[0]) for network, rows in pace.items() if rows]
    chosen += [("PonderNet, the latest", row) for row in pace["PonderNet"][-1:]]
    return {f"{name}\n{accuracy_within(row):.0%} right over all $k$": row["by_ones"][:3] for name, row in chosen}
