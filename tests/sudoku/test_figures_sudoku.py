"""The figures of lesson 10 draw the boards that they are given."""

import numpy as np
import torch

from ponder_course.sudoku import figures as draw

GIVEN_BOARD = torch.tensor([[1, 0, 0, 4], [0, 0, 0, 0], [0, 0, 2, 0], [4, 0, 0, 0]])
ANSWERS = torch.tensor([[1, 3, 3, 4], [2, 4, 1, 1], [3, 1, 2, 1], [4, 2, 1, 3]])
NEEDED = torch.tensor([[1, 3, 3, 1], [5, 0, 7, 5], [9, 3, 1, 0], [1, 3, 5, 7]])
TAKEN = torch.tensor([[1, 3, 4, 1], [5, 0, 8, 5], [9, 3, 1, 11], [1, 3, 5, 7]])
IS_OPEN = GIVEN_BOARD.numpy() == 0


def digits_at(ax):
    """{(row, column): the digit that is written there}, from 1."""
    return {(round(t.get_position()[1]), round(t.get_position()[0])): int(t.get_text()) for t in ax.texts}


def cells(board):
    return {(row + 1, column + 1): int(board[row, column]) for row, column in board.nonzero().tolist()}


def values_of(ax):
    """The numbers of the last image of a panel."""
    return np.ma.filled(np.ma.asarray(ax.images[-1].get_array(), float), np.nan)


def test_digits_stand_in_their_cells_and_times_colour_those_that_are_open():
    answers, *times = draw.boards(GIVEN_BOARD, ANSWERS, {"rounds needed": NEEDED, "steps taken": TAKEN}).axes
    assert digits_at(answers) == cells(ANSWERS)
    for ax, board in zip(times, (NEEDED, TAKEN), strict=True):
        assert digits_at(ax) == cells(board * (GIVEN_BOARD == 0))
        np.testing.assert_array_equal(values_of(ax), np.where(IS_OPEN & (board.numpy() > 0), board, np.nan))
        assert ax.images[-1].get_clim() == (1, 11)


def test_cells_that_have_halted_have_their_answer_on_a_pale_ground_if_it_is_new():
    for ax, before, n in zip(draw.moments(GIVEN_BOARD, ANSWERS, TAKEN, [3, 7]).axes, (2, 3), (3, 7), strict=True):
        halted = TAKEN.gt(0) & TAKEN.le(n)
        assert digits_at(ax) == cells(torch.where(halted, ANSWERS, GIVEN_BOARD))
        np.testing.assert_array_equal(np.isfinite(values_of(ax)), halted.numpy() & (TAKEN.numpy() > before) & IS_OPEN)


def test_borders_stand_between_pieces_and_each_new_piece_says_when_it_halted():
    pieces = np.array([[1, 1, 2], [1, 3, 2]])
    times = np.array([[4, 4, 5], [4, 6, 5]])
    (ax,) = draw.tiling(pieces, times, np.array([[0, 0, 1], [0, 0, 1]])).axes
    assert sorted(text.get_text() for text in ax.texts) == ["4", "6"]
    around, inside = 2 * (2 + 3), 4  # in sides of a cell
    assert len(ax.lines) == around + inside
