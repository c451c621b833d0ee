"""The checks of lesson 03's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import math

import torch
from exercises import test_of_answers

WRONG = {
    "right_without_one": [
        lambda k, n_elements: 0.5,
        lambda k, n_elements: 1 - k / n_elements,  # no luck
        lambda k, n_elements: 1 - 1 / (2 * n_elements),  # whatever k is
        lambda k, n_elements: 0.5 if k == n_elements else 1.0,
    ],
    "steps_needed": [
        lambda lambda_p, eps: round(1 / lambda_p),
        lambda lambda_p, eps: math.ceil(math.log(eps) / math.log(1 - lambda_p)),  # at equality one too few
        lambda lambda_p, eps: math.floor(math.log(eps) / math.log1p(-lambda_p)),  # one too few
        lambda lambda_p, eps: math.ceil(math.log(eps) / math.log1p(-lambda_p)) + 1,  # one too many
        lambda lambda_p, eps: math.ceil(math.log(1 - eps) / math.log1p(-lambda_p)),  # eps mistaken for 1 - eps
    ],
    "when_to_halt": [
        lambda x: (x == 1).sum(1),  # no step 0
        lambda x: 1 + (x == 1).sum(1).remainder(2),  # even and odd exchanged
        lambda x: 2 + (x == -1).sum(1),  # the other sign
        lambda x: 2 + x.abs().sum(1),  # k
        lambda x: 2 + (x == 1).sum(),  # one number for the batch
    ],
    "quantile_step": [
        lambda log_p, q: log_p.argmax(0) + 1,  # the most probable step
        lambda log_p, q: (log_p.exp().cumsum(0) < q).sum(0),  # counted from 0
        lambda log_p, q: (log_p.exp().cumsum(0) < q).sum(0) + 1,  # a CDF of 0.9999999
        lambda log_p, q: (log_p.exp() < q).sum(0).clamp(max=len(log_p) - 1) + 1,  # p_n for the CDF
        lambda log_p, q: (log_p.exp().cumsum(0) >= q).float().argmax(0) + 1,  # nowhere reached: the first step
        lambda log_p, q: (log_p.exp().cumsum(0)[:-1] <= q).sum(0) + 1,  # more than q
    ],
}
RIGHT = {
    "right_without_one": [
        lambda k, n_elements: torch.tensor(1 - k / (2 * n_elements), dtype=torch.float64),
    ],
    "steps_needed": [
        lambda lambda_p, eps: next(n for n in range(1, 1000) if (1 - lambda_p) ** n < eps),
    ],
    "when_to_halt": [
        lambda x: 20.0 - (x == 1).double().sum(1),  # earlier with each +1
        lambda x: [1 if sum(element == 1 for element in row) % 2 else 2 for row in x.tolist()],
    ],
    "quantile_step": [
        lambda log_p, q: [
            next((n for n in range(1, len(log_p)) if sum(column[:n]) >= q), len(log_p))
            for column in log_p.exp().T.tolist()
        ],
    ],
}

test_answers = test_of_answers("03_parity", WRONG, RIGHT)
