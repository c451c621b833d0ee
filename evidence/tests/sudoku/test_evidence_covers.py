"""Queens do not attack each other, and the questions of other exact covers are counted by hand."""

from itertools import combinations

import pytest
import torch
from rule import Rule

from ponder_course.sudoku.covers import instances, solution
from ponder_course.sudoku.lesson import halt
from ponder_evidence.sudoku import covers
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
    found = covers.measure(Rule(tables, 2), name)
    assert found["questions"] == found["exactly"] > 0
    assert found["wrong"] == found["too early"] == found["given up"] == 0
    given = torch.nn.functional.pad(x, (0, 1))[:, tables.members[: tables.asked]].eq(1).any(2)
    assert found["questions"] + found["unknown"] == (~given).sum()
    _, steps = halt(PonderNet(Rule(tables, 2), covers.N).eval()(x))
    assert steps[~given].max() == found["rounds"]
