"""Sums along a line, modulo any number: lesson 05's lines with more than two values to a place."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ponder_course.common.lines import LineParityTask, last_barrier
from ponder_utils._check import check_int


@dataclass(frozen=True)
class SumTask(LineParityTask):
    """Sums along a line: the target is the sum of the values since the last reset, modulo `n_values`; 2 is parity.

    TypeError or ValueError unless n_values is a whole number of at least 2, and the rest as for `LineParityTask`.
    """

    n_values: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("n_values", self.n_values, 2)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [batch_size, 2, n_places], values and resets, float32, and y [batch_size, n_places], int64."""
        _, resets = self.coins_and_barriers(batch_size, generator)
        resets[:, 0] = True
        values = torch.randint(self.n_values, resets.shape, generator=generator, device=resets.device)
        x = torch.stack([values, resets], dim=1).float()
        return x, self.answers(x)

    def answers(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Return the targets of lines x [batch, 2, n_places]: int64 [batch, n_places]."""
        values, resets = x.long().unbind(1)
        total = values.cumsum(1)
        before_segment = (total - values).gather(1, last_barrier(resets > 0))
        return (total - before_segment).remainder(self.n_values)


def lines_right(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return whether all places are right: y_hat [..., places, n_values], y [..., places] -> bool [...]."""
    return (y_hat.argmax(-1) == y).all(-1)
