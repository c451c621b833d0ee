"""A task on a grid: where does the water get to?"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from ponder_utils._check import check_int, check_real


@dataclass(frozen=True)
class FloodTask:
    """Which open cells of a square grid can be reached from the source, moving up, down, left and right over such?

    Cells are open with this probability, in (0, 1], as in site percolation; the source, at a random place, always is.
    TypeError or ValueError if an argument is not as above.
    """

    side: int
    density: float = 0.62

    def __post_init__(self) -> None:
        check_int("side", self.side, 1)
        check_real("density", self.density, 0, 1, open_low=True)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw a batch on the generator's device (the CPU if there is none).

        x: [batch_size, 2, side, side], open cells and the source; y: [batch_size, side, side]; float32, in {0, 1}.
        """
        shape = check_int("batch_size", batch_size, 1), self.side, self.side
        device = "cpu" if generator is None else generator.device
        cells = torch.rand(shape, generator=generator, device=device)
        place = torch.randint(self.side**2, (batch_size, 1), generator=generator, device=device)
        source = torch.zeros(batch_size, self.side**2, device=device).scatter_(1, place, 1.0).view(shape)
        x = torch.stack([torch.maximum((cells < self.density).float(), source), source], dim=1)
        return x, self.answers(x)

    @classmethod
    def answers(cls, x: Tensor) -> Tensor:
        """The targets of grids x [batch, 2, side, side] -> [batch, side, side]."""
        return (cls.needed_steps(x) > 0).float()

    @staticmethod
    def needed_steps(x: Tensor) -> Tensor:
        """The step at which the water has come to a cell, if it moves one cell a step: 1 at the source, 0 where never.

        [batch, side, side], of grids x as from `batch`. A grid needs the most of its cells.
        """
        is_open, wet = x.unbind(1)
        arrival, n = wet.long(), 1
        while True:
            around = pad(wet, (1, 1, 1, 1))
            sides = around[:, :-2, 1:-1] + around[:, 2:, 1:-1] + around[:, 1:-1, :-2] + around[:, 1:-1, 2:]
            new = (sides > 0) & (is_open > 0) & (wet == 0)
            if not new.any():
                return arrival
            n += 1
            arrival, wet = torch.where(new, n, arrival), torch.where(new, 1.0, wet)
