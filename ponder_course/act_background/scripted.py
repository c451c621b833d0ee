"""ACT whose halting units are given by hand: the weights of its states, and what the package makes of the units."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils.act import ACT, ACTOutput


class Scripted(nn.Module):
    """A cell that reads nothing: its state after step n is the n-th of the given numbers."""

    input_size, hidden_size = 2, 1

    def __init__(self, states: Tensor) -> None:
        super().__init__()
        self.states = states

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Return the state, and n, counted from 0."""
        n = torch.zeros(len(x), 1, dtype=torch.long) if state is None else state[1] + 1
        return self.states[n], n


def scripted(lambdas: Sequence[float], epsilon: float) -> ACTOutput:
    """Return what the package's ACT makes of these halting units, with their number as the cap."""
    cell = Scripted(torch.tensor(lambdas, dtype=torch.float64).logit())
    model = ACT(cell, epsilon=epsilon, max_steps=len(lambdas)).double()
    nn.init.ones_(model.halting.weight)
    nn.init.zeros_(model.halting.bias)
    with torch.no_grad():
        return model(torch.zeros(1, 1, 1, dtype=torch.float64))


def halt(lambdas: list[Any], epsilon: float) -> list[Any]:
    """Return the weights p_1..p_N: N is their number, R the last. The cap M is the number of units."""
    weights, total = [], 0.0
    for lambda_n in lambdas[:-1]:
        if total + lambda_n >= 1 - epsilon:
            break
        weights.append(lambda_n)
        total = total + lambda_n
    return [*weights, 1 - total]
