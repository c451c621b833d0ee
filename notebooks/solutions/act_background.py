"""Solutions to the exercises of 01_act_background. Look only after you have tried."""

from torch import Tensor


def count_steps(lambdas: Tensor, epsilon: float) -> Tensor:
    """One more than the number of steps, the last not counted, whose running sum is below the threshold."""
    return (lambdas[:-1].cumsum(0) < 1 - epsilon).sum(0) + 1


def weights_with_cap(lambdas: list[float], epsilon: float) -> list[float]:
    """The last step that is allowed takes the remainder too, whatever the unit there is."""
    weights, total = [], 0.0
    for lambda_n in lambdas[:-1]:
        if total + lambda_n >= 1 - epsilon:
            break
        weights.append(lambda_n)
        total += lambda_n
    return [*weights, 1 - total]


def missing_for_one_fewer(lambdas: list[float], epsilon: float) -> float:
    """The first N_x - 1 units must sum to the threshold; as much as lambda_1 grows, so does their sum."""
    total = 0.0
    for n, lambda_n in enumerate(lambdas, start=1):
        if n == len(lambdas) or total + lambda_n >= 1 - epsilon:
            return 0.0 if n == 1 else 1 - epsilon - total
        total += lambda_n
    raise ValueError("lambdas must have at least one halting unit; got none")
