"""The figures of lesson 10 draw the data that they are given, and their sentences speak of these."""

import numpy as np
import torch
from drawn import Drawn, all_texts, numbers, tests_of_figures

from ponder_course.sudoku import figures as draw
from ponder_course.sudoku.search import Search, Thought
from ponder_course.sudoku.task import GIVEN, UNKNOWN

GIVEN_BOARD = torch.tensor([[1, 0, 0, 4], [0, 0, 0, 0], [0, 0, 2, 0], [4, 0, 0, 0]])
ANSWERS = torch.tensor([[1, 3, 3, 4], [2, 4, 1, 1], [3, 1, 2, 1], [4, 2, 1, 3]])
KNOWN = [{0: True, 1: False, 2: False, 3: False, 4: False, 27: True}, {0: True, 1: False, 4: False, 5: True, 63: False}]
NEEDED = torch.tensor([[1, 3, 3, 1], [5, 0, 7, 5], [9, 3, 1, 0], [1, 3, 5, 7]])
TAKEN = torch.tensor([[1, 3, 4, 1], [5, 0, 8, 5], [9, 3, 1, 11], [1, 3, 5, 7]])
LINES = [0.5, 1.5, 2.5, 3.5, 4.5]  # of a board
TWO = {"rounds needed": NEEDED, "steps taken": TAKEN}


def shown(times):
    is_open = GIVEN_BOARD.numpy() == 0
    return [
        np.where(is_open, np.nan, 0.0),
        np.where(is_open & (times == 0), 0.0, np.nan),
        np.where(is_open & (times > 0), times, np.nan),
    ]


def thought(parent, fits=True, guess=(0, 1, 2)):
    return Thought(GIVEN_BOARD, parent, None if parent < 0 else guess, ANSWERS, 5, fits)


SEARCHES = {
    "easy": Search([thought(-1)], ANSWERS),
    "hard": Search([thought(-1), thought(0), thought(1, False), thought(1), thought(0)], ANSWERS),
}
TIMES = [*shown(NEEDED.numpy()), *shown(TAKEN.numpy())]
PIECES = np.array([[1, 1, 2, 0], [1, 3, 2, 2]])
TIMES_OF_PIECES = np.array([[1, 1, 5, 0], [1, 3, 5, 5]])
IS_GIVEN = (PIECES == 1).astype(int)
OF_PIECES = [np.where(PIECES > 1, TIMES_OF_PIECES, np.nan)]
SIDES = [[k + 0.5, k + 0.5 + length] for k in range(5) for length in (0, 1)]  # of cells
FIGURES = {
    "marks by round": Drawn(draw.marks_by_round, (KNOWN, 4, (2, 3)), None),
    "boards": Drawn(draw.boards, (GIVEN_BOARD, ANSWERS, TWO), [*TIMES, LINES]),
    "moments": Drawn(draw.moments, (GIVEN_BOARD, ANSWERS, TAKEN, [1, 5]), None),
    "tiling": Drawn(
        draw.tiling, (PIECES, TIMES_OF_PIECES, IS_GIVEN), [np.where(IS_GIVEN > 0, 0.0, np.nan), *OF_PIECES, *SIDES]
    ),
    "trees": Drawn(draw.trees, (SEARCHES,), None),
}

test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("sudoku", FIGURES)


def digits_at(ax):
    """{(row, column): the digit that is written there}, from 1."""
    return {(round(t.get_position()[1]), round(t.get_position()[0])): int(t.get_text()) for t in ax.texts}


def cells(board):
    return {(row + 1, column + 1): int(board[row, column]) for row, column in board.nonzero().tolist()}


def test_digits_stand_in_their_cells():
    answers, needed, taken = draw.boards(GIVEN_BOARD, ANSWERS, TWO).axes
    assert digits_at(answers) == cells(ANSWERS)
    assert digits_at(needed) == cells(NEEDED * (GIVEN_BOARD == 0))
    assert digits_at(taken) == cells(TAKEN * (GIVEN_BOARD == 0))
    assert needed.images[-1].get_clim() == taken.images[-1].get_clim() == (1, 11)
    _, small = draw.boards(GIVEN_BOARD, ANSWERS, {"needed": NEEDED.clamp(max=3)}).axes
    _, large = draw.boards(GIVEN_BOARD, ANSWERS, {"needed": 5 * NEEDED}).axes
    assert [ax.images[-1].get_clim()[1] for ax in (small, large)] == [draw.LAST, 45]


