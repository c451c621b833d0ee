"""Queens do not attack each other, and the questions of other exact covers are counted by hand."""

from itertools import combinations

import pytest
import torch
from rule import Rule

from ponder_course.sudoku.covers import instances, solution
from ponder_course.sudoku.lesson import halt
from ponder_course.sudoku.task import SudokuTask, signs
from ponder_evidence.sudoku import covers, other_boards
from ponder_utils import PonderNet


def test_queens_attack_nobody_and_a_diagonal_may_be_empty():
    groups, asked = covers.queens(8)
    on = solution(groups, seed=1)
    squares = [divmod(place, 8) for place in on if place < 64]
    assert len(squares) == asked == 8
    for (row, column), (r, c) in combinations(squares, 2):
        assert len({row - r, column - c, 0}) == 3
        assert abs(row - r) != abs(column - c)


@pytest.mark.parametrize("name", covers.COVERS)
def test_the_rule_itself_is_right_at_its_very_round_in_each_question_that_it_can_know(name, monkeypatch):
    make, _, *share = covers.COVERS[name]
    monkeypatch.setitem(covers.COVERS, name, (make, 6, *share))
    tables, x = instances(*covers.COVERS[name])
    found = covers.measure(Rule(tables, 2), tables, x)
    assert found["questions"] == found["exactly"] > 0
    assert found["wrong"] == found["too early"] == found["given up"] == 0
    given = torch.nn.functional.pad(x, (0, 1))[:, tables.members[: tables.asked]].eq(1).any(2)
    assert found["questions"] + found["unknown"] == (~given).sum()
    _, steps = halt(PonderNet(Rule(tables, 2), covers.N).eval()(x))
    assert steps[~given].max() == found["rounds"]


def test_covers_drawn_at_random_have_a_solution_and_the_rule_answers_each_in_its_round():
    for seed in range(5):
        groups, _ = other_boards.random_cover(seed)
        on = solution(groups, seed=1)
        assert all(len(on & set(group)) == 1 and len(group) > 1 for group in groups)
        tables, x = instances(lambda: other_boards.random_cover(seed), 1, 0.1, 0.5)  # noqa: B023
        found = covers.measure(Rule(tables, 2), tables, x)
        assert found["questions"] == found["exactly"]
        assert found["wrong"] == found["given up"] == 0


def test_a_peeled_board_is_one_that_elimination_finishes_and_loses_with_each_digit():
    board = other_boards.random_board(3)
    assert sorted(board[0].tolist()) == sorted(board[:3, :3].flatten().tolist()) == [*range(1, 10)]
    peeled = other_boards.peeled(board, 3)
    assert (SudokuTask.needed_steps(signs(peeled[None])) > 0).all()
    row, column = peeled.nonzero()[0].tolist()
    peeled[row, column] = 0
    assert (SudokuTask.needed_steps(signs(peeled[None])) == 0).any()
