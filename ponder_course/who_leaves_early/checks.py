"""The checks of lesson 13's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

from ponder_course.common.notebook import check_on


def _loops(arrows: int, leave_after: int) -> int:
    """Return the loops that a question needs."""
    n, known = 0, 1
    while known < arrows:
        shown = 2**n if n < leave_after else 2**leave_after  # doubled until it has left
        known += shown
        n += 1
    return max(1, n)


# Arrows from a question to its digit, after how many loops all statements leave, and the loops that it takes.
CASES = [(arrows, after, _loops(arrows, after)) for arrows in (*range(1, 40), 100) for after in (1, 2, 3, 50)]
check_loops_needed = check_on(*CASES)
