"""Graves' tasks along sequences (arXiv:1603.08983, Secs. 3.2 to 3.4), with answers at many time steps.

Inputs are x [T, batch, inputs], and targets y [T, batch, ...], -1 where there is none. With a length, all sequences of
a batch have it. Without, they have all lengths, and behind the end of one stand zeros, without targets.
"""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor
from torch.nn.functional import one_hot, pad

from ponder_utils._check import check_generator, check_int

Batch = tuple[Tensor, Tensor]  # x, y
NO_TARGET = -1
# Table 1 of the paper, for (P, Q) = TT, TF, FT, FF: NOR, Xq, ABJ, XOR, NAND, AND, XNOR, if/then, then/if, OR
GATES = ("0001", "0010", "0100", "0110", "0111", "1000", "1001", "1011", "1101", "1110")
END = 10  # the class of a place behind a number's last digit


@dataclass(frozen=True)
class LogicTask:
    """Chains of 1 to max_gates gates at every time step, of sequences of 1 to max_length (Sec. 3.2).

    An input is b_0, b_1 and max_gates chunks of 10, of which the first B ~ U{1..max_gates} name a gate each; a gate is
    applied to the two bits before it, b_{i+1} = T_i(b_i, b_{i-1}), and b_{B+1} is the answer. After the first time step
    b_0 is the answer before, and the input has 0 there. ValueError or TypeError unless both sizes are integers >= 1.
    """

    max_length: int = 10
    max_gates: int = 10

    def __post_init__(self) -> None:
        check_int("max_length", self.max_length, 1)
        check_int("max_gates", self.max_gates, 1)

    def batch(self, batch_size: int, generator: Generator | None = None, length: int | None = None) -> Batch:
        """Draw x [T, batch_size, 2 + 10 max_gates] and y [T, batch_size], float32; T is the length, or max_length."""
        ends, T = _ends(self, batch_size, generator, length)
        bits = torch.rand(T, batch_size, 2, generator=generator, device=ends.device) < 0.5
        bits[1:, :, 0] = False
        gates = torch.randint(10, (T, batch_size, self.max_gates), generator=generator, device=ends.device)
        n_gates = torch.randint(1, self.max_gates + 1, (T, batch_size), generator=generator, device=ends.device)
        x = (torch.cat([bits, _chunks(gates, n_gates)], 2) * _before(ends, T)[:, :, None]).float()
        return x, self.answers(x)

    def answers(self, x: Tensor) -> Tensor:
        """Return the targets of inputs x: [T, batch], 0.0, 1.0, or -1.0 where there is no gate."""
        truth = torch.tensor([[int(bit) for bit in bits] for bits in GATES], device=x.device).float()
        chunks = x[:, :, 2:].unflatten(2, (self.max_gates, 10))
        is_gate, gate = chunks.amax(3) > 0, chunks.argmax(3)
        now, answers = x[0, :, 0], []
        for t in range(len(x)):
            before, now = now, x[t, :, 1]
            for i in range(self.max_gates):
                applies = is_gate[t, :, i]
                after = truth[gate[t, :, i], (3 - 2 * now - before).long()]
                before = torch.where(applies, now, before)
                now = torch.where(applies, after, now)
            answers.append(torch.where(is_gate[t, :, 0], now, float(NO_TARGET)))
        return torch.stack(answers)

    def difficulty(self, x: Tensor) -> Tensor:
        """Return the number of gates: int64 [T, batch]."""
        return x[:, :, 2:].sum(2).long()


