"""The trainings of lesson 06's table: of each setting all runs are stored."""

import pytest
from stored_runs import RESULTS

from ponder_course.ways_to_stop import regret as ranking
from ponder_evidence.ways_to_stop import experiment as table
from ponder_evidence.ways_to_stop.measuring import RULES
from ponder_evidence.ways_to_stop.problems import PROBLEMS


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
