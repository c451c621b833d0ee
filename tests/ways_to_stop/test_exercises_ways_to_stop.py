"""The checks of lesson 06's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import torch
from exercises import solutions, test_of_answers

ways_to_stop = solutions("06_ways_to_stop")

WRONG = {
    "odds": [
        lambda needed, n: 0.5 ** (needed >= n).sum(1),  # open for a step longer
        lambda needed, n: 0.5 ** (needed <= n).sum(1),  # known for open
        lambda needed, n: 0.5 ** (needed.amax(1) - n).clamp(min=0),  # the longest segment alone
        lambda needed, n: (needed <= n).float().mean(1),  # the fraction that is known
        lambda needed, n: 0.5 ** (needed > n).sum(0),  # lines for places
    ],
    "patient": [
        lambda y_hat, t: ways_to_stop.patient(y_hat, t) - 1,  # counted from 0
        lambda y_hat, t: ways_to_stop.patient(y_hat, t - 1) if t > 1 else torch.ones(30, dtype=torch.long),  # t answers
        lambda y_hat, t: ways_to_stop.patient(y_hat[..., :1], t),  # one place
        lambda y_hat, t: ways_to_stop.patient(y_hat.sum(-1, keepdim=True), t),  # of the sum
        lambda y_hat, t: torch.full((30,), len(y_hat)),  # never
    ],
    "mine": [
        lambda y_hat: y_hat.abs().amin(-1).argmax(0) + 1,  # the surest of all steps
        lambda y_hat: ways_to_stop.mine(y_hat) - 1,  # counted from 0
        lambda y_hat: torch.full((30,), round(ways_to_stop.mine(y_hat).float().mean().item())),  # the same for all
        lambda y_hat: ways_to_stop.mine(y_hat) + 0.5,
        lambda y_hat: (ways_to_stop.mine(y_hat) - 1).clamp(min=1),  # one step before it knows
    ],
}
RIGHT = {
    "patient": [
        lambda y_hat, t: [
            next(
                (n for n in range(t + 1, len(y_hat)) if len({*map(tuple, line[n - t - 1 : n].tolist())}) == 1),
                len(y_hat),
            )
            for line in (y_hat > 0).transpose(0, 1)
        ],
    ],
}

test_answers = test_of_answers("06_ways_to_stop", WRONG, RIGHT)
