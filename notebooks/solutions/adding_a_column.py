"""Solutions to the exercises of 09_adding_a_column. Look only after you have tried."""


def slowest(a: int, places: int) -> int:
    """Both digits are 1 where a has its last 1, and differ at all places to the left: so the sum is 2**places."""
    return 2**places - a


def carry_prob(k: int) -> float:
    """Both digits are 1 at one place, and differ at the next k - 1."""
    return 0.25 * 0.5 ** (k - 1)
