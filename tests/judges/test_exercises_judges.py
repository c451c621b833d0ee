"""The checks of lesson 11's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import torch
from exercises import test_of_answers

WRONG = {
    "all_right": [
        lambda n_values, n_unknown: 1 / n_values,  # of one place
        lambda n_values, n_unknown: 1 / (n_values * n_unknown) if n_unknown else 1.0,  # places are added
        lambda n_values, n_unknown: 0.5**n_unknown,  # as if all were bits
        lambda n_values, n_unknown: 1 - 1 / n_values**n_unknown,  # that not all are right
    ],
    "halts": [
        lambda p, m, discount: p > discount,  # however long the wait
        lambda p, m, discount: p >= discount**m,  # a tie halts
        lambda p, m, discount: p > 0.5,  # TRM's rule
        lambda p, m, discount: p < discount**m,  # goes on where it should halt
        lambda p, m, discount: p > p * discount**m,  # the answer later is as likely right as now
    ],
}
RIGHT = {
    "all_right": [lambda n_values, n_unknown: torch.tensor(1 / n_values, dtype=torch.float64) ** n_unknown],
    "halts": [lambda p, m, discount: torch.tensor(p) > torch.tensor(discount) ** m],
}
test_answers = test_of_answers("11_judges", WRONG, RIGHT)
