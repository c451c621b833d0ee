"""Boards are sudokus and covers, needs are those of a slow elimination, and a step hears its groups alone."""

import pytest
import torch
from exercises import test_of_answers
from hypothesis import given, settings
from hypothesis import strategies as st

from ponder_course.sudoku import covers
from ponder_course.sudoku.cover import groups_of
from ponder_course.sudoku.lesson import CoverStep, others
from ponder_course.sudoku.task import GIVEN, UNKNOWN, SudokuTask, read_board, sudoku_groups
from ponder_utils.pondernet import PonderNet


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def peers_of(box):
    """For each place (row, column, digit), its groups without itself, written out."""
    side = box * box
    found = {}
    for row in range(side):
        for column in range(side):
            for digit in range(side):
                top, left = row - row % box, column - column % box
                cell = {(row, column, d) for d in range(side)}
                across = {(row, c, digit) for c in range(side)}
                down = {(r, column, digit) for r in range(side)}
                square = {(r, c, digit) for r in range(top, top + box) for c in range(left, left + box)}
                place = (row, column, digit)
                found[place] = [group - {place} for group in (cell, across, down, square)]
    return found


def eliminate(given_signs, peers):
    """The rule, one place at a time: what is known, and in which round."""
    known = {place: (sign, 1) for place, sign in given_signs.items() if sign}
    n = 1
    while True:
        n += 1
        new = {}
        for place, groups in peers.items():
            if place in known:
                continue
            if any(known.get(other, (0, 0))[0] == 1 for group in groups for other in group):
                new[place] = (-1, n)
            elif any(all(known.get(other, (0, 0))[0] == -1 for other in group) for group in groups):
                new[place] = (1, n)
        if not new:
            return known
        known |= new


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([(2, 0.1), (2, 0.3), (3, 0.35)]))
def test_needs_and_answers_are_those_of_a_slow_elimination(seed, board):
    box, share = board
    x, y = SudokuTask(box, share, 0.6).batch(2, seeded(seed))
    needed, side, peers = SudokuTask.needed_steps(x), box**2, peers_of(box)
    for sample, digits, steps in zip(x, y, needed, strict=True):
        known = eliminate({place: int(sample[place]) for place in peers}, peers)
        for cell in range(side**2):
            row, column = divmod(cell, side)
            on = [d for d in range(side) if known.get((row, column, d), (0, 0))[0] == 1]
            assert len(on) <= 1
            need = known[row, column, on[0]][1] if on else 0
            assert steps[cell] == need
            assert digits[cell] == (on[0] if need > 1 else UNKNOWN if need == 0 else GIVEN)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_others_are_the_largest_of_the_group_without_oneself(seed, channels):
    groups = [[0, 1, 2], [3, 4, 5], [0, 4, 2], [1, 3, 5]]
    h = torch.randint(0, 4, (2, 6, channels), generator=seeded(seed)).double()  # ties, too
    found = others(h, groups_of(groups, 1))
    assert found.shape == (2, 6, 2, channels)
    for place in range(6):
        mine = [group for group in groups if place in group]
        for kind, group in enumerate(mine):
            rest = [other for other in group if other != place]
            assert torch.equal(found[:, place, kind], h[:, rest].amax(1))


def test_a_step_is_its_equation_at_every_place():
    x, _ = SudokuTask(2).batch(1, seeded(1))
    step, h = CoverStep(sudoku_groups(2), 5).double().eval(), torch.rand(1, 64, 5, dtype=torch.float64)
    z, _ = step.encode(x)
    torch.testing.assert_close(z, step.from_x(torch.stack([x > 0, x < 0], -1).double()).flatten(1, 3))
    moved = step.move(z, h)
    for place, own in enumerate(h[0]):
        groups = [group for group in sudoku_groups(2).members.tolist() if place in group]
        heard = torch.stack([h[0, [other for other in group if other != place]].amax(0) for group in groups])
        m = torch.relu(step.own(own) + step.heard(heard)).amax(0)
        by_hand = torch.tanh(step.from_h(own) + step.from_m(m) + z[0, place])
        torch.testing.assert_close(moved[0, place], by_hand)


