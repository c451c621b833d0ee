"""Other exact covers are what they are called, their solutions solve them, and questions are counted by hand."""

from itertools import combinations

import pytest
import torch

from ponder_course.sudoku import covers
from ponder_course.sudoku.cover import CoverStep, Groups, groups_of, rounds
from ponder_course.sudoku.experiment import halt
from ponder_utils import PonderNet

SIDES = {"F": 8, "I": 2, "L": 8, "N": 8, "P": 8, "T": 4, "U": 4, "V": 4, "W": 4, "X": 1, "Y": 8, "Z": 4}


@pytest.mark.parametrize(("name", "orientations"), SIDES.items())
def test_pentominoes_are_five_cells_that_hang_together_in_all_orientations(name, orientations):
    found = covers.turns(covers.SHAPES[name])
    assert len(found) == orientations
    for cells in found:
        assert len(cells) == 5
        assert min(i for i, _ in cells) == min(j for _, j in cells) == 0
        reached = {min(cells)}
        for _ in range(4):
            reached |= {(i, j) for i, j in cells for k, m in reached if abs(i - k) + abs(j - m) == 1}
        assert reached == cells


def test_pentominoes_cover_each_cell_of_their_board_once():
    groups, asked = covers.pentominoes()
    assert asked == 12
    assert sum(map(len, groups[:12])) == 2056  # placements of the twelve on a board of 6 x 10
    assert all(sum(n in cell for cell in groups[12:]) == 5 for n in (0, 500, 2055))
    on = covers.solution(groups, seed=3)
    pieces = covers.tiled(groups, asked, {n: k + 1 for k, group in enumerate(groups[:12]) for n in on & set(group)})
    assert sorted(pieces) == [k for k in range(1, 13) for _ in range(5)]
    assert covers.tiled(groups, asked, {}) == [0] * 60
    first, second = groups[12][:2]
    assert covers.tiled(groups, asked, {first: 4, second: 7})[0] == 7


def test_queens_attack_nobody_and_a_diagonal_may_be_empty():
    groups, asked = covers.queens(8)
    on = covers.solution(groups, seed=1)
    squares = [divmod(place, 8) for place in on if place < 64]
    assert len(squares) == asked == 8
    for (row, column), (r, c) in combinations(squares, 2):
        assert len({row - r, column - c, 0}) == 3
        assert abs(row - r) != abs(column - c)
    with pytest.raises(ValueError, match="must have a solution"):
        covers.solution(covers.queens(3)[0], seed=0)


def test_latin_squares_hold_each_digit_once_in_rows_and_columns():
    groups, asked = covers.latin_squares(5)
    square = torch.zeros(5, 5, dtype=torch.int64)
    for place in covers.solution(groups, seed=2):
        square[divmod(place // 5, 5)] = place % 5
    assert asked == 25
    for lines in (square, square.T):
        assert torch.equal(lines.sort(1).values, torch.arange(5).expand(5, 5))


def test_a_place_in_fewer_groups_hears_fewer_messages():
    torch.manual_seed(0)
    groups = [[0, 1, 2], [1, 2], [2, 3]]
    step = CoverStep(groups_of(groups, asked=1), 5).double().eval()
    z, h = torch.rand(2, 1, 4, 5, dtype=torch.float64)
    messages = []
    for place in range(4):
        rest = [[other for other in group if other != place] for group in groups if place in group]
        heard = torch.stack([h[0, others].amax(0) for others in rest])
        messages.append(torch.relu(step.own(h[0, place]) + step.heard(heard)).amax(0))
    torch.testing.assert_close(step.move(z, h), step.next_state(z, h, torch.stack(messages)[None]))


class Rule(CoverStep):
    """In place of a network: it knows in each step what the rule knows in that round, and halts then."""

    def encode(self, x):
        self.known, self.found = rounds(x, self.groups)
        return x, torch.zeros(())

    def move(self, z, h):
        return h + 1

    def read(self, h):
        logits = torch.where((self.found > 0) & (self.found <= h), 9.0 * self.known, 0.0)
        at_places = torch.nn.functional.pad(logits, (0, 1), value=-30.0)[:, self.members[: self.asked]]
        return at_places, at_places.amax(2) - 4.5

    def on(self, groups: Groups):
        return Rule(groups, self.channels)


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
