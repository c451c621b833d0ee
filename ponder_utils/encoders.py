"""Encoders: what reads an image once, before the first step."""

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int


class ConvEncoder(nn.Module):
    """Two convolutions of 5 x 5, each with a maximum over 2 x 2, and a linear layer: the CNN of the two write-ups.

    An image becomes a vector of `n_features`; training sets the fraction `dropout` of the second one's channels to 0.
    """

    def __init__(self, n_features: int = 64, dropout: float = 0.5) -> None:
        super().__init__()
        self.n_features = check_int("n_features", n_features, 1)
        layers = nn.Sequential(
            nn.Conv2d(1, 10, kernel_size=5), nn.MaxPool2d(2), nn.ReLU(),
            nn.Conv2d(10, 20, kernel_size=5), nn.Dropout2d(dropout), nn.MaxPool2d(2), nn.ReLU(),
            nn.Flatten(), nn.Linear(20 * 4 * 4, n_features), nn.ReLU(),
        )  # fmt: skip
        self.layers = layers.to(memory_format=torch.channels_last)  # on a CPU, max-pooling takes half as long

    def forward(self, x: Tensor) -> Tensor:
        """Return [batch, n_features] for x [batch, 1, 28, 28]; ValueError if the images have another shape."""
        if x.shape[1:] != (1, 28, 28):
            raise ValueError(f"x must have shape [batch, 1, 28, 28]; got {list(x.shape)}")
        return self.layers(x)
