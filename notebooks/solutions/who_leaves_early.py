"""Solutions to the exercises of 13_who_leaves_early. Look only after you have tried."""


def loops_needed(arrows: int, leave_after: int) -> int:
    """In each loop the question takes over what a statement shows: 1, 2, 4, ... arrows, doubled until it has left."""
    n, known = 0, 1
    while known < arrows:
        known += 2 ** min(n, leave_after)
        n += 1
    return max(1, n)
