"""Sudokus that elimination cannot finish, and what a search for their solutions costs, with the halt and without."""

from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from ponder_course.common.runs import seeded
from ponder_course.common.store import Row
from ponder_course.common.trained import set_up
from ponder_course.sudoku.cover import rounds
from ponder_course.sudoku.experiment import learn
from ponder_course.sudoku.lesson import CoverStep, on_boards, solve, untrained
from ponder_course.sudoku.search import PUZZLES, left, think_until_quiet
from ponder_course.sudoku.task import SudokuTask, read_board, signs
from ponder_evidence.runs import Experiment
from ponder_evidence.sudoku.experiment import CERTAINTY, REPORTING

N_HARD = 50
FIXED = (8, 16, 32, 64)  # steps of each thought of a search without the halt


def n_solutions(board: Tensor, limit: int = 2) -> int:
    """Return how many solutions a board [side, side] has, and `limit` if there are more, by trying digits."""
    side = len(board)
    digits = left(board).masked_fill((board > 0)[..., None], False)
    n_left = digits.sum(2).masked_fill(board > 0, side + 1)
    if n_left.min() == side + 1:
        return 1
    row, column = divmod(int(n_left.argmin()), side)
    n = 0
    for digit in digits[row, column].nonzero()[:, 0].tolist():
        board[row, column] = digit + 1
        n += n_solutions(board, limit - n)
        board[row, column] = 0
        if n >= limit:
            break
    return n


def minimal(generator: torch.Generator) -> Tensor:
    """Draw a sudoku of 9 x 9 with one solution, which has several without any one of its digits: int64 [9, 9]."""
    board = SudokuTask(3).solved(1, generator)[0] + 1
    for cell in torch.randperm(81, generator=generator).tolist():
        row, column = divmod(cell, 9)
        digit = int(board[row, column])
        board[row, column] = 0
        if n_solutions(board.clone()) > 1:
            board[row, column] = digit
    return board


@cache
def hard_sudokus(n: int = N_HARD, seed: int = 0) -> tuple[Tensor, ...]:
    """Return the first n sudokus drawn that are `minimal`, and of which elimination leaves cells open."""
    generator, boards = torch.Generator().manual_seed(seed), list[Tensor]()
    while len(boards) < n:
        board = minimal(generator)
        if (SudokuTask.needed_steps(signs(board[None])) == 0).any():
            boards.append(board)
    return tuple(boards)


class CertainStep(CoverStep):
    """A step without a halting head: a cell halts once it is certain of a digit."""

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return the answers and, in place of halting logits, what is above 0 in cells that are certain."""
        y_hat, _ = super().read(h)
        return y_hat, y_hat.softmax(2).amax(2) - CERTAINTY


@torch.no_grad()
def think_fixed(step: CoverStep, board: Tensor, n_steps: int) -> tuple[Tensor, int]:
    """Think for so many steps, and answer in the cells that are certain then: as `think_until_quiet` does it."""
    z, h = step.encode(signs(board[None]))
    for _ in range(n_steps):
        h = step.move(z, h)
    certainty, digit = step.read(h)[0][0].softmax(1).max(1)
    answers = torch.where(certainty >= CERTAINTY, digit + 1, 0).view_as(board)
    return torch.where(board > 0, board, answers), n_steps


def eliminate(step: CoverStep, board: Tensor) -> tuple[Tensor, int]:
    """Apply the rule itself in place of a network, in as many steps as it has rounds."""
    known, since = rounds(signs(board[None]).flatten(1), step.groups)
    is_on = known.view(len(board), len(board), -1) == 1
    return torch.where(is_on.any(2), is_on.long().argmax(2) + 1, 0), int(since.max())


def guess_at_once(step: CoverStep, board: Tensor) -> tuple[Tensor, int]:
    """Think not at all: what is left is found by guesses alone."""
    return board, 0


def cost(step: CoverStep, board: Tensor, max_thoughts: int, thinks: Any = think_until_quiet) -> Row:
    """Return what a search for one sudoku costs, and whether it has found a board that fits."""
    search = solve(step, board, max_thoughts, thinks)
    counts = {"thoughts": len(search.thoughts), "guesses": search.guesses, "steps": search.steps}
    return {"solved": search.solved is not None} | counts


def run(seed: int, n: int, max_thoughts: int = 10_000, **setting: Any) -> Row:
    """Train a network and let it search: {kind of search: {sudoku: its `cost`}}, of n that are hard, and `PUZZLES`."""
    step = on_boards(learn(seed, **setting), 3)
    boards = {f"hard {i}": board for i, board in enumerate(hard_sudokus(n))}
    boards |= {name: read_board(text)[0] for name, text in PUZZLES.items()}
    kinds: dict[str, Any] = {"the halt": think_until_quiet, "the rule": eliminate, "guesses alone": guess_at_once}
    kinds |= {f"{n} steps": partial(think_fixed, n_steps=n) for n in FIXED}
    costs: Row = {}
    for kind, thinks in kinds.items():
        costs[kind] = {name: cost(step, board, max_thoughts, thinks) for name, board in boards.items()}
    return costs


def run_without_head(seed: int, n: int) -> Row:
    """Let the lesson's network search n hard sudokus by its head, and by certainty: {kind: {sudoku: its `cost`}}."""
    load = set_up({"TRAIN": "none", "BUDGET": "class"}, "10_sudoku")
    (model,) = load(learn, [{"seed": seed}], untrained)
    step = on_boards(model, 3)
    certain = CertainStep(step.groups, step.heads.in_features)
    certain.load_state_dict(step.state_dict())
    costs: Row = {}
    for kind, thinker in {"the halt": step, "certainty": certain.eval()}.items():
        costs[kind] = {f"hard {i}": cost(thinker, board, 10_000) for i, board in enumerate(hard_sudokus(n))}
    return costs


SHORT: Row = {"seed": 0, "n": 1, "updates": 5, "max_thoughts": 3}
EXPERIMENTS = {
    "search": Experiment("10_sudoku_search", run, seeded([{"n": N_HARD}], REPORTING[:5]), [SHORT]),
    "no head": Experiment(
        "10_sudoku_no_head", run_without_head, seeded([{"n": 10}], range(20, 23)), [{"seed": 20, "n": 1}]
    ),
}
