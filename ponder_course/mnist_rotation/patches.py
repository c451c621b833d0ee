"""The second network of lesson 04, *patches*: it sees the image in squares, and places hear from their neighbours."""

import torch
from torch import Tensor, nn

from ponder_course.mnist_rotation.lesson import Recipe
from ponder_utils.steps import Step

SIDE, CHANNELS = 4, 16  # of a patch, in pixels; numbers in the state of a place
RECIPE = Recipe(N=10, lambda_p=0.3, beta=0.2, batch=64, updates=1500)


class Patches(Step):
    """A place for each patch: h_n = h_{n-1} + relu(W_h * h_{n-1} + b_h + W_x * x + b_x); W_h is 3 by 3 places wide."""

    def __init__(self, channels: int = CHANNELS, patch: int = SIDE, n_outputs: int = 10) -> None:
        super().__init__()
        self.from_x = nn.Conv2d(1, channels, kernel_size=patch, stride=patch)
        self.from_h = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        self.heads = nn.Linear(2 * channels, n_outputs + 1)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_x * x + b_x and a state of zeros, [batch, channels, rows, columns] each, for x [batch, 1, H, W]."""
        z = self.from_x(x)
        return z, torch.zeros_like(z)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the next state."""
        return h + torch.relu(self.from_h(h) + z)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits [batch, n_outputs] and the halting logit [batch], from mean and maximum over all places."""
        places = h.flatten(2)
        out = self.heads(torch.cat([places.mean(2), places.amax(2)], dim=1))
        return out[:, :-1], out[:, -1]
