"""Solutions to the exercises of 09_adding_a_column. Look only after you have tried."""


def my_column(width: int) -> list[int]:
    """Fill the sum with 1s without a carry; the fourth number adds 1 to all of them, and the carry goes all the way."""
    ones = 2**width - 1
    odd_places = sum(2**place for place in range(0, width, 2))
    return [0, odd_places, ones - odd_places, 1, 0]


def carry_prob(k: int) -> float:
    """Both digits are 1 at one place, and differ at the next k - 1."""
    return 0.25 * 0.5 ** (k - 1)
