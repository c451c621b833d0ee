"""The parts of lesson 04's networks: the write-ups' CNN and two-layer cell, and a step over patches of an image."""

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int
from ponder_utils.cells import Cell, FromInput
from ponder_utils.steps import Step


class ConvEncoder(nn.Module):
    """Two convolutions of 5 x 5, each with a maximum over 2 x 2, and a linear layer: the CNN of the two write-ups."""

    def __init__(self, n_features: int = 64) -> None:
        super().__init__()
        self.n_features = check_int("n_features", n_features, 1)
        layers: list[nn.Module] = [nn.Conv2d(1, 10, kernel_size=5), nn.MaxPool2d(2), nn.ReLU()]
        layers += [nn.Conv2d(10, 20, kernel_size=5), nn.Dropout2d(0.5), nn.MaxPool2d(2), nn.ReLU()]
        layers += [nn.Flatten(), nn.Linear(20 * 4 * 4, n_features), nn.ReLU()]
        # On a CPU, max-pooling takes half as long with the channels last.
        self.layers = nn.Sequential(*layers).to(memory_format=torch.channels_last)

    def forward(self, x: Tensor) -> Tensor:
        """Return [batch, n_features] for x [batch, 1, 28, 28]; ValueError if the images have another shape."""
        if x.shape[1:] != (1, 28, 28):
            raise ValueError(f"x must have shape [batch, 1, 28, 28]; got {list(x.shape)}")
        return self.layers(x)


class MLPCell(Cell):
    """h' = relu(W_2 relu(W_x x + b_x + W_h h + b_h) + b_2): two layers, of which the first reads input and state.

    dropout: fraction of the first layer's hidden_size units that training sets to 0, drawn anew at every step.
    """

    def __init__(self, input_size: int, hidden_size: int, dropout: float = 0.0) -> None:
        super().__init__(input_size, hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.to_h = nn.Linear(hidden_size, hidden_size)

    def forward(self, x: Tensor | FromInput, h: Tensor | None = None) -> Tensor:
        """Return the next h. x: [batch, ...], or from `encode`; h: [batch, hidden_size]."""
        between = torch.relu(self.from_h.add_to(self.encode(x).candidate, h))
        return torch.relu(self.to_h(self.dropout(between)))


class ConvStep(Step):
    """One answer for a whole image, h_{n+1} = h_n + relu(W_h * h_n + W_x * x) over a grid of patches.

    At step 1 each place of the grid knows its own patch of the image. The answer and the halting logit are read from
    the mean and the maximum over all places.

    Args:
        channels: numbers in the state of one place.
        patch: side of a patch in pixels; patches do not overlap.
        n_outputs: size of one answer, at least 2.
    """

    def __init__(self, channels: int, patch: int, n_outputs: int) -> None:
        check_int("patch", patch, 1)
        check_int("channels", channels, 1)
        super().__init__()
        self.from_x = nn.Conv2d(1, channels, patch, patch)
        self.from_h = nn.Conv2d(channels, channels, 3, padding=1)
        self.heads = nn.Linear(2 * channels, check_int("n_outputs", n_outputs, 2) + 1)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_x * x and a state of zeros for x [batch, 1, H, W]; ValueError if it cannot be cut into patches."""
        patch, _ = self.from_x.kernel_size
        if x.ndim != 4 or x.shape[1] != 1 or x.shape[2] % patch or x.shape[3] % patch:
            raise ValueError(f"x must have shape [batch, 1, H, W], H and W multiples of {patch}; got {list(x.shape)}")
        z = self.from_x(x)
        return z, torch.zeros_like(z)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the next state."""
        return h + torch.relu(self.from_h(h) + z)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, n_outputs] and a_n [batch]."""
        places = h.flatten(2)
        out = self.heads(torch.cat([places.mean(2), places.amax(2)], dim=1))
        return out[:, :-1], out[:, -1]
