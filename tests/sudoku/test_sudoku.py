"""Boards are sudokus, needs are those of a slow elimination, and the step knows groups and nothing else."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ponder_course.sudoku.cover import CoverStep, groups_of, others, rounds
from ponder_course.sudoku.task import GIVEN, UNKNOWN, SudokuTask, read_board, signs, sudoku_groups
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


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_solved_boards_obey_the_rule_and_given_digits_are_theirs(seed, box):
    board = SudokuTask(box).solved(3, seeded(seed))
    side = box**2
    boxes = board.view(3, box, box, box, box).transpose(2, 3).reshape(3, side, side)
    for lines in (board, board.mT, boxes):
        assert (lines.sort(2).values == torch.arange(side)).all()
    assert (rounds(signs(board + 1).flatten(1), sudoku_groups(box))[1] == 1).all()


def test_shares_of_given_digits_lie_between_the_limits():
    x, _ = SudokuTask(3, 0.25, 0.5).batch(300, seeded(1))
    share = (x == 1).sum((1, 2, 3)) / 81
    assert 0.2 < share.quantile(0.1) < 0.32
    assert 0.43 < share.quantile(0.9) < 0.56
    assert set(x.unique().tolist()) == {-1.0, 0.0, 1.0}


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_others_are_the_largest_of_the_group_without_oneself(seed, channels):
    generator = seeded(seed)
    groups = [[0, 1, 2], [2, 3], [4], [1, 3, 4, 0]]
    values = torch.randint(-3, 4, (2, 5, channels), generator=generator).double()  # ties, too
    found = others(values, groups_of(groups, 1), -9.0)
    assert found.shape == (2, 5, 2, channels)
    for place in range(5):
        mine = [group for group in groups if place in group]
        for kind in range(2):
            rest = [other for other in mine[kind] if other != place] if kind < len(mine) else []
            wanted = values[:, rest].amax(1) if rest else torch.full((2, channels), -9.0)
            assert torch.equal(found[:, place, kind], wanted)


def test_gradients_of_others_are_those_of_finite_differences():
    values = torch.randn(2, 5, 2, generator=seeded(0), dtype=torch.float64, requires_grad=True)
    groups = groups_of([[0, 1, 2], [2, 3], [4], [1, 3, 4, 0]], 1)
    assert torch.autograd.gradcheck(lambda values: others(values, groups, -9.0), values)


def network(box, seed=0):
    torch.manual_seed(seed)
    return PonderNet(CoverStep(sudoku_groups(2), 6).on(sudoku_groups(box)).double(), 5).eval()


@pytest.mark.parametrize("box", [2, 3])
def test_answers_and_halting_follow_every_symmetry_of_a_sudoku(box):
    side, generator = box**2, seeded(4)
    x, _ = SudokuTask(box).batch(2, generator)
    digits = torch.randperm(side, generator=generator)
    rows = (torch.randperm(box, generator=generator)[:, None] * box + torch.arange(box)).flatten()
    rows = rows.view(box, box)[:, torch.randperm(box, generator=generator)].flatten()
    model = network(box)
    y_hat, a, _ = model(x)
    y_hat, a = y_hat.unflatten(2, (side, side)), a.unflatten(2, (side, side))
    moved = {"digits": x[..., digits], "rows": x[:, rows], "columns": x[:, :, rows], "transpose": x.transpose(1, 2)}
    answers = {"digits": y_hat[..., digits], "rows": y_hat[:, :, rows], "columns": y_hat[:, :, :, rows]}
    answers["transpose"] = y_hat.transpose(2, 3)
    halting = {"digits": a, "rows": a[:, :, rows], "columns": a[:, :, :, rows], "transpose": a.transpose(2, 3)}
    for name, board in moved.items():
        new_y_hat, new_a, _ = model(board)
        torch.testing.assert_close(new_y_hat.unflatten(2, (side, side)), answers[name], msg=name)
        torch.testing.assert_close(new_a.unflatten(2, (side, side)), halting[name], msg=name)


def test_news_travels_one_rule_a_step():
    x, _ = SudokuTask(2, 0.3, 0.3).batch(50, seeded(0))
    changed = x.clone()
    changed[:, 0, 0] = torch.where(
        x[:, 0, 0, :1] == 1, torch.tensor([-1.0, 1, -1, -1]), torch.tensor([1.0, -1, -1, -1])
    )
    y_hat, changed_y_hat = (network(2)(board).y_hat.unflatten(2, (4, 4)) for board in (x, changed))
    differs = (y_hat != changed_y_hat).any(4).any(1)  # in one of the boards
    itself = torch.zeros(4, 4, dtype=torch.bool)
    itself[0, 0] = True
    peers = itself.clone()
    peers[0], peers[:, 0], peers[:2, :2] = True, True, True
    assert torch.equal(differs[0], itself)
    assert torch.equal(differs[1] & ~peers, torch.zeros_like(peers))
    assert differs[1].sum() > 1
    assert (differs[2] & ~peers).any()


def test_a_text_is_read_as_a_board():
    board = read_board("1..4 .... ..2. 4000")
    assert board.tolist() == [[[1, 0, 0, 4], [0, 0, 0, 0], [0, 0, 2, 0], [4, 0, 0, 0]]]
    x = signs(board)[0]
    assert x[0, 0].tolist() == [1, -1, -1, -1]
    assert x[1, 1].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("12", "16 or 81 digits; got 2"),
        ("1" * 25, "got 25"),
        ("a" + "." * 15, "'a' in row 1, column 1"),
        ("....5" + "." * 11, "'5' in row 2, column 1"),
        ("1..1" + "." * 12, "1 in row 1, column 1 and row 1, column 4"),
        ("2..." + "...." + "2..." + "....", "2 in row 1, column 1 and row 3, column 1"),
        ("3..." + ".3.." + "." * 8, "3 in row 1, column 1 and row 2, column 2"),
    ],
)
def test_a_bad_board_is_named_by_its_cell(text, named):
    with pytest.raises(ValueError, match=named):
        read_board(text)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: groups_of([[0, 1], []], 1), r"\[\]"),
        (lambda: groups_of([[0, 0]], 1), r"\[0, 0\]"),
        (lambda: groups_of([[0, 2]], 1), "0 to 2; got none with 1"),
        (lambda: groups_of([[0, 1]], 2), "asked"),
        (lambda: SudokuTask(1), "box .* 1"),
        (lambda: SudokuTask(2, 0.5, 0.4), "highest .* 0.4"),
        (lambda: CoverStep(sudoku_groups(2), 4).encode(torch.zeros(1, 65)), "64 places.* 65"),
    ],
)
def test_wrong_arguments_are_named(make, named):
    with pytest.raises(ValueError, match=named):
        make()
