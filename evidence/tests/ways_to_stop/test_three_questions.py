"""One setting for all problems."""

import pytest
from test_ways_to_stop import row

from ponder_course.ways_to_stop.regret import PRICE, Method
from ponder_evidence.ways_to_stop import one_setting
from ponder_evidence.ways_to_stop.measuring import RULES

VALUES = RULES["confidence"].values


@pytest.fixture
def three_methods(monkeypatch):
    methods = {
        "sure": Method("nothing", "every step", "confidence"),
        "other": Method("nothing", "last step", "confidence"),
        "rare": Method("a price", "ACT", "confidence"),
    }
    monkeypatch.setattr(one_setting, "METHODS", methods)


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
    ways = [method[1:] for method in one_setting.METHODS.values()]
    best = one_setting.one_for_all(problems, ways)
    # its worst is .8, that of others .7 and .5; ACT has runs of one problem only
    assert best == one_setting.Setting("last step", "confidence", 1.0, VALUES[0])
    assert one_setting.mean_regrets(problems, best, "16 places", PRICE) == pytest.approx([0.5, 0.8])
    assert one_setting.mean_regrets(problems, best, "valid", PRICE) == pytest.approx([0.2, 0.1])
    assert one_setting.one_for_all(problems, ways[:1]) == one_setting.Setting(
        "every step", "confidence", 0.0, VALUES[0]
    )
    assert one_setting.one_for_all(problems, ways[2:]) is None
