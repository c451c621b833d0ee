"""What the problem sheet of lesson 03 asks to derive, computed in another way; and what its checks refuse."""

import itertools
import math

import pytest
import torch
from sheets import check_that_it_refuses, solution

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


def test_the_counter_to_m():
    answers = solution("03_parity")
    for k, m in itertools.product(range(1, 13), range(1, 13)):
        probs = [math.comb(k, j) / 2**k for j in range(k + 1)]
        even, odd = (sum(probs[j] for j in range(m, k + 1) if j % 2 == parity) for parity in (0, 1))
        assert even - odd == pytest.approx((-1) ** m * math.comb(k - 1, m - 1) / 2**k)
        assert answers["accuracy_at"](k, m) == pytest.approx(sum(probs[:m]) + max(even, odd))
    for m in (1, 5, 9):
        assert sum(answers["accuracy_at"](k, m) - 0.5 for k in range(1, 200)) == pytest.approx(m)
