"""Tasks along a line of places, each with an answer of its own that may depend on a place far away.

Here and there stands a barrier, and what came before it makes no difference behind it. `needed_steps` says how many
steps each place needs, where news travels one place a step, and a place knows itself at step 1.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from ponder_utils._check import check_generator, check_int, check_real


@dataclass(frozen=True)
class _LineTask:
    n_places: int
    rate: float | None = None

    def __post_init__(self) -> None:
        check_int("n_places", self.n_places, 1)
        if self.rate is not None:
            check_real("rate", self.rate, 0, 1, open_low=False)

    def coins_and_barriers(self, batch_size: int, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        """Draw fair coins, and barriers at the rate: bool [batch_size, n_places] each, on the generator's device."""
        shape = (check_int("batch_size", batch_size, 1), self.n_places)
        device = check_generator(generator)
        coins, barriers = torch.rand(2, *shape, generator=generator, device=device)
        u = torch.rand(batch_size, 1, generator=generator, device=device)
        rate = self.n_places**-u if self.rate is None else self.rate
        return coins < 0.5, barriers < rate


@dataclass(frozen=True)
class LineParityTask(_LineTask):
    """Parity, place by place: the target is 1.0 if the bits since the last reset, that of the place included, are odd.

    The first place always has a reset, the others at this rate, in [0, 1]. None: each line draws a rate of its own,
    n_places^-u with u ~ U(0, 1). TypeError or ValueError if an argument is not as above.
    """

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [batch_size, 2, n_places], bits and resets, and y [batch_size, n_places]: float32, in {0, 1}."""
        bits, resets = self.coins_and_barriers(batch_size, generator)
        resets[:, 0] = True
        x = torch.stack([bits, resets], dim=1).float()
        return x, self.answers(x)

    @staticmethod
    def answers(x: Tensor) -> Tensor:
        """Return the targets of lines x [batch, 2, n_places]: [batch, n_places]."""
        bits, resets = x[:, 0], x[:, 1]  # a variant of the task has a third channel
        ones = bits.cumsum(1)
        ones_before_segment = (ones - bits).gather(1, last_barrier(resets > 0))
        return (ones - ones_before_segment).remainder(2)

    @staticmethod
    def needed_steps(x: Tensor) -> Tensor:
        """Return how many places it is since the last reset, that place included: int64 [batch, n_places]."""
        return torch.arange(1, x.shape[2] + 1, device=x.device) - last_barrier(x[:, 1] > 0)

    @classmethod
    def best_probs(cls, x: Tensor, n_steps: int) -> Tensor:
        """Return how likely all places of a line are right after each step at most: [n_steps, batch], for kernel 3.

        Until its need is met the answer of a place is a fair coin, and places 2 n apart have coins of their own.
        """
        needed = cls.needed_steps(x)
        is_end = needed.roll(-1, dims=1) == 1  # the next place has a reset; behind the last place stands the first
        length = needed * is_end  # of the segment that ends here
        probs = []
        for n in range(1, n_steps + 1):
            coins = ((length - n).clamp(min=0) / (2 * n)).ceil()
            probs.append(0.5 ** coins.sum(1))
        return torch.stack(probs)


@dataclass(frozen=True)
class AdditionTask(_LineTask):
    """The sum of two binary numbers, least significant place first; a carry out of the last place is dropped.

    Barriers are places with two equal digits, since other places pass on the carry that they are given. Their rate is
    1/2 for uniform numbers; for None see `LineParityTask`. TypeError or ValueError if an argument is not as above.
    """

    rate: float | None = 0.5

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [batch_size, 2, n_places], pairs of numbers, and y [batch_size, n_places]: float32, in {0, 1}."""
        first, equal = self.coins_and_barriers(batch_size, generator)
        x = torch.stack([first, first ^ ~equal], dim=1).float()
        return x, self.answers(x)

    @staticmethod
    def _sources(x: Tensor) -> Tensor:
        """Return from which place the carry into each comes, counted from 1, and 0 is the edge: [batch, n_places]."""
        return last_barrier(pad(x[:, 0] == x[:, 1], (1, 0), value=True))[:, :-1]

    @classmethod
    def carries(cls, x: Tensor) -> Tensor:
        """Return the carry into each place, 0.0 or 1.0: [batch, n_places]."""
        return pad(x[:, 0], (1, 0)).gather(1, cls._sources(x))  # a 1 where both have a 1

    @classmethod
    def answers(cls, x: Tensor) -> Tensor:
        """Return the targets of pairs of numbers x [batch, 2, n_places]: [batch, n_places]."""
        return (x.sum(1) + cls.carries(x)).remainder(2)

    @classmethod
    def needed_steps(cls, x: Tensor, guess: int | None = None) -> Tensor:
        """Return how long the news of a carry, or of none, takes to each place: int64 [batch, n_places].

        With a guess, 0 or 1, those places need one step only whose carry is as guessed.
        """
        needed = torch.arange(2, x.shape[2] + 2, device=x.device) - cls._sources(x)
        return needed if guess is None else torch.where(cls.carries(x) == guess, 1, needed)


def all_of_one_segment(n_places: int) -> Tensor:
    """Return all lines of `LineParityTask` without a reset but the first: x [2^n_places, 2, n_places]."""
    bits = torch.arange(2**n_places)[:, None] >> torch.arange(n_places) & 1
    resets = torch.zeros_like(bits)
    resets[:, 0] = 1
    return torch.stack([bits, resets], dim=1).float()


def flipped(x: Tensor, place: int) -> Tensor:
    """Return lines x [batch, channels, n_places] whose first channel, of bits, is flipped at a place, from 0."""
    other = x.clone()
    other[:, 0, place] = 1 - other[:, 0, place]
    return other


def last_barrier(barriers: Tensor) -> Tensor:
    """Return the last place with a barrier up to each place, or 0: bool [batch, n_places] -> int64."""
    places = torch.arange(barriers.shape[1], device=barriers.device)
    return torch.where(barriers, places, 0).cummax(1).values
