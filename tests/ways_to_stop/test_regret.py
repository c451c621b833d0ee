"""How hyperparameters are chosen, and what networks lose that have chosen nothing."""

import pytest

from ponder_course.ways_to_stop import regret as ranking
from ponder_course.ways_to_stop.regret import Method


def row(training, value, seed, valid, tested, rule="confidence", problem="lines"):
    tests = {"valid": {"rules": {rule: valid}}, "16 places": {"rules": {rule: tested}, "in time": [0.5, 3.0]}}
    return {"problem": problem, "training": training, "hyperparameter": value, "seed": seed, "tests": tests}


def test_hyperparameters_are_chosen_on_other_lines_the_rules_for_each_network_the_trainings_for_all():
    rows = [
        row("a", 1.0, 0, [[0.9, 5], [1.0, 9], [1.0, 12]], [[0.1, 1], [0.2, 2], [0.3, 3]]),
        row("a", 1.0, 1, [[1.0, 5], [1.0, 9], [0.2, 1]], [[0.4, 4], [0.5, 5], [0.6, 6]]),
        row("a", 2.0, 0, [[1.0, 20], [0, 1], [0, 1]], [[1.0, 7], [1.0, 8], [1.0, 9]]),  # worse on valid
        row("every step", 1.0, 0, [[1.0, 1]] * 3, [[0.9, 1]] * 3),
    ]
    found = ranking.best(rows, "a", "confidence", price=0.01)
    assert found[1:] == ("lines", 1.0, [1, 0], {"16 places": [[0.2, 2], [0.4, 4]]})
    assert found.utility == pytest.approx((1.0 - 0.09 + 1.0 - 0.05) / 2)
    assert ranking.best(rows, "a", "confidence", price=0.1).which == [0, 0]  # expensive steps
    assert ranking.best(rows, "a", "entropy") is None
    assert ranking.utility([0.9, 5], 0.01) == pytest.approx(0.85)
    assert ranking.regret([0.9, 5], 3, 0.01) == (pytest.approx(0.02), pytest.approx(0.1))


def test_networks_that_choose_do_not_report():
    fresh = ranking.REPORTING[0]
    rows = [
        row("a", 1.0, 0, [[0.9, 5]] * 7, [[0.1, 1]] * 7),
        row("a", 1.0, fresh, [[0.2, 5]] * 6 + [[0.3, 5]], [[0.2, 2]] * 7),
        row("a", 2.0, 0, [[0.8, 5]] * 7, [[0.3, 3]] * 7),
        row("a", 2.0, fresh, [[1.0, 5]] * 7, [[0.4, 4]] * 7),  # would choose 2.0, and may not
        row("a", 3.0, fresh, [[1.0, 5]] * 7, [[0.5, 5]] * 7),
    ]
    found = ranking.best(rows, "a", "confidence")
    assert (found.hyperparameter, found.tests) == (1.0, {"16 places": [[0.2, 2]]})
    assert found.which == [6]  # the rule's, for each network on lines of its own


def test_a_regret_is_in_two_parts(monkeypatch):
    monkeypatch.setattr(ranking, "METHODS", {"mine": Method("nothing", "every step", "confidence")})
    rows = [row("every step", 0.0, seed, [[1.0, 1]] * 7, [[0.9, 5]] * 7) for seed in range(2)]
    found = ranking.regrets(rows, "16 places", price=0.01)["mine"]
    assert found == [(pytest.approx(0.02), pytest.approx(0.1))] * 2  # two steps later than the 3 in time
    in_time, late_and_wrong = ranking.utility([1.0, 3], 0.01), ranking.utility([0.9, 5], 0.01)
    assert sum(found[0]) == pytest.approx(in_time - late_and_wrong)
