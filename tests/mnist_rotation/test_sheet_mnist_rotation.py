"""The checks of the problem sheet of lesson 04 refuse plausible wrong answers."""

import pytest
from sheets import check_that_it_refuses

WRONG = {
    "changing": [
        lambda right: (right[0] != right[-1]).float().mean().item(),  # the ends only
        lambda right: (right[1:] != right[:-1]).float().mean().item(),  # of all steps
        lambda right: right.all(0).float().mean().item(),
        lambda right: 1 - right.any(0).float().mean().item(),
        lambda right: right.any(0) & ~right.all(0),  # not a mean
    ],
}


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, answers in WRONG.items() for wrong in answers])
def test_checks_fail_on_plausible_wrong_functions(name, wrong, capsys):
    check_that_it_refuses(wrong, name, "04_mnist_rotation", capsys)
