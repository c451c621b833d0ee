"""Solutions to the exercises of 11_judges. Look only after you have tried."""


def all_right(n_values: int, n_unknown: int) -> float:
    """Each unknown place is guessed by itself, and the places that are known are right."""
    return 1 / n_values**n_unknown


def halts(p: float, m: int, discount: float) -> bool:
    """Halting is worth p; going on is worth 1, discounted once for each of the m steps."""
    return p > discount**m
