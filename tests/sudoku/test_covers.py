"""Other exact covers are what they are called, their solutions solve them, and questions are counted by hand."""

from itertools import combinations

import pytest
import torch
from rule import Rule

from ponder_course.sudoku import covers
from ponder_course.sudoku.experiment import halt
from ponder_utils import PonderNet


def test_pentominoes_cover_each_cell_of_their_board_once():
    groups, asked = covers.pentominoes()
    assert asked == 12
    assert sum(map(len, groups[:12])) == 2056  # placements of the twelve on a board of 6 x 10
    assert all(sum(n in cell for cell in groups[12:]) == 5 for n in (0, 500, 2055))
    on = covers.solution(groups, seed=3)
    pieces = covers.tiled(groups, asked, {n: k + 1 for k, group in enumerate(groups[:12]) for n in on & set(group)})
    assert sorted(pieces) == [k for k in range(1, 13) for _ in range(5)]


def test_queens_attack_nobody_and_a_diagonal_may_be_empty():
    groups, asked = covers.queens(8)
    on = covers.solution(groups, seed=1)
    squares = [divmod(place, 8) for place in on if place < 64]
    assert len(squares) == asked == 8
    for (row, column), (r, c) in combinations(squares, 2):
        assert len({row - r, column - c, 0}) == 3
        assert abs(row - r) != abs(column - c)


@pytest.mark.parametrize("name", covers.COVERS)
def test_the_rule_itself_is_right_at_its_very_round_in_each_question_that_it_can_know(name, monkeypatch):
    make, _, *share = covers.COVERS[name]
    monkeypatch.setitem(covers.COVERS, name, (make, 6, *share))
    covers.instances.cache_clear()
    tables, x = covers.instances(name)
    found = covers.measure(Rule(tables, 2), name)
    covers.instances.cache_clear()
    assert found["questions"] == found["exactly"] > 0
    assert found["wrong"] == found["too early"] == found["given up"] == 0
    given = torch.nn.functional.pad(x, (0, 1))[:, tables.members[: tables.asked]].eq(1).any(2)
    assert found["questions"] + found["unknown"] == (~given).sum()
    steps = halt(PonderNet(Rule(tables, 2), covers.N).eval()(x)).steps
    assert steps[~given].max() == found["rounds"]
