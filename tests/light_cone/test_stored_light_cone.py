"""What lesson 05 and its evidence claim of stored networks, and the stored numbers of its headline."""

from ponder_course.research.light_cone.facts import has_learnt, own_test, speaks
from ponder_course.research.stored_facts import stored


def test_before_the_need_no_fixed_step_is_right_on_more_than_half_of_all_lines():
    learnt = [run for run in stored("05_beating_the_clock_lengths") if run[0]["places"] <= 8 and has_learnt(run)]
    assert any(map(speaks, learnt))
    for setting, result in learnt:
        assert max(own_test((setting, result))["by_step"][: setting["places"] - 1]) <= 0.5
