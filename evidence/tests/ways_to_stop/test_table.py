"""The trainings of lesson 06's table: what is trained, which runs are stored, and a rule of one's own."""

from unittest import mock

import pytest
import torch
from stored_runs import RESULTS

from ponder_course.ways_to_stop import regret as ranking
from ponder_course.ways_to_stop.problems import Inputs
from ponder_course.ways_to_stop.regret import METHODS
from ponder_evidence.ways_to_stop import experiment as table
from ponder_evidence.ways_to_stop.measuring import RULES
from ponder_evidence.ways_to_stop.problems import PROBLEMS

TINY = {"size": 5, "N": 6, "batch": 4, "updates": 2, "lr": 5e-3, "clip": 1.0}
SHORT = {"valid": Inputs(5, 6, 8), "5 places": Inputs(5, 6, 9), "9 places": Inputs(9, 10, 7)}


@pytest.mark.parametrize("name", table.EXPERIMENTS)
def test_of_each_setting_all_seeds_are_stored_with_all_tests_and_rules(name):
    seeds = {}  # all or none: nobody chooses among them
    for row in table.EXPERIMENTS[name].rows("stored", RESULTS):
        seeds.setdefault((row["problem"], row["training"], row["hyperparameter"]), set()).add(row["seed"])
        problem = PROBLEMS[row["problem"]]
        assert row["tests"].keys() == problem.tests.keys() | (problem.further_tests.keys() if name == "report" else ())
        for test in row["tests"].values():
            lengths = {rule: len(points) for rule, points in test["rules"].items()}
            rules_of_training = table.TRAININGS[row["training"]].rules
            assert lengths == {rule: len(RULES[rule].values) for rule in rules_of_training}
    wanted = {*(ranking.REPORTING if name == "report" else ranking.CHOOSING)}
    assert seeds
    assert all(found == wanted for found in seeds.values())


@pytest.fixture
def tables():
    """The tables may be added to."""
    with mock.patch.dict(RULES), mock.patch.dict(METHODS), mock.patch.dict(table.TRAININGS):
        yield


def twice_sure(output, q):
    sure = (output.y_hat.abs().sigmoid() >= q).all(-1)
    twice = torch.cat([torch.zeros_like(sure[:1]), sure[1:] & sure[:-1]])
    return torch.where(twice.any(0), twice.int().argmax(0) + 1, 0)


def test_a_way_to_stop_of_ones_own_stands_in_the_table(tables, monkeypatch):
    monkeypatch.setitem(PROBLEMS, "lines", PROBLEMS["lines"]._replace(tests=SHORT))
    before = dict(METHODS)
    table.add_method("twice sure", "every step", twice_sure, "q", (0.5, 0.51, 0.99))
    assert {name: METHODS[name] for name in before} == before
    assert METHODS["twice sure"] == ("nothing", "every step", "twice sure")
    setting = TINY | {"problem": "lines", "training": "every step", "hyperparameter": 0.0, "seed": 0}
    rows = [setting | table.run(**setting)]
    points = rows[0]["tests"]["9 places"]["rules"]["twice sure"]
    assert points[0][1] == 2  # everyone is at least half sure
    assert points[2][1] == 10  # undecided to the end, which N is
    found = ranking.regrets(rows, "5 places")
    assert "twice sure" in found
    assert len(found) == len([method for method in METHODS.values() if method.training == "every step"])
    assert ranking.table(rows)["twice sure"].which[0] in (0, 1, 2)
