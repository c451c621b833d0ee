"""What the problem sheet of lesson 06 asks to derive, computed in another way; and what its checks refuse."""

import math

import numpy as np
import pytest
from sheets import check_that_it_refuses, solution

from ponder_course.common.lines import all_of_one_segment
from ponder_course.light_cone.local_stoppers import by_hand
from ponder_course.research.light_cone.local_stoppers import fewest_steps

WRONG = {
    "calibration_error": [
        lambda says, right: (says - right.float()).abs().mean().item(),  # without bins
        lambda says, right: (says.mean() - right.float().mean()).abs().item(),  # one bin
        lambda says, right: math.nan,
        lambda says, right: None,
        lambda says, right: 1 / 0,
    ],
}


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, answers in WRONG.items() for wrong in answers])
def test_checks_fail_on_plausible_wrong_functions(name, wrong, capsys):
    check_that_it_refuses(wrong, name, "06_ways_to_stop", capsys)


def test_no_stopper_is_faster_than_the_bound():
    assert solution("06_ways_to_stop")["bound"] == 2.8125
    x = all_of_one_segment(8)
    by_rules = by_hand(x, 8).steps.float().mean().item()
    assert (by_rules, round(fewest_steps(x[:1]).item(), 2)) == (5.5, 2.98)


@pytest.mark.parametrize(("which", "pi", "r"), [(0, 0.3, 0.1), (1, 0.5, 0.05)])
def test_when_to_give_up(which, pi, r):
    """The best number of steps to wait, by the value of each."""
    values, arrived, paid, c = [], 0.0, 0.0, 0.005
    for waits in range(200):
        waiting = pi + (1 - pi) * (1 - r) ** waits
        values.append(arrived + 0.5 * waiting - paid)
        paid += c * waiting  # one more step, for whoever still waits
        arrived += (1 - pi) * (1 - r) ** waits * r
    assert int(np.argmax(values)) == solution("06_ways_to_stop")["give_up"][which]
