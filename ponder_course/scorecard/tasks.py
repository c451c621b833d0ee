"""The tasks of the scorecard: those of the lessons, all as tokens at places, at a size to train on and a larger one.

What "need" means is a matter of the task, and of who hears whom in a loop:

    lines, columns  how far the news has to come, for places that know themselves after loop 1 and hear one place to
        either side in each further loop. A convolution over the input is a loop earlier.
    mazes  likewise, from the nearest star through open places, for places that hear the eight around them.
    programs  ceil(log2(arrows)), for tokens that read one other token in a loop, and learn what that one knows by now.
    sudoku  the round in which elimination knows the cell. It belongs to a rule: who knows a better one is earlier.

A network in which every place hears all others at once, or which applies several layers in a loop, may rightly be
earlier: so the scorecard also says how many of the early answers are right.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ponder_course.common.lines import AdditionTask, LineParityTask
from ponder_course.map_of_thought.task import MazeTask
from ponder_course.sudoku.task import SudokuTask
from ponder_course.who_leaves_early.experiment import MAX_DEPTH, N_QUESTIONS, N_VARIABLES
from ponder_course.who_leaves_early.task import DIGITS, ProgramTask, two_chains


class Questions(NamedTuple):
    """A batch: what is asked, the answers, and after how many loops each can be known."""

    x: Tensor  # int64 [batch, *places, symbols], from 0 to n_tokens - 1
    y: Tensor  # int64 [batch, *places], below 0 where nothing is asked
    need: Tensor  # int64 [batch, *places]


Draw = Callable[[int, torch.Generator], Questions]  # batch size, generator


class Size(NamedTuple):
    """A task at one size."""

    name: str
    draw: Draw


@dataclass(frozen=True)
class Task:
    """A task of the scorecard."""

    name: str
    n_tokens: int
    n_symbols: int  # tokens that stand at each place
    n_answers: int
    n_loops: int  # in training
    trained: Size
    larger: Size
    is_text: bool = False  # no token may read a later one


def _of_lines(task: LineParityTask | AdditionTask) -> Draw:
    def draw(n: int, generator: torch.Generator) -> Questions:
        x, y = task.batch(n, generator)
        return Questions(x.mT.long(), y.long(), task.needed_steps(x))

    return draw


def _of_mazes(task: MazeTask) -> Draw:
    def draw(n: int, generator: torch.Generator) -> Questions:
        x, y = task.batch(n, generator)
        is_open, first, second = x.long().unbind(1)
        return Questions((is_open + first + 2 * second)[..., None], y.long(), task.needed_steps(x))

    return draw


def _of_sudokus(task: SudokuTask) -> Draw:
    def draw(n: int, generator: torch.Generator) -> Questions:
        x, y = task.batch(n, generator)
        is_given = x == 1  # [boards, row, column, digit]
        digits = torch.where(is_given.any(3), is_given.byte().argmax(3) + 1, 0)
        return Questions(digits[..., None], y.view_as(digits), task.needed_steps(x).view_as(digits))

    return draw


def _of_programs(task: ProgramTask, chains: bool) -> Draw:
    def draw(n: int, generator: torch.Generator) -> Questions:
        x = two_chains(task, n, generator) if chains else task.batch(n, generator)[0]
        y = task.answers(x)
        y[:, : task.n_variables] = -1  # after a statement any digit may follow
        return Questions(x, y, task.needed_steps(x))

    return draw


def _all() -> list[Task]:
    short, long = _of_lines(LineParityTask(16)), _of_lines(LineParityTask(64))
    lines = Task("lines", 2, 2, 2, 20, Size("16 places", short), Size("64 places", long))
    short, long = _of_lines(AdditionTask(16, None)), _of_lines(AdditionTask(64, None))
    columns = Task("columns", 2, 2, 2, 20, Size("16 digits", short), Size("64 digits", long))
    small, large = _of_mazes(MazeTask(5)), _of_mazes(MazeTask(10))
    mazes = Task("mazes", 4, 1, 2, 24, Size("9 x 9", small), Size("19 x 19", large))
    shallow = _of_programs(ProgramTask(N_VARIABLES, N_QUESTIONS, MAX_DEPTH), chains=False)
    chains = Size("two chains of 10", _of_programs(ProgramTask(N_VARIABLES, N_QUESTIONS), chains=True))
    n_tokens = N_VARIABLES + DIGITS + 1
    programs = Task("programs", n_tokens, 2, DIGITS, 10, Size("at most 7 copies", shallow), chains, is_text=True)
    small, large = _of_sudokus(SudokuTask(2)), _of_sudokus(SudokuTask(3))
    sudoku = Task("sudoku", 10, 1, 9, 12, Size("4 x 4", small), Size("9 x 9", large))
    return [lines, columns, mazes, programs, sudoku]


TASKS = {task.name: task for task in _all()}