def test_after_each_round_digits_that_are_on_fill_their_cells_and_those_that_are_off_are_crossed():
    for ax, is_on in zip(draw.marks_by_round(KNOWN, 4, (2, 3)).axes, KNOWN, strict=True):
        large, small, crossed = {}, set(), set()
        for text in ax.texts:
            x, y = text.get_position()
            cell, digit = (round(y), round(x)), int(text.get_text())
            if (y, x) == cell:
                large[cell] = digit
                continue
            assert digit == 1 + round(2 * (x - cell[1]) + 0.5) + 2 * round(2 * (y - cell[0]) + 0.5)  # in rows of two
            small.add((*cell, digit))
            strokes = [line.get_xydata().mean(0).tolist() for line in ax.lines]
            if any(np.allclose(stroke, (x, y)) for stroke in strokes):
                crossed.add((*cell, digit))
        names = {place: (place // 16 + 1, place // 4 % 4 + 1, place % 4 + 1) for place in range(64)}
        assert large == {names[place][:2]: names[place][2] for place, it_is in is_on.items() if it_is}
        assert small == {name for name in names.values() if name[:2] not in large}
        assert crossed == {names[place] for place, it_is in is_on.items() if not it_is} & small
        (frame,) = ax.patches
        assert frame.get_xy().mean(0).round(3).tolist() == [2.9, 1.9]  # the first corner counts twice


def test_cells_that_have_halted_have_their_answer_and_others_wait():
    first, second = draw.moments(GIVEN_BOARD, ANSWERS, TAKEN, [1, 5]).axes
    assert digits_at(first) == cells(GIVEN_BOARD)
    halted = (TAKEN > 0) & (TAKEN <= 5)
    assert digits_at(second) == cells(torch.where(halted, ANSWERS, GIVEN_BOARD))


def test_cells_that_have_halted_since_the_panel_before_have_a_pale_ground():
    for steps, befores in (([3, 7], [2, 3]), ([5], [4])):
        axes = draw.moments(GIVEN_BOARD, ANSWERS, TAKEN, steps).axes
        for ax, before, n in zip(axes, befores, steps, strict=True):
            (image,) = ax.images
            filled = ~np.ma.getmaskarray(np.ma.masked_invalid(image.get_array()))
            since = (before < TAKEN) & (n >= TAKEN) & (GIVEN_BOARD == 0)
            assert filled.tolist() == since.tolist()


def test_thoughts_stand_below_their_guesses():
    assert draw.depths_of(SEARCHES["hard"]) == [0, 1, 2, 2, 1]
    _, hard = draw.trees(SEARCHES).axes
    marks = [collection.get_offsets().tolist() for collection in hard.collections]
    assert marks == [[[1, 0], [2, 1], [4, 2], [5, 1]], [[3, 2]]]
    assert [line.get_xydata().tolist() for line in hard.lines if len(line.get_xydata()) > 1] == [
        [[1, 0], [2, 1]],
        [[2, 1], [3, 2]],
        [[2, 1], [4, 2]],
        [[1, 0], [5, 1]],
    ]


def test_findings_count_what_is_asked():
    y = torch.tensor([0, 2, GIVEN, UNKNOWN, 1])
    answers, needed, taken = torch.tensor([0, 1, 3, 0, 1]), torch.tensor([3, 5, 1, 0, 2]), torch.tensor([3, 5, 1, 4, 3])
    assert numbers(draw.right_and_in_time(answers, y, needed, taken)) == ["2", "3", "2"]
    waits = draw.who_waits({"a": [[0.0, 0.0], [0.0, 0.02], [0.0, 0.0]], "b": [[0.0, 0.5]]})
    assert numbers(waits) == ["2", "2", "3", "0", "1"]
    halted = draw.halted_in_words(GIVEN_BOARD, NEEDED, TAKEN * (NEEDED != 7))
    assert numbers(halted) == ["8", "10", "1", "2"]
    assert numbers(draw.halted_in_words(GIVEN_BOARD, NEEDED + 1, TAKEN)) == ["11", "12"]
    of_networks = [{"cells": 5, "exactly": 5, "wrong": 0}, {"cells": 5, "exactly": 4, "wrong": 0}]
    assert numbers(draw.exact_in_words([*of_networks, {"cells": 5, "exactly": 5, "wrong": 1}]))[-2:] == ["1", "3"]
    assert numbers(draw.guesses_in_words(SEARCHES)) == ["0", "4"]
    row = {"cells": 200, "wrong": 3, "too early": 1, "exactly": 190}
    table = draw.table_of({"4 x 4": [row, row | {"exactly": 196}], "9 x 9": [row]})
    assert table.shape == (2, 3)
    assert numbers(" ".join(map(str, table.iloc[0]))) == ["394", "400", "2", "96.50"]
    assert numbers(" ".join(map(str, table.iloc[1]))) == ["197", "200", "1", "95.00"]
    assert "step 5" in all_texts(draw.moments(GIVEN_BOARD, ANSWERS, TAKEN, [1, 5]))


def test_borders_stand_between_pieces_and_each_that_is_not_given_has_its_step():
    (ax,) = draw.tiling(PIECES, TIMES_OF_PIECES, IS_GIVEN).axes
    framed, borders = np.pad(PIECES, 1), {tuple(map(tuple, line.get_xydata())) for line in ax.lines}
    wanted = set()
    for row in range(3):
        for column in range(5):
            x, y = column + 0.5, row + 0.5
            if framed[row, column + 1] != framed[row + 1, column + 1]:
                wanted.add(((x, y), (x + 1, y)))
            if framed[row + 1, column] != framed[row + 1, column + 1]:
                wanted.add(((x, y), (x, y + 1)))
    assert borders == wanted
    assert {text.get_text() for text in ax.texts} == {"5", "3"}
    for (row, column), step in digits_at(ax).items():
        assert TIMES_OF_PIECES[row - 1, column - 1] == step
