"""Solutions to the exercises of 01_act_background. Look only after you have tried."""

from torch import Tensor


def count_steps(h: Tensor, epsilon: float) -> Tensor:
    """One more than the number of steps, the last not counted, whose running sum is below the threshold."""
    return (h[:-1].cumsum(0) < 1 - epsilon).sum(0) + 1


def weights_with_cap(h: list[float], epsilon: float) -> list[float]:
    """The last step that is allowed takes the remainder too, whatever its own h is."""
    weights, total = [], 0.0
    for h_n in h[:-1]:
        if total + h_n >= 1 - epsilon:
            break
        weights.append(h_n)
        total += h_n
    return [*weights, 1 - total]


def missing_for_one_fewer(h: list[float], epsilon: float) -> float:
    """The first N - 1 units must sum to the threshold; every bit that h_1 grows, so does their sum."""
    total = 0.0
    for n, h_n in enumerate(h, start=1):
        if n == len(h) or total + h_n >= 1 - epsilon:
            return 0.0 if n == 1 else 1 - epsilon - total
        total += h_n
    raise ValueError("h must have at least one halting unit; got none")
