"""ACT whose halting units are given by hand: the weights of its states."""

from typing import Any


def halt(lambdas: list[Any], epsilon: float) -> list[Any]:
    """Return the weights p_1..p_N: N is their number, R the last. The cap M is the number of units."""
    weights, total = [], 0.0
    for lambda_n in lambdas[:-1]:
        if total + lambda_n >= 1 - epsilon:
            break
        weights.append(lambda_n)
        total = total + lambda_n
    return [*weights, 1 - total]
