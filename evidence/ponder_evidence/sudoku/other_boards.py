"""Lesson 10's networks on larger sudokus, on sudokus that are no shuffles of one board, and on random covers."""

import random
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from ponder_course.common.measures import think
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.sudoku.covers import Places, instances, on_cover, solution
from ponder_course.sudoku.experiment import learn, measure
from ponder_course.sudoku.lesson import on_boards
from ponder_course.sudoku.task import SudokuTask, signs, sudoku_groups
from ponder_evidence.runs import grid
from ponder_evidence.sudoku.covers import measure as measure_cover
from ponder_utils.pondernet import PonderNet

BOARDS, LARGE, COVERS = 20, 4, 60  # of 9 x 9, of 16 x 16 and 25 x 25, and covers


def random_board(seed: int) -> Tensor:
    """Return a solved sudoku of 9 x 9, found by a search that tries in a random order: int64 [9, 9], digits from 1."""
    on = solution(sudoku_groups(3).members.tolist(), seed)
    digits = torch.zeros(81, dtype=torch.int64)
    for place in on:
        digits[place // 9] = place % 9 + 1
    return digits.view(9, 9)


def peeled(board: Tensor, seed: int) -> Tensor:
    """Take digits away, in a random order, as long as elimination finds the others: int64 [9, 9], 0 where open."""
    board = board.clone()
    for cell in torch.randperm(81, generator=torch.Generator().manual_seed(seed)).tolist():
        row, column = divmod(cell, 9)
        digit = int(board[row, column])
        board[row, column] = 0
        if (SudokuTask.needed_steps(signs(board[None])) == 0).any():
            board[row, column] = digit
    return board


@cache
def boards(n: int, n_large: int) -> dict[str, Tensor]:
    """Return boards x of each kind, the same at every call, as `SudokuTask` draws them."""
    generator = torch.Generator().manual_seed(105)
    solved = torch.stack([random_board(seed) for seed in range(n)])
    share = 0.25 + 0.25 * torch.rand(n, 1, 1, generator=generator)
    is_given = torch.rand(solved.shape, generator=generator) < share
    return {
        "9 x 9": signs(torch.where(is_given, solved, 0)),
        "9 x 9, peeled": signs(torch.stack([peeled(board, seed) for seed, board in enumerate(solved)])),
        "16 x 16": SudokuTask(4, 0.4, 0.6).batch(n_large, generator)[0],
        "25 x 25": SudokuTask(5, 0.45, 0.6).batch(n_large, generator)[0],
    }


def random_cover(seed: int, n_questions: int = 20, n_others: int = 40) -> tuple[Places, int]:
    """Return groups of an exact cover that has a solution, and the number of its questions.

    Each question has 2 to 6 places, of which the first is on; each other group takes one that is on, and 1 to 5 more.
    """
    generator = random.Random(seed)
    groups: Places = []
    n_places = 0
    for _ in range(n_questions):
        size = generator.randint(2, 6)
        groups.append([*range(n_places, n_places + size)])
        n_places += size
    on = [group[0] for group in groups]
    off = [place for group in groups for place in group[1:]]
    for _ in range(n_others):
        groups.append([generator.choice(on), *generator.sample(off, generator.randint(1, 5))])
    return groups, n_questions


@cache
def covers(n: int) -> list[Any]:
    """Return the tables and the instance of each of n covers drawn at random, the same at every call."""
    return [instances(partial(random_cover, seed), 1, 0.1, 0.5) for seed in range(n)]


def run(seed: int, n: int = BOARDS, n_large: int = LARGE, n_covers: int = COVERS, **setting: Any) -> Row:
    """Train a network and measure it.

    {kind: of the open "cells" that elimination can know, how many are "wrong", halt "too early" or "exactly", and the
    last of their "rounds"; of the others, "unknown" of them, how many have "given up"}; "covers" are added up, and have
    "questions" in place of "cells".
    """
    model = learn(seed, **setting)
    counted = ("wrong", "too early", "exactly", "unknown", "given up")
    measures: Row = {}
    for name, x in boards(n, n_large).items():
        box = round(x.shape[1] ** 0.5)
        rounds = int(SudokuTask.needed_steps(x).max())
        test = measure(think(PonderNet(on_boards(model, box), rounds + 20), x, rounds + 20), x)
        measures[name] = {what: test[what] for what in ("cells", *counted)} | {"rounds": rounds}
    of_covers = [measure_cover(on_cover(model.step, tables), tables, x) for tables, x in covers(n_covers)]
    measures["covers"] = {what: sum(test[what] for test in of_covers) for what in ("questions", *counted)}
    measures["covers"]["rounds"] = max(test["rounds"] for test in of_covers)
    return rounded(measures)


SHORT: Row = {"n": 1, "n_large": 1, "n_covers": 2, "updates": 5, "batch": 8}
EXPERIMENTS = {"other boards": grid("10_sudoku_other", run, seeded([{}], range(20, 24)), SHORT)}
