"""Searches find the sudoku, take back what contradicts itself, and cost what their thoughts cost."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ponder_course.sudoku import search
from ponder_course.sudoku.cover import CoverStep, rounds
from ponder_course.sudoku.task import SudokuTask, read_board, signs, sudoku_groups


class Eliminates:
    """A step that knows at step n what elimination knows in round n, in place of a network."""

    def __init__(self, box):
        self.groups, self.side = sudoku_groups(box), box**2

    def encode(self, x):
        known, found = rounds(x.flatten(1), self.groups)
        return (known, found), 0

    def move(self, z, n):
        self.z = z
        return n + 1

    def read(self, n):
        known, found = (part.view(1, -1, self.side) for part in self.z)
        is_on = (known == 1) & (found <= n)
        return is_on.float(), torch.where(is_on.any(2), 5.0, -5.0)


def solutions(board, box):
    """All ways to fill a board of 4 x 4, by trying all rows."""
    side = box**2

    def fit(line, row):
        return all(given in (0, digit) for given, digit in zip(line, row, strict=True))

    rows = [[row for row in itertools.permutations(range(1, side + 1)) if fit(line, row)] for line in board.tolist()]
    found = []
    for filled in itertools.product(*rows):
        columns = all(len(set(column)) == side for column in zip(*filled, strict=True))
        boxes = [{filled[r + i][c + j] for i in range(box) for j in range(box)} for r in (0, 2) for c in (0, 2)]
        if columns and all(len(square) == side for square in boxes):
            found.append([list(row) for row in filled])
    return found


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6))
def test_every_small_board_is_solved_though_elimination_cannot_finish_it(seed):
    generator = torch.Generator().manual_seed(seed)
    solved = SudokuTask(2).solved(1, generator)[0] + 1
    board = torch.where(torch.rand(4, 4, generator=generator) < 0.35, solved, 0)
    found = search.solve(Eliminates(2), board)
    assert found.solved.tolist() in solutions(board, 2)
    assert found.guesses == len(found.thoughts) - 1
    assert found.steps == sum(thought.steps for thought in found.thoughts)
    for thought in found.thoughts[1:]:
        parent, (row, column, digit) = found.thoughts[thought.parent], thought.guess
        assert parent.fits
        assert parent.answers[row, column] == 0
        assert thought.board[row, column] == digit
        assert ((thought.board != parent.answers).sum()) == 1


def test_a_board_that_contradicts_itself_has_no_solution():
    board = torch.zeros(4, 4, dtype=torch.int64)
    board[0, :3], board[1, 3] = torch.tensor([1, 2, 3]), 4  # nothing is left for the last cell of the row
    found = search.solve(Eliminates(2), board)
    assert found.solved is None
    assert [thought.fits for thought in found.thoughts] == [False]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_digits_are_left_where_no_peer_has_them(seed, box):
    side, generator = box**2, torch.Generator().manual_seed(seed)
    board = torch.randint(0, side + 1, (side, side), generator=generator)
    board[torch.rand(side, side, generator=generator) < 0.8] = 0
    found = search.left(board)
    fits = True
    for row, column in itertools.product(range(side), repeat=2):
        top, left = row - row % box, column - column % box
        cells = {(row, c) for c in range(side)} | {(r, column) for r in range(side)}
        cells |= {(r, c) for r in range(top, top + box) for c in range(left, left + box)}
        peers = {int(board[cell]) for cell in cells - {(row, column)}}
        if board[row, column]:
            fits = fits and int(board[row, column]) not in peers
        else:
            wanted = [digit not in peers for digit in range(1, side + 1)]
            assert found[row, column].tolist() == wanted
            fits = fits and any(wanted)
    assert search.fits(board) == fits


def test_thinking_ends_when_no_cell_halts_any_more_or_all_have():
    board = read_board(search.PUZZLES["Inkala 2010"])[0]
    need = SudokuTask.needed_steps(signs(board[None])).view(9, 9)
    answers, steps = search.think_until_quiet(Eliminates(3), board, quiet=3)
    assert steps == need.max() + 3
    assert torch.equal(answers > 0, need > 0)
    done = SudokuTask(3).solved(1)[0] + 1
    assert search.think_until_quiet(Eliminates(3), done)[1] == 0
    assert search.think_until_quiet(Eliminates(3), board, max_steps=2)[1] == 2


@pytest.mark.parametrize("name", search.PUZZLES)
def test_puzzles_have_one_solution_that_a_search_finds(name):
    board = read_board(search.PUZZLES[name])[0]
    found = search.solve(Eliminates(3), board)
    assert torch.equal(torch.where(board > 0, found.solved, 0), board)
    assert search.fits(found.solved)
    assert found.solved.all()


def test_a_search_gives_up_after_so_many_thoughts():
    torch.manual_seed(0)
    step = CoverStep(sudoku_groups(3), 4).eval()
    board = read_board(search.PUZZLES["Inkala 2012"])[0]
    assert len(search.solve(step, board, max_thoughts=1).thoughts) == 1
    with pytest.raises(ValueError, match=r"max_thoughts.* 0"):
        search.solve(step, board, max_thoughts=0)
