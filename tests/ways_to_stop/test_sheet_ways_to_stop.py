"""The checks of the problem sheet of lesson 06 refuse plausible wrong answers."""

import math

import pytest
from sheets import check_that_it_refuses

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
