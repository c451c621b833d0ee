"""Steps that hear from their neighbours only, the same at every place, and what a place can know of after n of them.

At step 1 a place knows itself. With every further step it hears from the places that the kernel of one small
convolution covers, so that its state after n steps hangs on places up to (n - 1) (kernel // 2) away in any direction,
and on nothing beyond: its *light cone* (`light_cone`). That is exact, to the last bit: what stands outside does not
enter the computation.
"""

import torch
from torch import Tensor, nn

from ponder_utils._check import check_choice, check_int, check_real

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d)


def light_cone(place: tuple[int, ...], shape: tuple[int, ...], n_steps: int, kernel: int = 3) -> Tensor:
    """Which places can know, at each step, of what stands at `place`; also, of which places it can know itself.

    place and shape (of a line or a grid, without batch and channels) have one number for each dimension.
    [n_steps, *shape], bool. ValueError if the place is outside.
    """
    for size, middle in zip(shape, place, strict=True):
        check_int("place", middle, 0, size - 1)
    away = [(torch.arange(size) - middle).abs() for middle, size in zip(place, shape, strict=True)]
    distance = torch.stack(torch.meshgrid(*away, indexing="ij")).amax(0)
    n = torch.arange(1, n_steps + 1).view(-1, *[1] * len(shape))
    return distance <= (n - 1) * (kernel // 2)


class _Neighbours(nn.Module):
    """The state of a line or a grid: W_x * x read once, and W_h * h at every step."""

    def __init__(self, from_x: nn.Conv1d | nn.Conv2d, kernel: int, residual: bool, noise: float = 0.0) -> None:
        super().__init__()
        dimensions, channels = len(from_x.kernel_size), from_x.out_channels
        self.from_x, self.residual = from_x, residual
        self.noise = check_real("noise", noise, 0, open_low=False)
        self.from_h = CONVOLUTIONS[dimensions - 1](channels, channels, kernel, padding=kernel // 2)

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x: [batch, in_channels, *shape] -> W_x * x, [batch, channels, *places], and a state of zeros."""
        self.check(x)
        z = self.from_x(x)
        return z, torch.zeros_like(z)

    def check(self, x: Tensor) -> None:
        """ValueError unless x has the right channels, and its sides can be cut into patches."""
        sides, patch = x.shape[2:], self.from_x.kernel_size
        named = ["places"] if len(patch) == 1 else ["H", "W"]
        if (
            x.ndim != 2 + len(patch)
            or x.shape[1] != self.from_x.in_channels
            or any(s % p for s, p in zip(sides, patch, strict=True))
        ):
            allowed = f"shape [batch, {self.from_x.in_channels}, {', '.join(named)}]"
            cut = f" with {' and '.join(named)} multiples of patch = {patch[0]}" if patch[0] > 1 else ""
            raise ValueError(f"x must have {allowed}{cut}; got {list(x.shape)}")

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """The next state."""
        heard = self.from_h(h) + z
        h = h + torch.relu(heard) if self.residual else torch.tanh(heard)
        return h + self.noise * torch.randn_like(h) if self.training and self.noise else h


class LocalStep(_Neighbours):
    """An answer at every place of a line or a grid, and a vote on halting: h_{n+1} = tanh(W_h * h_n + W_x * x).

    A halting logit is read at each place, and the smallest is that of the whole: the line halts when its last place is
    ready. So the signal that a self-timed circuit has finished is made, and unlike a mean it does not fade as lines
    grow longer.

    Args:
        in_channels: numbers at one place of the input.
        channels: numbers in the state of one place.
        dimensions: 1 for lines, 2 for grids.
        kernel: how many places wide the convolution is, an odd number.
        residual: h_{n+1} = h_n + relu(W_h * h_n + W_x * x) instead.
        vote: "least", or "pooled": one logit, read from the mean and the maximum of the state over all places.
        noise: standard deviation of the normal noise that shakes the state in training, so that it learns to hold on to
            what it knows.
    """

    def __init__(
        self, in_channels: int, channels: int, dimensions: int = 1, kernel: int = 3, residual: bool = False,
        vote: str = "least", noise: float = 0.0,
    ) -> None:  # fmt: skip
        convolution = CONVOLUTIONS[check_int("dimensions", dimensions, 1, 2) - 1]
        if check_int("kernel", kernel, 1) % 2 == 0:
            raise ValueError(f"kernel must be odd; got {kernel}")
        from_x = convolution(check_int("in_channels", in_channels, 1), check_int("channels", channels, 1), 1)
        super().__init__(from_x, kernel, residual, noise)
        check_choice("vote", vote, ("least", "pooled"))
        self.heads = convolution(channels, 2 if vote == "least" else 1, 1)  # at each place: answer, vote
        self.pooled = nn.Linear(2 * channels, 1) if vote == "pooled" else None

    def forward(self, z: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """z and h: as from `start` -> y_hat_n [batch, *places], h_{n+1}, halting logit a_n [batch]."""
        h = self.move(z, h)
        at_places = self.heads(h)
        if self.pooled is None:
            return at_places[:, 0], h, at_places[:, 1].flatten(1).amin(1)
        return at_places[:, 0], h, self.pooled(_mean_and_maximum(h)).squeeze(1)


class LastPlaceStep(LocalStep):
    """A `LocalStep` on a line of which only the last place is asked, and is the only one to vote."""

    def forward(self, z: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """z and h: as from `start` -> y_hat_n [batch], h_{n+1}, halting logit a_n [batch]."""
        h = self.move(z, h)
        y_hat, halt_logit = self.heads(h[..., -1:])[..., 0].unbind(1)
        return y_hat, h, halt_logit


class ConvStep(_Neighbours):
    """One answer for a whole image, h_{n+1} = h_n + relu(W_h * h_n + W_x * x) over a grid of patches.

    At step 1 each place of the grid knows its own patch of the image. The answer and the halting logit are read from
    the mean and the maximum over all places.

    Args:
        channels: numbers in the state of one place.
        patch: side of a patch in pixels; patches do not overlap.
        n_outputs: size of one answer, at least 2.
        in_channels: of the image.
    """

    def __init__(self, channels: int, patch: int, n_outputs: int, in_channels: int = 1) -> None:
        check_int("patch", patch, 1)
        check_int("channels", channels, 1)
        super().__init__(nn.Conv2d(check_int("in_channels", in_channels, 1), channels, patch, patch), 3, residual=True)
        self.heads = nn.Linear(2 * channels, check_int("n_outputs", n_outputs, 2) + 1)

    def forward(self, z: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """z and h: as from `start` -> y_hat_n [batch, n_outputs], h_{n+1}, halting logit a_n [batch]."""
        h = self.move(z, h)
        out = self.heads(_mean_and_maximum(h))
        return out[:, :-1], h, out[:, -1]


def _mean_and_maximum(h: Tensor) -> Tensor:
    """Over all places: [batch, channels, *places] -> [batch, 2 * channels]."""
    places = h.flatten(2)
    return torch.cat([places.mean(2), places.amax(2)], dim=1)
