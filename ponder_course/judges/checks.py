"""The checks of lesson 11's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

from ponder_course.common.notebook import check_on

check_all_right = check_on(
    *((n_values, n_unknown, 1.0 / n_values**n_unknown) for n_values in (2, 3, 5) for n_unknown in (0, 1, 2, 4)),
)

check_halts = check_on(
    (0.5, 1, 0.95, False),  # one bit is unknown
    (0.5, 1, 0.4, True),
    (0.04, 2, 0.95, False),
    (0.5, 14, 0.95, True),  # the discount makes a long wait worth less than a coin
    (0.5, 13, 0.95, False),
    (1.0, 1, 1.0, False),  # a tie: not larger
    (1.0, 1, 0.95, True),
)
