"""The checks of lesson 14's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import torch
from exercises import test_of_answers


def by_arrows(depths):
    """The fraction of the nodes on the way, each with its arrows to go, solved for tau."""
    to_go = [r for d in depths for r in range(1, d + 1)]
    return torch.tensor(len(to_go) / sum(to_go))


WRONG = {
    "law": [
        lambda depths: len(depths) / sum(depths),  # what a whole chain costs, roots among those who are asked
        lambda depths: sum(d > 0 for d in depths) / sum(depths),  # whole chains alone: silence is the better one
        lambda depths: sum(depths) / sum(d * d for d in depths),  # arrows to go from the first node on, at each
        lambda depths: sum(d == 1 for d in depths) / sum(d > 0 for d in depths),  # the way back
        lambda depths: 1 / max(depths),  # nobody is paid for the farthest
    ],
}
RIGHT = {"law": [by_arrows]}
test_answers = test_of_answers("14_price_of_a_word", WRONG, RIGHT)
