"""Programs as texts: statements that copy variables, and questions; and how many loops each token needs."""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from ponder_course.alone_and_together.task import grow
from ponder_utils._check import check_generator, check_int

DIGITS = 10
N_VARIABLES, N_QUESTIONS = 16, 4


@dataclass(frozen=True)
class ProgramTask:
    """`a=3; b=a; c=b; c?`: which digit has the variable that a statement sets, or that a question names?

    Each statement sets a variable of its own, to a digit or to a variable that an earlier statement has set. Questions
    stand at the end. Each program has its own rates, as a `ForestTask` has: n_variables^-u are digits, u ~ U(1/2, 1);
    of the others sqrt(U(0, 1)) copy the statement before. A variable that would stand more than max_depth variables
    above a digit (None: no limit) is set to a digit instead. TypeError or ValueError unless all numbers are >= 0, and
    n_variables >= 1.
    """

    n_variables: int = N_VARIABLES
    n_questions: int = N_QUESTIONS
    max_depth: int | None = None

    def __post_init__(self) -> None:
        check_int("n_variables", self.n_variables, 1)
        check_int("n_questions", self.n_questions, 0)
        if self.max_depth is not None:
            check_int("max_depth", self.max_depth, 0)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x, what each statement sets and what to, int64 [batch_size, statements, 2]; and y, their digits.

        Variables are 0, ..., n_variables - 1; then come the ten digits, and the question mark, which questions set.
        """
        n, device = self.n_variables, check_generator(generator)
        rand = partial(torch.rand, generator=generator, device=device)
        shape = (check_int("batch_size", batch_size, 1), n)
        names = rand(shape).argsort(1)
        is_digit = rand(shape) < n ** -(0.5 + rand(batch_size, 1) / 2)
        in_chain = rand(shape) < rand(batch_size, 1).sqrt()
        source = grow(is_digit, in_chain, rand(shape), self.max_depth)  # an earlier statement, or itself: a digit
        digits = torch.randint(DIGITS, shape, generator=generator, device=device)
        set_to = torch.where(source == torch.arange(n, device=device), n + digits, names.gather(1, source))
        asked = (rand(batch_size, self.n_questions) * n).long()  # in which variables are asked
        questions = torch.stack([torch.full_like(asked, n + DIGITS), asked], 2)
        x = torch.cat([torch.stack([names, set_to], 2), questions], 1)
        return x, self.answers(x)

    def _follow(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the digit of each statement, and how many arrows lead there: a statement's own is the first."""
        n = self.n_variables
        # What each variable is set to; a digit is itself.
        values = torch.arange(n + DIGITS, device=x.device).repeat(len(x), 1)
        values.scatter_(1, x[:, :n, 0], x[:, :n, 1])
        here, arrows = x[:, :, 1], torch.ones_like(x[:, :, 1])
        for _ in range(n):
            arrows += here < n
            here = values.gather(1, here)
        return here - n, arrows

    def answers(self, x: Tensor) -> Tensor:
        """Return the digit of each statement and question of x [batch, statements, 2]: int64 [batch, statements]."""
        return self._follow(x)[0]

    def arrows(self, x: Tensor) -> Tensor:
        """Return how many arrows lead from each statement to its digit, `b=a` the first: int64 [batch, statements]."""
        return self._follow(x)[1]

    def needed_steps(self, x: Tensor) -> Tensor:
        """Return the step before which the digit cannot be known, by (1) of lesson 08: int64 [batch, statements].

        A statement knows one arrow, its own: `b=a` leads from b to a. After step n it knows 2^n.
        """
        exact = self.arrows(x).cpu().double().log2()  # not every device has float64
        return exact.ceil().long().clamp(min=1).to(x.device)

    def points_at(self, x: Tensor) -> Tensor:
        """Return where the statement stands that each statement or question of x copies: int64 [batch, statements].

        A statement that sets a digit points at itself.
        """
        n, variable = self.n_variables, x[:, :, 1]
        own = torch.arange(x.shape[1], device=x.device).expand_as(variable)
        places = torch.zeros_like(x[:, :n, 0]).scatter_(1, x[:, :n, 0], own[:, :n])
        return torch.where(variable < n, places.gather(1, variable.clamp(max=n - 1)), own)

    def needed_loops(self, x: Tensor, loops: Tensor) -> Tensor:
        """Return the loop before which a digit cannot be known, if others leave: int64 [batch, statements].

        loops: after how many loops each token leaves, at least 1, of the same shape. In loop n a token reads the one
        that its last known arrow leads to, and takes over all arrows that this one shows: those that it knew after
        loop n - 1, or, if it has left, after its last loop. A token's own leaving does not change its own need.
        """
        arrows, at = self.arrows(x), self.points_at(x)
        known = torch.ones_like(arrows)  # arrows, its own the first; `at`: where the last of them leads
        shown_known, shown_at = known, at
        needed = (known >= arrows).long()
        n = 0
        while (needed == 0).any():
            n += 1
            known, at = known + shown_known.gather(1, at), shown_at.gather(1, at)
            needed[(needed == 0) & (known >= arrows)] = n
            shown_known = torch.where(n <= loops, known, shown_known)
            shown_at = torch.where(n <= loops, at, shown_at)
        return needed

    def as_text(self, x: Tensor) -> list[str]:
        """Return the statements and questions of one program x [statements, 2], such as "b=a" and "b?"."""
        names = [*"abcdefghijklmnopqrstuvwxyz"[: self.n_variables], *"0123456789"]
        mark = len(names)
        return [f"{names[to]}?" if sets == mark else f"{names[sets]}={names[to]}" for sets, to in x.tolist()]


def two_chains(task: ProgramTask, n_texts: int, generator: torch.Generator | None = None) -> Tensor:
    """Draw texts of two chains of equal length, interleaved at random, that end in two digits: x as `ProgramTask` has.

    Each digit belongs to half of the variables, so that nothing but the arrows tells which is asked for: whoever does
    not follow them is right half the time. ValueError if the number of variables is odd.
    """
    n = task.n_variables
    if n % 2:
        raise ValueError(f"task must have an even number of variables; got {n}")
    x, _ = task.batch(n_texts, generator)
    names, texts = x[:, :n, 0], torch.arange(n_texts)
    chain = torch.rand(n_texts, n, generator=generator).argsort(1) % 2  # of each statement, 0 or 1
    last = n + torch.rand(n_texts, DIGITS, generator=generator).argsort(1)[:, :2]  # what the next of a chain is set to
    for i in range(n):
        x[:, i, 1] = last[texts, chain[:, i]]
        last[texts, chain[:, i]] = names[:, i]
    asked = torch.randint(n, (n_texts, task.n_questions), generator=generator)
    x[:, n:, 1] = names.gather(1, asked)
    return x
