"""The weights that ACT gives its states, with halting units given by hand."""

from typing import Any


def halt(lambdas: list[Any], epsilon: float) -> list[Any]:
    """Return the weights of the states: N_x is their number, R the last. The cap N is the number of units."""
    weights, total = [], 0.0
    for lambda_n in lambdas[:-1]:
        if total + lambda_n >= 1 - epsilon:
            break
        weights.append(lambda_n)
        total = total + lambda_n
    return [*weights, 1 - total]
