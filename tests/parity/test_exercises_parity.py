"""The exercises of lesson 03 and of its sheet refuse what is wrong."""

import pytest
import torch
from exercises import test_of_answers
from sheets import check_that_it_refuses

WRONG = {
    "right_without_one": [
        lambda k, n_elements: 0.5,
        lambda k, n_elements: 1 - k / n_elements,  # no luck
        lambda k, n_elements: 1 - 1 / (2 * n_elements),  # whatever k is
        lambda k, n_elements: 0.5 if k == n_elements else 1.0,
    ],
    "when_to_halt": [
        lambda x: (x == 1).sum(1),  # no step 0
        lambda x: 1 + (x == 1).sum(1).remainder(2),  # even and odd exchanged
        lambda x: 2 + (x == -1).sum(1),  # the other sign
        lambda x: 2 + x.abs().sum(1),  # k
        lambda x: 2 + (x == 1).sum(),  # one number for the batch
    ],
}
RIGHT = {
    "when_to_halt": [
        lambda x: 20.0 - (x == 1).double().sum(1),  # earlier with each +1
        lambda x: [1 if sum(element == 1 for element in row) % 2 else 2 for row in x.tolist()],
    ],
}

test_answers = test_of_answers("03_parity", WRONG, RIGHT)


WRONG_TURNS = [
    lambda x, old, new, generator: torch.where(x == old, float(new), x),  # all of them
    lambda x, old, new, generator: x.scatter(1, (x == old).int().argmax(1, keepdim=True), float(new)),  # the first
    lambda x, old, new, generator: x,
    lambda x, old, new, generator: x.scatter(1, torch.randint(8, (len(x), 1), generator=generator), float(new)),
    lambda x, old, new, generator: x.scatter_(1, (x == old).float().multinomial(1), float(new)),  # in place
]


@pytest.mark.parametrize("wrong", WRONG_TURNS)
def test_the_sheet_refuses_plausible_wrong_turns(wrong, capsys):
    check_that_it_refuses(wrong, "turn", "03_parity", capsys)
