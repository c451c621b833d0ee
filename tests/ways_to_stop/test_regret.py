"""How hyperparameters are chosen, and what networks lose that have chosen nothing."""

import pytest

from ponder_course.ways_to_stop import regret as ranking
from ponder_course.ways_to_stop.experiment import RULES, Method

VALUES = RULES["confidence"].values


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
    assert found[1:] == ("lines", 1.0, [VALUES[1], VALUES[0]], {"16 places": [[0.2, 2], [0.4, 4]]})
    assert found.utility == pytest.approx((1.0 - 0.09 + 1.0 - 0.05) / 2)
    assert ranking.best(rows, "a", "confidence", price=0.1).values == [VALUES[0]] * 2  # expensive steps
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
    assert found.values == [VALUES[-1]]  # the rule's, for each network on lines of its own


def test_a_regret_is_in_two_parts(monkeypatch):
    monkeypatch.setattr(ranking, "METHODS", {"mine": Method("nothing", "every step", "confidence")})
    rows = [row("every step", 0.0, seed, [[1.0, 1]] * 7, [[0.9, 5]] * 7) for seed in range(2)]
    found = ranking.regrets(rows, "16 places", price=0.01)["mine"]
    assert found == [(pytest.approx(0.02), pytest.approx(0.1))] * 2  # two steps later than the 3 in time
    in_time, late_and_wrong = ranking.utility([1.0, 3], 0.01), ranking.utility([0.9, 5], 0.01)
    assert sum(found[0]) == pytest.approx(in_time - late_and_wrong)


@pytest.fixture
def three_methods(monkeypatch):
    methods = {
        "sure": Method("nothing", "every step", "confidence"),
        "other": Method("nothing", "last step", "confidence"),
        "rare": Method("a price", "ACT", "confidence"),
    }
    monkeypatch.setattr(ranking, "METHODS", methods)


def run(training, hyperparameter, valid, tested, seed=0):
    """The points where the rule's first value is right on so many, and all others on none, after 3 steps."""
    points = ([[right, 3.0]] + [[0.0, 3.0]] * (len(VALUES) - 1) for right in (valid, tested, tested / 5))
    made = row(training, hyperparameter, seed, *[[]] * 2)
    for test, found in zip(("valid", "16 places", "64 places"), points, strict=True):
        made["tests"][test] = {"rules": {"confidence": found}, "in time": [1.0, 3.0]}
    return made


def test_one_setting_for_all_problems_is_the_one_whose_worst_problem_is_best(three_methods):
    lines = [run("every step", 0.0, 1.0, 0.9), run("last step", 0.5, 0.9, 0.8), run("last step", 1.0, 0.9, 0.6)]
    lines += [run("last step", 1.0, 0.7, 0.4, seed=1), run("ACT", 1.0, 1.0, 1.0)]
    one = [run("every step", 0.0, 0.5, 1.0), run("last step", 0.5, 0.7, 0.3), run("last step", 1.0, 0.9, 0.2)]
    problems = {"lines": lines, "one answer": one}
    ways = [method[1:] for method in ranking.METHODS.values()]
    best = ranking.one_for_all(problems, ways)
    # its worst is .8, that of others .7 and .5; ACT has runs of one problem only
    assert best == ranking.Setting("last step", "confidence", 1.0, VALUES[0])
    assert ranking.mean_regrets(problems, best, "16 places", ranking.PRICE) == pytest.approx([0.5, 0.8])
    assert ranking.mean_regrets(problems, best, "valid", ranking.PRICE) == pytest.approx([0.2, 0.1])
    assert ranking.one_for_all(problems, ways[:1]) == ranking.Setting("every step", "confidence", 0.0, VALUES[0])
    assert ranking.one_for_all(problems, ways[2:]) is None


def test_three_questions_are_answered_by_networks_that_have_chosen_nothing(three_methods):
    fresh = ranking.REPORTING[0]
    lines = [run("every step", 0.0, 1.0, 0.0), run("every step", 0.0, 0.0, 0.95, fresh)]
    lines += [run("last step", 0.5, 0.9, 0.0), run("last step", 0.5, 0.0, 0.85, fresh)]
    one = [run("every step", 0.0, 0.6, 0.0), run("every step", 0.0, 0.0, 0.65, fresh)]
    one += [run("last step", 0.5, 0.8, 0.0), run("last step", 0.5, 0.0, 0.75, fresh)]
    problems = {"lines": lines, "one answer": one}
    found = ranking.three_questions(problems, ["sure", "other", "rare"])
    assert found.rule_for_each == pytest.approx([0.05, 0.25])
    assert found.setting == ranking.Setting("last step", "confidence", 0.5, VALUES[0])
    assert found.one_setting == pytest.approx([0.15, 0.25])
    assert found.four_times_as_long == pytest.approx([0.83, 0.85])