def answers_of(x):
    """What an untrained network answers, and its halting logits: [N, boards, rows, columns] and digits."""
    torch.manual_seed(0)
    side = x.shape[1]
    groups = sudoku_groups(2 if side == 4 else 3)
    y_hat, a, _ = PonderNet(CoverStep(groups, 6).double(), 5).eval()(x)
    return y_hat.unflatten(2, (side, side)), a.unflatten(2, (side, side))


@pytest.mark.parametrize("box", [2, 3])
def test_answers_and_halting_follow_every_symmetry_of_a_sudoku(box):
    side, generator = box**2, seeded(4)
    x, _ = SudokuTask(box).batch(2, generator)
    digits = torch.randperm(side, generator=generator)
    rows = torch.cat([box * band + torch.randperm(box) for band in torch.randperm(box)])
    y_hat, a = answers_of(x)
    moved = {
        "digits": (x[..., digits], y_hat[..., digits], a),
        "rows": (x[:, rows], y_hat[:, :, rows], a[:, :, rows]),
        "columns": (x[:, :, rows], y_hat[:, :, :, rows], a[:, :, :, rows]),
        "transpose": (x.transpose(1, 2), y_hat.transpose(2, 3), a.transpose(2, 3)),
    }
    for name, (board, answers, halting) in moved.items():
        torch.testing.assert_close(answers_of(board), (answers, halting), msg=name)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("12", "16 or 81 digits; got 2"),
        ("1..1" + "." * 12, "1 in row 1, column 1 and row 1, column 4"),
        ("3..." + ".3.." + "." * 8, "3 in row 1, column 1 and row 2, column 2"),
    ],
)
def test_a_bad_board_is_named_by_its_cell(text, named):
    with pytest.raises(ValueError, match=named):
        read_board(text)


def test_pentominoes_cover_each_cell_of_their_board_once():
    groups, asked = covers.pentominoes()
    assert asked == 12
    assert sum(map(len, groups[:12])) == 2056  # placements of the twelve on a board of 6 x 10
    assert all(sum(n in cell for cell in groups[12:]) == 5 for n in (0, 500, 2055))
    on = covers.solution(groups, seed=3)
    pieces = covers.tiled(groups, asked, {n: k + 1 for k, group in enumerate(groups[:12]) for n in on & set(group)})
    assert sorted(pieces) == [k for k in range(1, 13) for _ in range(5)]


def test_where_groups_differ_in_size_a_place_hears_the_others_of_each_of_its_groups_and_no_more():
    groups = [[0, 1, 2], [2, 3], [4], [1, 3, 4, 0]]
    torch.manual_seed(0)
    step = covers.UnevenStep(groups_of(groups, 2), 3).double()
    h = 2 * torch.rand(1, 5, 3, dtype=torch.float64) - 1
    messages = step.message(h)
    for place in range(5):
        sent = []
        for group in [group for group in groups if place in group]:
            rest = [other for other in group if other != place]
            heard = h[0, rest].amax(0) if rest else torch.full((3,), -1.0, dtype=torch.float64)
            sent.append(torch.relu(step.own(h[0, place]) + step.heard(heard)))
        torch.testing.assert_close(messages[0, place], torch.stack(sent).amax(0))
    y_hat, a = step.read(h)
    logits, votes = step.heads(h)[0].T
    torch.testing.assert_close(y_hat[0, 1], torch.cat([logits[[2, 3]], logits.new_tensor([-30.0, -30.0])]))
    torch.testing.assert_close(a[0, 1], votes[[2, 3]].amax())


WRONG = {
    "last_cell": [
        lambda: (4, 3, 5),  # a round in which other cells are known
        lambda: (3, 2, 7),  # counted from 0
        lambda: (3, 4, 7),  # column and row exchanged
        lambda: (1, 3, 5),  # known late, but not last
    ],
}
test_answers_of_exercises = test_of_answers("10_sudoku", WRONG, {"last_cell": [lambda: [4, 3, 7]]})
