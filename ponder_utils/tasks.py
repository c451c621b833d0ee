"""Parity: is the number of +1s odd? (Graves 2016, Sec. 3.1; PonderNet, Sec. 3.1)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ponder_utils._check import check_generator, check_int


@dataclass(frozen=True)
class ParityTask:
    """Vectors of `n_elements`, k ~ U{k_min..k_max} of them +1 or -1 at random places, the others 0.

    The target is 1.0 if the number of +1s is odd, else 0.0. 0 <= k_min <= k_max <= n_elements; None: k_max is all.
    """

    n_elements: int
    k_min: int = 1
    k_max: int | None = None

    def __post_init__(self) -> None:
        check_int("n_elements", self.n_elements, 1)
        if self.k_max is None:
            object.__setattr__(self, "k_max", self.n_elements)  # the class is frozen
        check_int("k_max", self.k_max, 0, self.n_elements)
        check_int("k_min", self.k_min, 0, self.k_max)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [batch_size, n_elements], in {-1, 0, +1}, and y [batch_size], in {0, 1}: float32."""
        assert self.k_max is not None
        shape = (check_int("batch_size", batch_size, 1), self.n_elements)
        device = check_generator(generator)
        k = torch.randint(self.k_min, self.k_max + 1, (batch_size, 1), generator=generator, device=device)
        signs = torch.randint(0, 2, shape, generator=generator, device=device) * 2 - 1
        order = torch.rand(shape, generator=generator, device=device).argsort(dim=1)
        first_k = torch.arange(self.n_elements, device=device) < k
        x = torch.zeros(shape, dtype=torch.float32, device=device).scatter_(1, order, (signs * first_k).float())
        return x, (x == 1).sum(1).remainder(2).float()
