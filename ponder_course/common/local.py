"""How far news can have come after n steps in which every place hears from its neighbours only.

At step 1 a place knows itself; with every further step it hears from the places that the kernel of a convolution
covers. So its state after n steps depends on places up to (n - 1) (kernel // 2) away in any direction, its *light
cone*, and, to the last bit, on nothing beyond.
"""

import torch
from torch import Tensor

from ponder_utils._check import check_int


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
