"""Halting units given by hand, for lesson 01 to compare its own loop with the package's."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ponder_utils.act import ACT, ACTOutput


class Scripted(nn.Module):
    """A cell that reads nothing: after n updates its state is the n-th of these numbers."""

    input_size, hidden_size = 2, 1

    def __init__(self, states: Sequence[float]) -> None:
        super().__init__()
        self.states = torch.tensor(states, dtype=torch.float64)

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The state, and n, counted from 0."""
        n = torch.zeros(len(x), 1, dtype=torch.float64) if state is None else state[1] + 1
        return self.states[n.long()], n


def scripted(h: Sequence[float], epsilon: float) -> ACTOutput:
    """What the package's ACT makes of these halting units, with their number as the cap."""
    model = ACT(Scripted(torch.tensor(h, dtype=torch.float64).logit().tolist()), epsilon=epsilon, max_updates=len(h))
    model.double()
    nn.init.ones_(model.halting.weight)
    nn.init.zeros_(model.halting.bias)
    return model.predict(torch.zeros(1, 1, 1, dtype=torch.float64))
