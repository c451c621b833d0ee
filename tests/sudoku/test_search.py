"""Searches find the sudoku, take back what contradicts itself, and cost what their thoughts cost."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from rule import Rule

from ponder_course.sudoku import search
from ponder_course.sudoku.lesson import solve
from ponder_course.sudoku.task import SudokuTask, read_board, signs, sudoku_groups


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_every_small_board_is_solved_though_elimination_cannot_finish_it(seed):
    generator = torch.Generator().manual_seed(seed)
    solved = SudokuTask(2).solved(1, generator)[0] + 1
    board = torch.where(torch.rand(4, 4, generator=generator) < 0.35, solved, 0)
    found = solve(Rule(sudoku_groups(2), 2), board)
    for full in (solved, found.solved):
        boxes = full.view(2, 2, 2, 2).transpose(1, 2).reshape(4, 4)
        for lines in (full, full.T, boxes):
            assert torch.equal(lines.sort(1).values, torch.arange(1, 5).expand(4, 4))
    assert torch.equal(torch.where(board > 0, found.solved, 0), board)
    assert found.guesses == len(found.thoughts) - 1
    assert found.steps == sum(thought.steps for thought in found.thoughts)
    for thought in found.thoughts[1:]:
        parent, (row, column, digit) = found.thoughts[thought.parent], thought.guess
        assert search.fits(parent.answers)
        assert parent.answers[row, column] == 0
        assert thought.board[row, column] == digit
        assert ((thought.board != parent.answers).sum()) == 1


def test_thinking_ends_when_no_cell_halts_any_more_or_all_have():
    board = read_board(search.PUZZLES["Inkala 2010"])[0]
    need = SudokuTask.needed_steps(signs(board[None])).view(9, 9)
    rule = Rule(sudoku_groups(3), 2)
    answers, steps = search.think_until_quiet(rule, board, quiet=3)
    assert steps == need.max() + 3
    assert torch.equal(answers > 0, need > 0)
    done = SudokuTask(3).solved(1)[0] + 1
    assert search.think_until_quiet(rule, done)[1] == 0
    assert search.think_until_quiet(rule, board, max_steps=2)[1] == 2


def test_a_digit_that_stands_twice_does_not_fit():
    for row, column in ((0, 2), (2, 0), (1, 1)):  # in its row, its column, its box
        board = torch.zeros(4, 4, dtype=torch.int64)
        board[0, 0] = board[row, column] = 1
        assert not search.fits(board)
