"""Solutions to the exercises of 03_parity. Look only after you have tried."""

import math

from torch import Tensor, nn

cross_entropy = nn.BCEWithLogitsLoss(reduction="none")


def right_without_one(k: int, n_elements: int) -> float:
    """The hidden element is non-zero in k / n_elements of the inputs, and then its sign is a fair coin."""
    return 1 - k / n_elements / 2


def reconstruction(y_hat: Tensor, log_p: Tensor, y: Tensor) -> Tensor:
    """The loss of each sample is weighed by that sample's own p_n; the mean over the batch comes last of all."""
    losses = cross_entropy(y_hat, y.expand_as(y_hat))  # [N, batch]
    return (log_p.exp() * losses).sum(0).mean()


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
