"""The checks of lesson 01's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

from exercises import solutions, test_of_answers


def capped(h, epsilon, at_the_cap):
    """Weights of ACT, but for what happens where the cap ends it."""
    for n in range(len(h)):
        if sum(h[: n + 1]) >= 1 - epsilon:
            return [*h[:n], 1 - sum(h[:n])]
    return at_the_cap(h)


act_background = solutions("01_act_background")

WRONG = {
    "count_steps": [
        lambda h, epsilon: (h.cumsum(0) < 1 - epsilon).sum(0) + 1,  # one more than the cap
        lambda h, epsilon: (h[:-1].cumsum(0) < 1 - epsilon).sum(0),  # counted from 0
        lambda h, epsilon: (h[:-1].cumsum(0) < 1).sum(0) + 1,  # no epsilon
        lambda h, epsilon: (h[:-1].cumsum(0) <= 1 - epsilon).sum(0) + 1,  # more than enough
    ],
    "weights_with_cap": [
        lambda h, epsilon: [h_n / sum(h) for h_n in h] if sum(h) else h,  # renormalised
        lambda h, epsilon: [*h[:-1], 1 - sum(h[:-1])],  # never halts early
        lambda h, epsilon: capped(h, epsilon, lambda h: [1 - sum(h[1:]), *h[1:]]),  # to the first
    ],
    "missing_for_one_fewer": [
        lambda h, epsilon: 0.0,
        lambda h, epsilon: max(0.0, 1 - epsilon - h[0]),  # for a single step
        lambda h, epsilon: max(0.0, 1 - sum(h[:-1])),  # no epsilon
        lambda h, epsilon: max(0.0, 1 - epsilon - sum(h[:-1])),  # for one below the cap
    ],
}
RIGHT = {
    "count_steps": [
        lambda h, epsilon: [  # a loop, and a list
            next((n for n in range(1, len(h)) if sum(column[:n]) >= 1 - epsilon), len(h)) for column in h.T.tolist()
        ],
    ],
}

test_answers = test_of_answers("01_act_background", WRONG, RIGHT)
