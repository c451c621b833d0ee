"""Thinking fast and slow: where no cell halts any more, guess a digit, and think again."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from ponder_course.sudoku.task import signs
from ponder_utils.steps import Step

QUIET = 4  # steps in which no cell halts, after which none will
PUZZLES = {  # 17 digits are the fewest that a sudoku of 9 x 9 can have; two by A. Inkala, which newspapers printed
    "17 digits": "000000010400000000020000000000050407008000300001090000300400200050100000000806000",
    "Inkala 2010": "005300000800000020070010500400005300010070006003200080060500009004000030000009700",
    "Inkala 2012": "800000000003600000070090200050007000000045700000100030001000068008500010090000400",
}

Think = Callable[[Any, Tensor], tuple[Tensor, int]]  # step, board -> answers, 0 where there is none, and steps


@dataclass
class Thought:
    """One thought of a search: what it begins with, and later what it has found, and in how many steps."""

    board: Tensor  # int64 [side, side], digits from 1, 0 where open: what it begins with
    parent: int = -1  # the thought before the guess, by its number; -1 for the first
    guess: tuple[int, int, int] | None = None  # row, column and digit, from 0, 0 and 1; None if one was left
    answers: Tensor = field(default_factory=lambda: torch.empty(0))  # as board, of the cells that have halted, too
    steps: int = 0


@dataclass
class Search:
    """All thoughts about one sudoku, in their order; `solved` is its board, or None if it was not found."""

    thoughts: list[Thought] = field(default_factory=list)
    solved: Tensor | None = None

    @property
    def steps(self) -> int:
        """All steps of all thoughts."""
        return sum(thought.steps for thought in self.thoughts)

    @property
    def guesses(self) -> int:
        """How many thoughts began with a guess."""
        return sum(thought.guess is not None for thought in self.thoughts)


@torch.no_grad()
def think_until_quiet(step: Step, board: Tensor, quiet: int = QUIET, max_steps: int = 200) -> tuple[Tensor, int]:
    """Think about one board until all open cells have halted, or none has for a while; return the answers, and steps.

    board: int64 [side, side], 0 where a cell is open; and so are the answers, with 0 in cells that have not halted.
    What is given stays.
    """
    side = len(board)
    z, h = step.encode(signs(board[None]))
    answers = board.flatten().clone()
    last = n = 0
    while n < max_steps and n - last < quiet and not answers.all():
        h = step.move(z, h)
        n += 1
        y_hat, a = step.read(h)
        halts = (a[0] > 0) & (answers == 0)
        if halts.any():
            answers[halts], last = y_hat[0].argmax(1)[halts] + 1, n
    return answers.view(side, side), n


def _digits(board: Tensor) -> tuple[Tensor, Tensor]:
    """Return where each digit stands, by row and column, and by box and cell of it: bool [side, side, digits] each."""
    side = len(board)
    box = round(side**0.5)
    is_digit = board[..., None] == torch.arange(1, side + 1)
    return is_digit, is_digit.view(box, box, box, box, side).transpose(1, 2).reshape(side, side, side)


def left(board: Tensor) -> Tensor:
    """Return which digits no peer of a cell has: bool [side, side, digits], for a board [side, side]."""
    is_digit, by_box = _digits(board)
    box = round(len(board) ** 0.5)
    in_box = by_box.any(1).view(box, box, -1).repeat_interleave(box, 0).repeat_interleave(box, 1)
    return ~(is_digit.any(1, keepdim=True) | is_digit.any(0, keepdim=True) | in_box)


def fits(board: Tensor) -> bool:
    """Return whether no digit stands twice in a row, a column or a box, and every open cell has a digit left."""
    is_digit, by_box = _digits(board)
    twice = any(bool((places.sum(axis) > 1).any()) for places, axis in ((is_digit, 0), (is_digit, 1), (by_box, 1)))
    return not twice and bool(left(board).any(2)[board == 0].all())


def guesses(answers: Tensor, parent: int) -> list[Thought]:
    """Return a thought for each digit that is left in the cell with the fewest, the smallest digit last.

    answers: [side, side], 0 where a cell waits; parent: the number of the thought that has found them.
    """
    digits = left(answers)
    n_left = digits.sum(2).masked_fill(answers > 0, len(answers) + 1)
    row, column = divmod(int(n_left.argmin()), len(answers))
    thoughts = []
    for digit in reversed((digits[row, column].nonzero()[:, 0] + 1).tolist()):
        guessed = answers.clone()
        guessed[row, column] = digit
        thoughts.append(Thought(guessed, parent, (row, column, digit) if n_left.min() > 1 else None))
    return thoughts
