"""What is read from networks on parity: whether they have learnt it, and what their steps depend on."""

from collections.abc import Mapping, Sequence
from statistics import mean

from torch import Tensor

from ponder_course.common.parity import tested_k
from ponder_course.common.runs import matching
from ponder_course.common.store import Row
from ponder_utils.evaluation import evaluate
from ponder_utils.pondernet import PonderNet

N = 20  # most steps of each of the stored networks of the paper's size, of 64 and 96 elements
METHODS = {"PonderNet": 0.1, "ACT": 1e-4, "last step": 0.1, "every step": 0.1}  # theirs, with lambda_p or ACT's tau


def has_learnt(row: Row, at_least: float = 0.99) -> bool:
    """Return whether a run ended, and has this accuracy on average over the k that it was trained on."""
    tested = zip(tested_k(row["elements"]), row["accuracy"], strict=True)
    return not row.get("stopped") and mean(accuracy for k, accuracy in tested if k <= row["k_max"]) >= at_least


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
