"""Tasks along a line of places, each with an answer of its own that may hang on a place far away.

How far is known, for every place of every sample: `needed_steps`, where news travels one place a step, and a place
knows itself at step 1. Underneath both tasks are the same: here and there stands a barrier, and what came before it
makes no difference behind it. What counts is the longest stretch without one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ponder_utils._check import check_int, check_real


@dataclass(frozen=True)
class LineParityTask:
    """Parity, place by place: the target at a place is 1.0 if the bits since the last reset, its own included, are odd.

    A line falls into segments, each of which begins at a reset; the first place always has one. The other places have
    them at this rate, in [0, 1]. None: each line draws a rate of its own, n_places^-u with u ~ U(0, 1), so that its
    longest segment may have any length from 1 to n_places.
    TypeError or ValueError if an argument is not as above.
    """

    n_places: int
    rate: float | None = None

    def __post_init__(self) -> None:
        _check(self.n_places, self.rate)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw a batch on the generator's device (the CPU if there is none).

        x: [batch_size, 2, n_places], bits and resets; y: [batch_size, n_places]; both float32, in {0, 1}.
        """
        bits, resets = _coins_and_barriers(batch_size, self.n_places, self.rate, generator)
        resets[:, 0] = True
        x = torch.stack([bits, resets], dim=1).float()
        return x, self.answers(x)

    @staticmethod
    def answers(x: Tensor) -> Tensor:
        """The targets of lines x [batch, 2, n_places] -> [batch, n_places]."""
        bits, resets = x[:, 0], x[:, 1]
        ones = bits.cumsum(1)
        before = (ones - bits).gather(1, _last(resets > 0))  # the segment
        return (ones - before).remainder(2)

    @staticmethod
    def needed_steps(x: Tensor) -> Tensor:
        """How many places the segment has up to here: [batch, n_places], of lines x as from `batch`.

        Before that step the answer at a place is a fair coin. A line needs the most of its places, its longest segment.
        """
        return torch.arange(1, x.shape[2] + 1, device=x.device) - _last(x[:, 1] > 0)

    @classmethod
    def best_chances(cls, x: Tensor, n_steps: int) -> Tensor:
        """How likely all places of a line are right after each step, at most, whatever a step of kernel 3 does.

        [n_steps, batch]. At step n the answer of a place further than n - 1 from the start of its segment is a fair
        coin, and places that are 2 n apart have coins of their own.
        """
        needed = cls.needed_steps(x)
        ends = torch.cat([needed[:, 1:] == 1, torch.ones_like(needed[:, :1], dtype=torch.bool)], dim=1)
        n = torch.arange(1, n_steps + 1, device=x.device)[:, None, None]
        coins = ((needed - n).clamp(min=0) / (2 * n)).ceil() * ends
        return 0.5 ** coins.sum(2)


@dataclass(frozen=True)
class NoisyLineParityTask(LineParityTask):
    """The same, taught by a teacher who errs: each target is turned round at a rate of its line's own, u ~ U(0, most).

    x has u at every place as a third channel, so that one can know how far to trust the teacher. `answers` are true.
    """

    most: float = 0.4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("most", self.most, 0, 1, open_low=False)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """As for `LineParityTask`, x: [batch_size, 3, n_places]."""
        x, y = super().batch(batch_size, generator)
        u = self.most * torch.rand(batch_size, 1, generator=generator, device=x.device).expand_as(y)
        errs = torch.rand(y.shape, generator=generator, device=x.device) < u
        return torch.cat([x, u[:, None]], dim=1), (y + errs).remainder(2)


@dataclass(frozen=True)
class UnanswerableTask(LineParityTask):
    """The same, but on some lines, this share, nobody can know: their targets are fair coins.

    x has a third channel, 1 at all places of such a line, which needs one step. `answers` are as if one could know.
    """

    share: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("share", self.share, 0, 1, open_low=False)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """As for `LineParityTask`, x: [batch_size, 3, n_places]."""
        x, y = super().batch(batch_size, generator)
        chance, coins = (torch.rand(size, generator=generator, device=x.device) for size in ((len(x), 1), y.shape))
        nobody = (chance < self.share).expand_as(y)
        return torch.cat([x, nobody[:, None].float()], dim=1), torch.where(nobody, (coins < 0.5).float(), y)

    @staticmethod
    def answerable(x: Tensor) -> Tensor:
        """Which lines have an answer: x as from `batch` -> bool [batch]."""
        return x[:, 2, 0] == 0

    @staticmethod
    def needed_steps(x: Tensor) -> Tensor:
        """As for `LineParityTask`; 1 where there is no answer to wait for."""
        return torch.where(x[:, 2] == 0, LineParityTask.needed_steps(x), 1)

    @classmethod
    def best_chances(cls, x: Tensor, n_steps: int) -> Tensor:
        """As for `LineParityTask`; of a line without an answer, one half for each of its places, at every step."""
        known = LineParityTask.best_chances(x, n_steps)
        return torch.where(cls.answerable(x), known, 0.5 ** x.shape[2])


