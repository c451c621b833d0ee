"""Solutions to the exercises of 03_parity. Look only after you have tried."""

import math

from torch import Tensor


def right_without_one(k: int, n_elements: int) -> float:
    """The hidden element is non-zero in k / n_elements of the inputs, and then its sign is a fair coin."""
    return 1 - k / n_elements / 2


def when_to_halt(x: Tensor) -> Tensor:
    """An odd step where the number of +1s is odd, an even one where it is even; counting up from 2 is a counter."""
    return 2 + (x == 1).sum(1)


def steps_needed(lambda_p: float, eps: float) -> int:
    """(1 - lambda_p)^N < eps, solved for N. The logarithm of a power of two, say, may be a hair off: look again."""
    N = max(1, math.floor(math.log(eps) / math.log1p(-lambda_p)))
    while (1 - lambda_p) ** N >= eps:
        N += 1
    return N


def quantile_step(log_p: Tensor, q: float) -> Tensor:
    """One more than the number of steps at which the CDF is below q; the last step is certain, whatever was rounded."""
    below = log_p.exp().cumsum(0)[:-1] < q
    return below.sum(0) + 1
