"""Rotated digits: which digit is it, however it is turned? (after the two write-ups of PonderNet on MNIST)."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from ponder_utils._check import check_generator, check_int, check_real


def rotated_by(x: Tensor, degrees: float) -> Tensor:
    """Return images x [batch, channels, H, W], uint8, turned anticlockwise by an angle in [-180, 180], in degrees.

    The result is float32, in [0, 1]; what comes in from outside is 0.
    """
    angle = check_real("degrees", degrees, -180, 180, open_low=False)
    return _rotated(x, torch.full((len(x),), angle, dtype=torch.float32, device=x.device))


def rotated_within(x: Tensor, degrees: float, generator: torch.Generator | None = None) -> Tensor:
    """Return each image of x, as above, turned by an angle of its own, uniform in [-degrees, degrees]."""
    largest = check_real("degrees", degrees, -180, 180, open_low=False)
    check_generator(generator)
    u = torch.rand(len(x), generator=generator, dtype=torch.float32, device=x.device)
    return _rotated(x, largest * (2 * u - 1))


@dataclass(frozen=True)
class RotationTask:
    """Images x [n >= 1, channels, H, W], uint8, each turned by an angle of its own; the targets are their labels y [n].

    Images are drawn with replacement, and angles from [-within, within], in degrees.
    """

    x: Tensor
    y: Tensor
    within: float = 0.0

    def __post_init__(self) -> None:
        _check_images(self.x)
        check_real("within", self.within, -180, 180, open_low=False)
        if self.y.shape != self.x.shape[:1] or self.y.device != self.x.device or len(self.y) == 0:
            wanted = f"one label for each image, on their device, here [{len(self.x)}] on {self.x.device}"
            came = f"{list(self.y.shape)} on {self.y.device}"
            raise ValueError(f"y must be {wanted}, and at least one; got {came}")

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [batch_size, channels, H, W], float32, in [0, 1], and y [batch_size], on the generator's device."""
        size = (check_int("batch_size", batch_size, 1),)
        check_generator(generator)
        drawn = torch.randint(len(self.x), size, generator=generator, device=self.x.device)
        return rotated_within(self.x[drawn], self.within, generator), self.y[drawn]


def _check_images(x: Tensor) -> None:
    if not isinstance(x, Tensor) or x.dtype != torch.uint8 or x.ndim != 4:
        came = f"{x.dtype} {list(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"x must be a uint8 tensor of shape [batch, channels, H, W]; got {came}")


def _rotated(x: Tensor, degrees: Tensor) -> Tensor:
    _check_images(x)
    height, width = x.shape[-2:]
    cos, sin = degrees.deg2rad().cos(), degrees.deg2rad().sin()
    # (x cos - y sin, y cos + x sin) is where a point comes from, in units of half a side.
    turn = torch.zeros(len(x), 2, 3, dtype=torch.float32, device=x.device)
    turn[:, 0, 0], turn[:, 0, 1] = cos, -sin * height / width
    turn[:, 1, 0], turn[:, 1, 1] = sin * width / height, cos
    return grid_sample(x.float() / 255, affine_grid(turn, list(x.shape), align_corners=False), align_corners=False)
