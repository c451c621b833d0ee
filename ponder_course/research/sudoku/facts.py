"""What the texts say of stored sudokus, computed from `results/10_*`."""

import statistics

from ponder_course.research.stored_facts import from_to, results

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
        f"{prefix}_rounds": f"{max(int(need) for test in tests for need in test['by_need'])}",
        f"{prefix}_unknown": f"{total(tests, 'unknown'):,}",
        f"{prefix}_given_up": f"{total(tests, 'given up')}",
    }


def by_halting() -> dict[str, str]:
    """Of the ten networks, by their heads and by certainty, in which of them what cannot be known waits."""
    rows = results("10_sudoku_main")
    found = {"networks": f"{len(rows)}"}
    for name in TESTS:
        side = name.split()[0]
        found |= counted([row[name] for row in rows], f"of_{side}")
        found |= counted([row[f"{name}, certainty"] for row in rows], f"sure_{side}")
    exact = [all(row[name]["exactly"] == row[name]["cells"] for name in TESTS) for row in rows]
    by_certainty = [[row[f"{name}, certainty"] for name in TESTS] for row in rows]
    same = [all(test["exactly"] == test["cells"] for test in tests) for tests in by_certainty]
    late = [steps - int(need) for row in rows for need, (_, steps) in row["9 x 9"]["by_need"].items()]
    on = [row["9 x 9, thinking on"]["by_step"][-1] for row in rows]
    return found | {
        "exact": f"{sum(exact)} of {len(rows)}",
        "late": f"{max(late):.0f}",
        "certainty_same": f"{sum(same)} of {len(rows)}",
        "thinking_on": from_to(on, ".2%"),
    }


def uncharged() -> dict[str, str]:
    """Of networks of the same seeds that are not charged for halting too early, on boards of 9 x 9."""
    tests = [row["9 x 9"] for row in results("10_sudoku_uncharged")]
    shares = [test["given up"] / test["unknown"] for test in tests]
    exact = [test["exactly"] == test["cells"] for test in tests]
    return counted(tests, "uncharged") | {
        "uncharged_networks": f"{len(tests)}",
        "uncharged_waiting": f"{sum(share == 0 for share in shares)} of {len(tests)}",
        "uncharged_exact": f"{sum(exact)} of {len(tests)}",
    }


def seen() -> dict[str, str]:
    """Of networks that were seen while the recipe was chosen, on boards of 9 x 9."""
    found = {}
    for prefix, charge in (("seen", 0.0), ("seen_charged", 1.0)):
        tests = [row["9 x 9"] for row in results("10_sudoku_seen", charge=charge)]
        found[f"{prefix}_networks"] = f"{len(tests)}"
        found[f"{prefix}_halting"] = f"{sum(test['given up'] > 0 for test in tests)}"
        found[f"{prefix}_exact"] = f"{sum(test['exactly'] == test['cells'] for test in tests)}"
        found[f"{prefix}_wrong"] = f"{sum(test['wrong'] > 0 for test in tests)}"
    return found


def covers() -> dict[str, str]:
    """Of the ten networks, on other exact covers."""
    rows, found = results("10_sudoku_main"), {}
    names = {"latin": "Latin squares of 9 x 9", "queens": "12 queens", "pentominoes": "pentominoes"}
    for prefix, name in names.items():
        tests = [row[name] for row in rows]
        found[f"{prefix}_questions"] = f"{total(tests, 'questions'):,}"
        found[f"{prefix}_wrong"] = f"{total(tests, 'wrong')}"
        found[f"{prefix}_early"] = f"{total(tests, 'too early')}"
    exact = [all(row[name]["exactly"] == row[name]["questions"] for name in names.values()) for row in rows]
    return found | {"covers_exact": f"{sum(exact)} of {len(rows)}"}


def learning() -> dict[str, str]:
    """Of networks that were hardly trained, on boards of 9 x 9."""
    found = {}
    for updates in (1, 10, 200):
        tests = [row["9 x 9"] for row in results("10_sudoku_learning", updates=updates)]
        found[f"after_{updates}"] = from_to([1 - test["wrong"] / test["cells"] for test in tests], ".0%")
        found[f"after_{updates}_last"] = from_to([test["by_step"][-1] for test in tests], ".0%")
        found[f"after_{updates}_exactly"] = from_to([test["exactly"] / test["cells"] for test in tests], ".0%")
    return found


def search() -> dict[str, str]:
    """What the search for hard sudokus costs, of all networks."""
    found = {}
    runs = results("10_sudoku_search")
    for kind in runs[0]:
        hard = [cost for run in runs for name, cost in run[kind].items() if name.startswith("hard")]
        key = kind.replace(" ", "_")
        found[f"solved_{key}"] = f"{sum(cost['solved'] for cost in hard)} of {len(hard)}"
        found[f"guesses_{key}"] = f"{statistics.median(cost['guesses'] for cost in hard):g}"
        found[f"steps_{key}"] = f"{statistics.median(cost['steps'] for cost in hard):g}"
    hardest, by_rule = ([run[kind]["Inkala 2012"] for run in runs] for kind in ("the halt", "the rule"))
    return found | {
        "search_networks": f"{len(runs)}",
        "inkala": from_to([cost["guesses"] for cost in hardest], "d"),
        "inkala_rule": from_to([cost["guesses"] for cost in by_rule], "d"),
        "inkala_solved": f"{sum(cost['solved'] for cost in hardest)} of {len(hardest)}",
    }


def facts() -> dict[str, str]:
    """All of them, by name."""
    return by_halting() | uncharged() | seen() | covers() | learning() | search()
