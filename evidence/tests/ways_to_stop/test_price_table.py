"""What prices and bonuses lose, against a few runs worked by hand."""

from itertools import product

import pytest

from ponder_course.ways_to_stop.experiment import RULES
from ponder_course.ways_to_stop.regret import Setting
from ponder_evidence.ways_to_stop.price_table import (
    LINES,
    by_own_level,
    late_by_coin,
    on_elements,
    one_setting,
    with_setting,
)

LEVELS = RULES["threshold"].values


def run_of(problem, hyperparameter, seed, points, training="a price"):
    """A run whose rules give the same points [right, steps] on "valid" and in the test; others never halt in time."""
    rules = {
        rule: [[0.0, 20.0]] * len(RULES[rule].values) for rule in ("sample", "expectation", "most probable", "quantile")
    }
    rules["threshold"] = points
    test = {"rules": rules, "in time": [1.0, 7.0]}
    names = ("valid", "8 elements") if problem == "8 elements" else ("valid", "16 places")
    setting = {"problem": problem, "training": training, "hyperparameter": hyperparameter, "seed": seed}
    return setting | {"tests": dict.fromkeys(names, test)}


def points(best, right, steps, other=(0.5, 20.0)):
    """The points of each level, of which one is as given."""
    return [[right, steps] if which == best else [*other] for which in range(len(LEVELS))]


def test_regret_is_what_a_network_loses_to_who_stops_in_time_at_its_own_level():
    rows = [run_of("lines", 0.01, 0, points(2, 0.99, 9.0)), run_of("lines", 0.01, 1, points(4, 1.0, 7.0))]
    assert by_own_level(rows, "lines", "a price", 0.01) == pytest.approx(
        [1 + 1, 0]
    )  # an answer in 100; two steps of 0.005
    assert by_own_level(rows, "lines", "a price", 0.02) == []
    rows = [run_of("8 elements", 0.01, 0, points(3, 0.97, 2.5))]
    assert on_elements(rows, "a price", 0.01) == [(0.97, 2.5)]


def test_late_by_coin_are_the_steps_after_the_need():
    rows = [run_of("lines", 0.01, seed, points(0, 1.0, 7.0)) for seed in (0, 1)]
    rows[1]["tests"]["16 places"]["rules"]["sample"] = [[0.9, 6.5]]
    rows += [run_of("no answer", 0.01, 0, points(0, 1.0, 7.0)), run_of("lines", 0.02, 0, points(0, 1.0, 7.0))]
    assert late_by_coin(rows, "a price", 0.01) == [13.0, -0.5]


def test_one_setting_is_that_whose_worst_kind_of_lines_is_the_best():
    # 0.01 is best in the mean, but bad on one kind; 0.02 is never bad, at level 3 of each.
    right = {0.01: (1.0, 1.0, 0.9), 0.02: (0.98, 0.98, 0.97)}
    rows = [
        run_of(kind, price, seed, points(3, right[price][i], 7.0))
        for (i, kind), price, seed in product(enumerate(LINES), right, (0, 1))
    ]
    setting = one_setting(rows, "a price")
    assert setting == Setting("a price", "threshold", 0.02, LEVELS[3])
    found = with_setting(rows, setting)
    assert {kind: [round(loss, 6) for loss in losses] for kind, losses in found.items()} == {
        "lines": [2, 2],
        "no answer": [2, 2],
        "one answer": [3, 3],
    }
    rows = [row for row in rows if (row["problem"], row["hyperparameter"]) != ("no answer", 0.02)]
    assert one_setting(rows, "a price").hyperparameter == 0.01  # only settings with runs of every kind
    assert one_setting([], "a price") is None
