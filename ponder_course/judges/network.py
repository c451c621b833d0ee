"""Lesson 05's step for lines whose places hold one of several values."""

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

CHANNELS, NOISE = 32, 0.1  # lesson 05's


class SumLine(nn.Module):
    """Lesson 05's step, without what is read from its state."""

    def __init__(self, n_values: int) -> None:
        super().__init__()
        self.from_x = nn.Conv1d(n_values + 1, CHANNELS, 1)
        self.from_h = nn.Conv1d(CHANNELS, CHANNELS, 3, padding=1)
        self.n_values = n_values

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_x x + b, and a state of zeros, for values and resets x [batch, 2, places]."""
        values = one_hot(x[:, 0].long(), self.n_values).movedim(2, 1)
        z = self.from_x(torch.cat([values, x[:, 1:]], dim=1))
        return z, torch.zeros_like(z)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the next state."""
        h = torch.tanh(self.from_h(h) + z)
        return h + NOISE * torch.randn_like(h) if self.training else h
