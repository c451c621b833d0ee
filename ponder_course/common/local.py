"""Steps in which every place hears from its neighbours only, and how far news can have come after n of them.

At step 1 a place knows itself; with every further step it hears from the places that the kernel of a convolution
covers. So its state after n steps depends on places up to (n - 1) (kernel // 2) away in any direction, its *light
cone*, and, to the last bit, on nothing beyond.
"""

import torch
from torch import Tensor, nn

from ponder_utils._check import check_choice, check_int, check_real, check_type
from ponder_utils.steps import Step


def _check_odd(kernel: int) -> int:
    if check_int("kernel", kernel, 1) % 2 == 0:
        raise ValueError(f"kernel must be odd; got {kernel}")
    return kernel


def light_cone(place: tuple[int, ...], shape: tuple[int, ...], n_steps: int, kernel: int = 3) -> Tensor:
    """Return which places can know, at each step, of what stands at `place`, and it of them: [n_steps, *shape], bool.

    place and shape (of a line or a grid, without batch and channels) have one number for each dimension; kernel is odd.
    ValueError if the place is outside.
    """
    if not isinstance(place, tuple | list) or not isinstance(shape, tuple | list) or len(place) != len(shape):
        raise ValueError(f"place must have one number per side of shape = {shape!r}; got {place!r}")
    away = []
    for size, middle in zip(shape, place, strict=True):
        check_int("place", middle, 0, size - 1)
        away.append((torch.arange(size) - middle).abs())
    distance = torch.stack(torch.meshgrid(*away, indexing="ij")).amax(0)
    n = torch.arange(1, check_int("n_steps", n_steps, 1) + 1).view(-1, *[1] * len(shape))
    return distance <= (n - 1) * (_check_odd(kernel) // 2)


class Neighbours(Step):
    """The state of a line or a grid: W_x * x is computed once, and W_h * h at every step."""

    def __init__(self, from_x: nn.Conv1d | nn.Conv2d, kernel: int, residual: bool, noise: float = 0.0) -> None:
        super().__init__()
        self.from_x = from_x
        self.residual = check_type("residual", residual, bool)
        self.noise = check_real("noise", noise, 0, open_low=False)
        self.from_h = type(from_x)(from_x.out_channels, from_x.out_channels, kernel, padding=kernel // 2)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_x * x, [batch, channels, *places], and a state of zeros, for x [batch, in_channels, *shape].

        TypeError or ValueError if it is not, or its sides cannot be cut into patches.
        """
        patch, in_channels = self.from_x.kernel_size, self.from_x.in_channels
        sides = check_type("x", x, Tensor).shape[2:]
        if x.ndim != 2 + len(patch) or x.shape[1] != in_channels or any(side % patch[0] or not side for side in sides):
            allowed = f"[batch, {in_channels}, {'places' if len(patch) == 1 else 'H, W'}]"
            each = f"each side at least 1, and a multiple of the patch's {patch[0]}"
            raise ValueError(f"x must have shape {allowed}, {each}; got {list(x.shape)}")
        z = self.from_x(x)
        return z, torch.zeros_like(z)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the next state."""
        heard = self.from_h(h) + z
        h = h + torch.relu(heard) if self.residual else torch.tanh(heard)
        return h + self.noise * torch.randn_like(h) if self.training and self.noise else h


class LocalStep(Neighbours):
    """An answer at every place of a line or a grid, and a vote on halting: h_{n+1} = tanh(W_h * h_n + W_x * x).

    Args:
        in_channels, channels: numbers at one place of the input, and of the state.
        dimensions, kernel: 1 for lines, 2 for grids; how many places wide the convolution is, an odd number.
        residual: h_{n+1} = h_n + relu(W_h * h_n + W_x * x) instead.
        vote: "least": of the halting logits at all places the smallest, so that the whole halts when its last place is
            ready; or "pooled": one logit, read from the mean and the maximum of the state over all places.
        noise: standard deviation of the normal noise that is added to the state in training.
    """

    def __init__(
        self,
        in_channels: int,
        channels: int,
        dimensions: int = 1,
        kernel: int = 3,
        residual: bool = False,
        vote: str = "least",
        noise: float = 0.0,
    ) -> None:
        convolution = nn.Conv1d if check_int("dimensions", dimensions, 1, 2) == 1 else nn.Conv2d
        from_x = convolution(check_int("in_channels", in_channels, 1), check_int("channels", channels, 1), 1)
        super().__init__(from_x, _check_odd(kernel), residual, noise)
        check_choice("vote", vote, ("least", "pooled"))
        self.heads = convolution(channels, 2 if vote == "least" else 1, 1)  # at each place: answer, vote
        self.pooled = nn.Linear(2 * channels, 1) if vote == "pooled" else None

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, *places] and a_n [batch]."""
        at_places = self.heads(h)
        if self.pooled is None:
            return at_places[:, 0], at_places[:, 1].flatten(1).amin(1)
        return at_places[:, 0], self.pooled(mean_and_maximum(h)).squeeze(1)


def mean_and_maximum(h: Tensor) -> Tensor:
    """Return both over all places: [batch, channels, *places] -> [batch, 2 * channels]."""
    places = h.flatten(2)
    return torch.cat([places.mean(2), places.amax(2)], dim=1)
