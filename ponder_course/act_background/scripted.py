"""ACT whose halting units are given by hand: what the package makes of them."""

from collections.abc import Sequence

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
    model = ACT(
        Scripted(torch.tensor(lambdas, dtype=torch.float64).logit()),
        epsilon=epsilon,
        max_steps=len(lambdas),
    ).double()
    nn.init.ones_(model.halting.weight)
    nn.init.zeros_(model.halting.bias)
    return model.predict(torch.zeros(1, 1, 1, dtype=torch.float64))
