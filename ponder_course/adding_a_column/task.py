"""Columns of binary numbers, to be added one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ponder_course.common.lines import AdditionTask
from ponder_utils._check import check_generator, check_int, check_real


@dataclass(frozen=True)
class ColumnTask:
    """A number comes at each time step, least significant place first; the target is the sum of all so far.

    A carry out of the last place is dropped. A carry is made where the running sum and the new number both have a 1,
    and travels on where they differ. They agree at each place at this rate, 1/2 for uniform numbers. None: each number
    of each column draws a rate of its own, width^-u with u ~ U(0, 1), so that some carries travel far. The first
    number is uniform. TypeError or ValueError unless width, n_numbers >= 1, and rate is in [0, 1] or None.
    """

    width: int
    n_numbers: int
    rate: float | None = None

    def __post_init__(self) -> None:
        check_int("width", self.width, 1)
        check_int("n_numbers", self.n_numbers, 1)
        if self.rate is not None:
            check_real("rate", self.rate, 0, 1, open_low=False)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [n_numbers, batch_size, 1, width], and y [n_numbers, batch_size, width], sums: float32, in {0, 1}."""
        device = check_generator(generator)
        shape = (self.n_numbers, check_int("batch_size", batch_size, 1), self.width)
        u = torch.rand(*shape[:2], 1, generator=generator, device=device)
        rate = self.width**-u if self.rate is None else torch.full_like(u, self.rate)
        rate[0] = 0.5
        agree = torch.rand(shape, generator=generator, device=device) < rate
        total = torch.zeros(shape[1:], dtype=torch.float32, device=device)
        numbers, sums = [], []
        for agrees in agree:
            number = torch.where(agrees, total, 1 - total)
            total = AdditionTask.answers(torch.stack([total, number], dim=1))
            numbers.append(number)
            sums.append(total)
        return torch.stack(numbers)[:, :, None], torch.stack(sums)

    @staticmethod
    def answers(x: Tensor) -> Tensor:
        """Return the sum after each number of columns x [T, batch, 1, width]: [T, batch, width]."""
        sums, total = [], torch.zeros_like(x[0, :, 0])
        for number in x[:, :, 0]:
            total = AdditionTask.answers(torch.stack([total, number], dim=1))
            sums.append(total)
        return torch.stack(sums)

    @classmethod
    def travelled(cls, x: Tensor) -> Tensor:
        """Return how many places the carry into each place has come, 0 where none does: int64 [T, batch, width]."""
        sums = cls.answers(x)
        before = torch.cat([torch.zeros_like(sums[:1]), sums[:-1]])
        pairs = torch.stack([before, x[:, :, 0]], dim=2)
        needed = AdditionTask.needed_steps(pairs.flatten(0, 1), guess=0)
        return needed.unflatten(0, x.shape[:2]) - 1

    @classmethod
    def needed_steps(cls, x: Tensor) -> Tensor:
        """Return how many places the longest carry of each time step travels, and 1 more: int64 [T, batch].

        A place knows the running sum and the new number at step 1, and passes on a carry of one place a step. A network
        that answers "no carry" until one comes is right from this step on, and no step function that serves all columns
        is right before it in all.
        """
        return cls.travelled(x).amax(2) + 1

    @staticmethod
    def digits(numbers: Sequence[int], width: int) -> Tensor:
        """Return one column of these numbers, 0 to 2^width - 1 each: x [T, 1, 1, width]."""
        check_int("width", width, 1)
        numbers = [check_int("numbers", number, 0, 2**width - 1) for number in numbers]
        digits = [[number >> place & 1 for place in range(width)] for number in numbers]
        return torch.tensor(digits, dtype=torch.float32)[:, None, None]