@dataclass(frozen=True)
class LastPlaceTask(LineParityTask):
    """Of the same lines one answer only, that of the last place: y [batch_size]."""

    @staticmethod
    def answers(x: Tensor) -> Tensor:
        """The target of each line: x [batch, 2, n_places] -> [batch]."""
        return LineParityTask.answers(x)[:, -1]

    @staticmethod
    def needed_steps(x: Tensor) -> Tensor:
        """How many places the last segment has: [batch]."""
        return LineParityTask.needed_steps(x)[:, -1]

    @classmethod
    def best_chances(cls, x: Tensor, n_steps: int) -> Tensor:
        """How likely the answer is right after each step, at most: [n_steps, batch]."""
        return torch.where(torch.arange(1, n_steps + 1, device=x.device)[:, None] < cls.needed_steps(x), 0.5, 1.0)


@dataclass(frozen=True)
class AdditionTask:
    """The sum of two binary numbers, least significant place first; a carry out of the last place is dropped.

    A place whose two digits differ passes on the carry that it is given. Two ones make a carry and two zeros swallow
    one, whatever comes: these are the barriers. Their rate is 1/2 for uniform numbers; for None see `LineParityTask`.
    TypeError or ValueError if an argument is not as above.
    """

    n_places: int
    rate: float | None = 0.5

    def __post_init__(self) -> None:
        _check(self.n_places, self.rate)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw a batch on the generator's device (the CPU if there is none).

        x: [batch_size, 2, n_places], the digits of both numbers; y: [batch_size, n_places], those of the sum; both
        float32, in {0, 1}.
        """
        first, equal = _coins_and_barriers(batch_size, self.n_places, self.rate, generator)
        x = torch.stack([first, first ^ ~equal], dim=1).float()
        return x, self.answers(x)

    @staticmethod
    def carries(x: Tensor) -> Tensor:
        """The carry into each place, 0.0 or 1.0: x as from `batch` -> [batch, n_places]."""
        first, second = x.unbind(1)
        out = torch.where(first == second, first, 0).gather(1, _last(first == second))
        return torch.cat([torch.zeros_like(out[:, :1]), out[:, :-1]], dim=1)

    @classmethod
    def answers(cls, x: Tensor) -> Tensor:
        """The targets of pairs of numbers x [batch, 2, n_places] -> [batch, n_places]."""
        return (x.sum(1) + cls.carries(x)).remainder(2)

    @classmethod
    def needed_steps(cls, x: Tensor, guess: int | None = None) -> Tensor:
        """How long the news of a carry, or of none, takes to each place: [batch, n_places], of x as from `batch`.

        It comes from the last place before with equal digits, or from the line's edge, where there is none. With a
        guess, 0 or 1, those places need one step only whose carry is as guessed.
        """
        equal = x[:, 0] == x[:, 1]
        source = torch.where(equal.cumsum(1) == 0, -1, _last(equal))
        source = torch.cat([torch.full_like(source[:, :1], -1), source[:, :-1]], dim=1)
        needed = torch.arange(1, x.shape[2] + 1, device=x.device) - source
        return needed if guess is None else torch.where(cls.carries(x) == guess, 1, needed)


def to_digits(number: int, n_places: int) -> Tensor:
    """The binary digits of a number in [0, 2^n_places), least significant first: [n_places], float32."""
    check_int("number", number, 0, 2 ** check_int("n_places", n_places, 1) - 1)
    return torch.tensor([number >> place & 1 for place in range(n_places)], dtype=torch.float32)


def to_number(digits: Sequence[float] | Tensor) -> int:
    """The number whose binary digits [n_places] these are, least significant first."""
    return sum(2**place for place, digit in enumerate(digits) if digit)


def _coins_and_barriers(
    batch_size: int, n_places: int, rate: float | None, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """[batch_size, n_places] of bool each: fair coins, and true at the rate."""
    shape, device = (check_int("batch_size", batch_size, 1), n_places), "cpu" if generator is None else generator.device
    coins, chances = torch.rand(2, *shape, generator=generator, device=device)
    u = torch.rand(batch_size, 1, generator=generator, device=device)
    return coins < 0.5, chances < (n_places**-u if rate is None else rate)


def _last(barriers: Tensor) -> Tensor:
    """Where the last barrier stands up to each place of [batch, n_places], itself included; 0 if there is none."""
    return torch.where(barriers, torch.arange(barriers.shape[1], device=barriers.device), 0).cummax(1).values


def _check(n_places: int, rate: float | None) -> None:
    check_int("n_places", n_places, 1)
    if rate is not None:
        check_real("rate", rate, 0, 1, open_low=False)
