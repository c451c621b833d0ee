"""What is read from stored networks of the paper's size, 64 and 96 elements, which the evidence of lesson 03 trains."""

from collections.abc import Sequence
from statistics import mean

from ponder_course.common.runs import matching
from ponder_course.common.store import Row

N = 20  # most steps of each
METHODS = {"PonderNet": 0.1, "ACT": 1e-4, "last step": 0.1, "every step": 0.1}  # with lambda_p, or ACT's tau


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
