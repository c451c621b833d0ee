"""Solutions to the exercises of 03_parity. Look only after you have tried."""

from torch import Tensor


def right_without_one(k: int, n_elements: int) -> float:
    """The hidden element is non-zero in k / n_elements of the inputs, and then its sign is a fair coin."""
    return 1 - k / n_elements / 2


def when_to_halt(x: Tensor) -> Tensor:
    """An odd step where the number of +1s is odd, an even one where it is even; counting up from 2 is a counter."""
    return 2 + (x == 1).sum(1)
