"""What the texts say of stored sudokus, computed from `results/10_*`."""

import statistics

from ponder_course.research.stored_facts import from_to, results, stored

TESTS = ("4 x 4", "9 x 9", "16 x 16")


def total(tests: list[dict], name: str) -> int:
    """The sum of a count over networks."""
    return sum(test[name] for test in tests)


def counted(tests: list[dict], prefix: str) -> dict[str, str]:
    """What happens in cells that can be known, and in others, of some networks on one size of boards."""
    cells = total(tests, "cells")
    return {
        f"{prefix}_cells": f"{cells:,}",
        f"{prefix}_wrong": f"{total(tests, 'wrong')}",
        f"{prefix}_early": f"{total(tests, 'too early')}",
        f"{prefix}_exactly": f"{total(tests, 'exactly') / cells:.2%}",
        f"{prefix}_rounds": f"{max(int(need) for test in tests for need in test['by_need'])}",
        f"{prefix}_unknown": f"{total(tests, 'unknown'):,}",
        f"{prefix}_given_up": f"{total(tests, 'given up')}",
    }


def main_facts() -> dict[str, str]:
    """Of the ten networks, by their heads and by certainty."""
    rows, found = results("10_sudoku_main"), {}
    found["networks"] = f"{len(rows)}"
    for name in TESTS:
        side = name.split()[0]
        found |= counted([row[name] for row in rows], f"of_{side}")
        found |= counted([row[f"{name}, certainty"] for row in rows], f"sure_{side}")
    on = [row["9 x 9, thinking on"]["by_step"] for row in rows]
    found["thinking_on"] = from_to([by_step[-1] for by_step in on], ".2%")
    waiting = [row["9 x 9"]["given up"] for row in rows]
    found["waiting"] = f"{sum(n == 0 for n in waiting)} of {len(waiting)}"
    return found


def recipes() -> dict[str, str]:
    """Of networks that were hardly trained, and of other recipes, on boards of 9 x 9."""
    found = {}
    for updates in (1, 10, 200):
        tests = [row["9 x 9"] for row in results("10_sudoku_recipes", updates=updates)]
        found[f"after_{updates}"] = from_to([1 - test["wrong"] / test["cells"] for test in tests], ".0%")
        found[f"after_{updates}_last"] = from_to([test["by_step"][-1] for test in tests], ".0%")
        found[f"after_{updates}_exactly"] = from_to([test["exactly"] / test["cells"] for test in tests], ".0%")
    return found


def prices() -> dict[str, str]:
    """How many cells that cannot be known are given up, by the weight of the prior and the charge."""
    found = {}
    for beta in (0.1, 0.3):
        for charge in (0.0, 1.0):
            tests = [row["9 x 9"] for row in results("10_sudoku_prices", beta=beta, charge=charge)]
            name = f"beta_{beta}{'_charged' if charge else ''}"
            found[name] = from_to([test["given up"] / test["unknown"] for test in tests], ".0%")
    return found


def wirings() -> dict[str, str]:
    """How right other wirings are on boards of 9 x 9."""
    found = {}
    for wiring in ("sum", "mean", "weights apart"):
        tests = [row["9 x 9"] for row in results("10_sudoku_wiring", wiring=wiring)]
        right = [1 - test["wrong"] / test["cells"] for test in tests]
        found[f"wiring_{wiring.replace(' ', '_')}"] = from_to(right, ".0%")
    return found


def search() -> dict[str, str]:
    """What the search for hard sudokus costs, of all networks."""
    found = {}
    runs = [result for _, result in stored("10_sudoku_search")]
    for kind in runs[0]:
        hard = [cost for run in runs for name, cost in run[kind].items() if name.startswith("hard")]
        key = kind.replace(" ", "_")
        found[f"solved_{key}"] = f"{sum(cost['solved'] for cost in hard)} of {len(hard)}"
        found[f"guesses_{key}"] = f"{statistics.median(cost['guesses'] for cost in hard):g}"
        found[f"steps_{key}"] = f"{statistics.median(cost['steps'] for cost in hard):g}"
    return found


def facts() -> dict[str, str]:
    """All of them, by name."""
    return main_facts() | recipes() | prices() | wirings() | search()
