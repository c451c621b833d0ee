"""The checks of the problem sheet of lesson 03 refuse plausible wrong answers."""

import pytest
import torch
from sheets import check_that_it_refuses

WRONG = {
    "turn": [
        lambda x, old, new, generator: torch.where(x == old, float(new), x),  # all of them
        lambda x, old, new, generator: x.scatter(1, (x == old).int().argmax(1, keepdim=True), float(new)),  # the first
        lambda x, old, new, generator: x,
        lambda x, old, new, generator: x.scatter(1, torch.randint(8, (len(x), 1), generator=generator), float(new)),
        lambda x, old, new, generator: x.scatter_(1, (x == old).float().multinomial(1), float(new)),  # in place
    ],
}


@pytest.mark.parametrize(("name", "wrong"), [(name, wrong) for name, answers in WRONG.items() for wrong in answers])
def test_checks_fail_on_plausible_wrong_functions(name, wrong, capsys):
    check_that_it_refuses(wrong, name, "03_parity", capsys)
