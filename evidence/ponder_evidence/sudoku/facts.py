"""What the texts say of stored sudokus, computed from `results/10_*`."""

import statistics

from ponder_evidence.stored_facts import from_to, results

TESTS = ("4 x 4", "9 x 9", "16 x 16")
SEARCHES = {
    "the halt": ("guesses", "steps"),
    "the rule": ("guesses", "steps"),
    "guesses alone": ("guesses",),
    "8 steps": ("guesses", "steps"),
    "32 steps": ("guesses", "steps"),
}


def total(tests: list[dict], name: str) -> int:
    """The sum of a count over networks."""
    return sum(test[name] for test in tests)


def exactly(test: dict) -> bool:
    """Whether all cells that can be known halt in their very round."""
    return test["exactly"] == test["cells"]


def by_halting() -> dict[str, str]:
    """Of the ten networks: what happens in cells that can be known, and in others."""
    rows = results("10_sudoku_main")
    found = {"networks": f"{len(rows)}"}
    for side in (9, 16):
        tests = [row[f"{side} x {side}"] for row in rows]
        found[f"of_{side}_cells"] = f"{total(tests, 'cells'):,}"
        found[f"of_{side}_wrong"] = f"{total(tests, 'wrong')}"
        found[f"of_{side}_early"] = f"{total(tests, 'too early')}"
        found[f"of_{side}_rounds"] = f"{max(int(need) for test in tests for need in test['by_need'])}"
    of_9 = [row["9 x 9"] for row in rows]
    exact = [all(exactly(row[name]) for name in TESTS) for row in rows]
    same = [all(exactly(row[f"{name}, certainty"]) for name in TESTS) for row in rows]
    late = [steps - int(need) for test in of_9 for need, (_, steps) in test["by_need"].items()]
    return found | {
        "of_9_unknown": f"{total(of_9, 'unknown'):,}",
        "of_9_given_up": f"{total(of_9, 'given up')}",
        "exact": f"{sum(exact)} of {len(rows)}",
        "late": f"{max(late):.0f}",
        "certainty_same": f"{sum(same)} of {len(rows)}",
    }


def uncharged() -> dict[str, str]:
    """Of networks that are not charged, on boards of 9 x 9: ten of the same seeds, and those that were seen before."""
    tests = [row["9 x 9"] for row in results("10_sudoku_uncharged")]
    seen, seen_charged = ([row["9 x 9"] for row in results("10_sudoku_seen", charge=charge)] for charge in (0.0, 1.0))
    return {
        "uncharged_waiting": f"{sum(test['given up'] == 0 for test in tests)} of {len(tests)}",
        "uncharged_exact": f"{sum(map(exactly, tests))} of {len(tests)}",
        "seen_networks": f"{len(seen)}",
        "seen_halting": f"{sum(test['given up'] > 0 for test in seen)}",
        "seen_charged_exact": f"{sum(map(exactly, seen_charged))} of {len(seen_charged)}",
        "seen_wrong": f"{sum(test['wrong'] > 0 for test in seen)}",
    }


def covers() -> dict[str, str]:
    """Of the ten networks, on other exact covers."""
    rows, found = results("10_sudoku_main"), {}
    names = {"latin": "Latin squares of 9 x 9", "queens": "12 queens", "pentominoes": "pentominoes"}
    for prefix, name in names.items():
        tests = [row[name] for row in rows]
        found[f"{prefix}_questions"] = f"{total(tests, 'questions'):,}"
        found[f"{prefix}_wrong"] = f"{total(tests, 'wrong')}"
    exact = [all(row[name]["exactly"] == row[name]["questions"] for name in names.values()) for row in rows]
    return found | {"covers_exact": f"{sum(exact)} of {len(rows)}"}


def learning() -> dict[str, str]:
    """Of networks that were hardly trained, on boards of 9 x 9."""
    after = {n: [row["9 x 9"] for row in results("10_sudoku_learning", updates=n)] for n in (1, 10, 200)}
    return {
        "after_1_last": from_to([test["by_step"][-1] for test in after[1]], ".0%"),
        "after_10_last": from_to([test["by_step"][-1] for test in after[10]], ".0%"),
        "after_10_exactly": from_to([test["exactly"] / test["cells"] for test in after[10]], ".0%"),
        "after_200_exact": f"{sum(map(exactly, after[200]))} of {len(after[200])}",
    }


def search() -> dict[str, str]:
    """What the search for hard sudokus costs, of all networks."""
    runs = results("10_sudoku_search")

    def costs(kind: str, what: str) -> list[float]:
        return [cost[what] for run in runs for name, cost in run[kind].items() if name.startswith("hard")]

    found = {}
    for kind, names in SEARCHES.items():
        for what in names:
            found[f"{what}_{kind.replace(' ', '_')}"] = f"{statistics.median(costs(kind, what)):g}"
    solved = costs("the halt", "solved")
    hardest = {kind: [run[kind]["Inkala 2012"]["guesses"] for run in runs] for kind in ("the halt", "the rule")}
    return found | {
        "search_networks": f"{len(runs)}",
        "solved_the_halt": f"{sum(solved)} of {len(solved)}",
        "inkala": from_to(hardest["the halt"], "d"),
        "inkala_rule": from_to(hardest["the rule"], "d"),
    }


def facts() -> dict[str, str]:
    """All of them, by name."""
    return by_halting() | uncharged() | covers() | learning() | search()