@dataclass(frozen=True)
class RunningSumTask:
    """Decimal numbers come one after the other; what is their sum so far? (Addition, Sec. 3.3.)

    Sequences have 1 to max_length numbers, of 1 to max_digits digits, each digit drawn from 0 to 9: the first chunks of
    10 say which, and the rest is zero. The answer has max_digits + 1 places, with class 10 behind the sum's last digit;
    the first number has no target. The paper does not say in which order digits stand; here units come first.
    ValueError or TypeError unless max_length is an integer in [1, 10], and max_digits one in [1, 17].
    """

    max_length: int = 5
    max_digits: int = 5

    def __post_init__(self) -> None:
        check_int("max_length", self.max_length, 1, 10)
        check_int("max_digits", self.max_digits, 1, 17)  # sums are int64

    def batch(self, batch_size: int, generator: Generator | None = None, length: int | None = None) -> Batch:
        """Draw x [T, batch_size, 10 max_digits], float32, and y [T, batch_size, max_digits + 1], int64; T as above."""
        ends, T = _ends(self, batch_size, generator, length)
        digits = torch.randint(10, (T, batch_size, self.max_digits), generator=generator, device=ends.device)
        n_digits = torch.randint(1, self.max_digits + 1, (T, batch_size), generator=generator, device=ends.device)
        x = (_chunks(digits, n_digits) * _before(ends, T)[:, :, None]).float()
        return x, self.answers(x)

    def answers(self, x: Tensor) -> Tensor:
        """Return the targets of inputs x: int64 [T, batch, max_digits + 1]; 10 behind the last digit, -1: none."""
        chunks = x.unflatten(2, (self.max_digits, 10))
        places = torch.arange(self.max_digits + 1, device=x.device)
        sums = (chunks.argmax(3) * 10 ** places[:-1]).sum(2).cumsum(0)[:, :, None]  # [T, batch, 1]
        y = torch.where((sums < 10**places) & (places > 0), END, sums // 10**places % 10)
        y[0] = NO_TARGET
        return torch.where(self.difficulty(x)[:, :, None] > 0, y, NO_TARGET)

    def difficulty(self, x: Tensor) -> Tensor:
        """Return the number of digits that come in: int64 [T, batch]."""
        return x.sum(2).long()


@dataclass(frozen=True)
class SortTask:
    """Numbers come one at a time; afterwards, name them in ascending order, one at a time (Sec. 3.4).

    Sequences have 2 to max_length numbers ~ N(0, 1). An input is a number and a flag, 1 at the last; then zeros, as
    many as there were numbers, while the answers are the numbers' indices, smallest number first.
    ValueError or TypeError unless max_length is an integer >= 2.
    """

    max_length: int = 15

    def __post_init__(self) -> None:
        check_int("max_length", self.max_length, 2)

    def batch(self, batch_size: int, generator: Generator | None = None, length: int | None = None) -> Batch:
        """Draw x [T, batch_size, 2], float32, and y [T, batch_size], int64; T is twice the length, or max_length."""
        ends, n = _ends(self, batch_size, generator, length)
        before = _before(ends, n)
        numbers = torch.randn(n, batch_size, generator=generator, device=ends.device, dtype=torch.float32)
        numbers = numbers.where(before, 0.0)
        is_last = torch.arange(1, n + 1, device=ends.device)[:, None] == ends
        x = pad(torch.stack([numbers, is_last.float()], 2), (0, 0, 0, 0, 0, n))  # n inputs, n answers
        order = numbers.where(before, torch.inf).argsort(0)
        t = torch.arange(2 * n, device=ends.device)[:, None] - ends  # since the last number
        y = torch.where((t >= 0) & (t < ends), order.gather(0, t.clamp(0, n - 1)), NO_TARGET)
        return x, y

    @staticmethod
    def difficulty(x: Tensor) -> Tensor:
        """Return how many numbers the sequence has, at each time step: int64 [T, batch]."""
        return (x[:, :, 1].argmax(0) + 1).expand(len(x), -1)


def _ends(
    task: LogicTask | RunningSumTask | SortTask, batch_size: int, generator: Generator | None, length: int | None
) -> tuple[Tensor, int]:
    """Return how many inputs each sequence has [batch], and how many at most."""
    shortest = 2 if isinstance(task, SortTask) else 1
    check_int("batch_size", batch_size, 1)
    device = check_generator(generator)
    if length is not None:
        check_int("length", length, shortest, task.max_length)
        return torch.full((batch_size,), length, device=device), length
    ends = torch.randint(shortest, task.max_length + 1, (batch_size,), generator=generator, device=device)
    return ends, task.max_length


def _chunks(classes: Tensor, n: Tensor) -> Tensor:
    """Return chunks of ten, one-hot in the first n: [T, batch, chunks] and [T, batch] -> [T, batch, 10 chunks]."""
    is_first = torch.arange(classes.shape[2], device=n.device) < n[..., None]
    return (one_hot(classes, 10) * is_first[..., None]).flatten(2)


def _before(ends: Tensor, T: int) -> Tensor:
    return torch.arange(T, device=ends.device)[:, None] < ends
