"""Hard sudokus and the searches, and the other wirings, of lesson 10's evidence against slow ways."""

import pytest
import torch

from ponder_course.sudoku import search
from ponder_course.sudoku.lesson import CoverStep, solve
from ponder_course.sudoku.task import SudokuTask, read_board, signs, sudoku_groups
from ponder_evidence.sudoku import hard, wiring
from ponder_utils import PonderNet


def test_solutions_are_counted_up_to_the_limit():
    assert hard.n_solutions(read_board("1234 3412 2143 4321")[0]) == 1
    assert hard.n_solutions(read_board("12.. ..12 2143 4321")[0]) == 1
    two = read_board("12.. .... 21.. 4321")[0]
    assert hard.n_solutions(two.clone(), limit=9) == 2
    assert hard.n_solutions(torch.zeros(4, 4, dtype=torch.int64), limit=1000) == 288  # all solved boards of 4 x 4
    assert hard.n_solutions(torch.zeros(4, 4, dtype=torch.int64)) == 2
    none = torch.zeros(4, 4, dtype=torch.int64)
    none[0, :3], none[1, 3] = torch.tensor([1, 2, 3]), 4
    assert hard.n_solutions(none) == 0


def test_hard_sudokus_are_minimal_and_not_finished_by_elimination():
    (board,) = hard.hard_sudokus(1)
    assert hard.n_solutions(board.clone()) == 1
    for row, column in board.nonzero().tolist():
        without = board.clone()
        without[row, column] = 0
        assert hard.n_solutions(without) == 2
    assert (SudokuTask.needed_steps(signs(board[None])) == 0).any()


def test_a_search_without_the_halt_takes_its_steps_at_each_thought():
    torch.manual_seed(0)
    step = CoverStep(sudoku_groups(3), 4).eval()
    board = read_board(search.PUZZLES["17 digits"])[0]
    answers, steps = hard.think_fixed(step, board, 3)
    y_hat = PonderNet(step, 3)(signs(board[None])).y_hat[-1, 0]
    certain = y_hat.softmax(1).amax(1).view(9, 9) >= hard.CERTAINTY
    assert steps == 3
    assert torch.equal(answers, torch.where(board > 0, board, torch.where(certain, y_hat.argmax(1).view(9, 9) + 1, 0)))
    answers, steps = hard.eliminate(step, board)
    needed = SudokuTask.needed_steps(signs(board[None]))
    assert torch.equal(answers.flatten() > 0, needed[0] > 0)
    assert steps >= needed.max()
    assert solve(step, board, 1, hard.eliminate).solved is not None  # the one of 17 digits is finished so
    found = solve(step, read_board(search.PUZZLES["Inkala 2010"])[0], 20, hard.guess_at_once)
    assert len(found.thoughts) == 20
    assert found.steps == 0
    for thought in found.thoughts[1:]:  # it is no guess where one digit alone is left
        begun = found.thoughts[thought.parent].answers
        fewest = search.left(begun).sum(2)[begun == 0].min()
        assert (thought.guess is None) == (fewest == 1)


@pytest.mark.parametrize("kind", ["sum", "mean"])
def test_sums_and_means_are_of_the_others_of_each_group(kind):
    torch.manual_seed(0)
    step = wiring.WIRINGS[kind](sudoku_groups(2), 3).double().eval()
    h = torch.rand(1, 64, 3, dtype=torch.float64)
    members, heard = sudoku_groups(2).members.tolist(), []
    for place in range(64):
        rest = [[other for other in group if other != place] for group in members if place in group]
        heard.append(torch.stack([h[0, others].sum(0) / (3 if kind == "mean" else 1) for others in rest]))
    message = torch.relu(step.own(h)[:, :, None] + step.heard(torch.stack(heard)[None])).amax(2)
    torch.testing.assert_close(step.message(h), message)
