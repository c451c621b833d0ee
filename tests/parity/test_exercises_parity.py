"""The checks of lesson 03's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

from exercises import test_of_answers

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
