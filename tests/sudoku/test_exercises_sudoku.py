"""The checks of lesson 10's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

from exercises import test_of_answers

WRONG = {
    "last_cell": [
        lambda: (4, 3, 5),  # a round in which other cells are known
        lambda: (3, 2, 7),  # counted from 0
        lambda: (3, 4, 7),  # column and row exchanged
        lambda: (1, 3, 5),  # known late, but not last
    ],
}
test_answers = test_of_answers("10_sudoku", WRONG, {"last_cell": [lambda: [4, 3, 7]]})
