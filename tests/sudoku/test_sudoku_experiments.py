"""What is measured of cells is counted by hand; losses take the cells that they should; searches are fair."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from ponder_course.sudoku import covers, experiment, search
from ponder_course.sudoku.cover import CoverStep
from ponder_course.sudoku.covers import COVERS
from ponder_course.sudoku.task import GIVEN, UNKNOWN, SudokuTask, read_board, signs, sudoku_groups
from ponder_evidence.sudoku import experiment as stored_runs
from ponder_evidence.sudoku import hard, seen, wiring
from ponder_utils import PonderLoss, PonderNet, PonderOutput, halting_log_probs


def test_cells_are_counted_by_what_can_be_known_of_them():
    x = signs(read_board("3... .4.. 1.3. ....")).repeat(2, 1, 1, 1)
    x[1, 0, 0] = x[1, 2, 0] = 0.0  # and now elimination does not get far
    y, need = SudokuTask.answers(x), SudokuTask.needed_steps(x)
    assert (y[0] == GIVEN).sum() == 4
    assert (y[1] == UNKNOWN).any()
    generator = torch.Generator().manual_seed(0)
    y_hat = torch.randn(9, 2, 16, 4, generator=generator)
    a = torch.randn(9, 2, 16, generator=generator) - 1.5
    output = PonderOutput(y_hat, a, halting_log_probs(a))
    found = experiment.measure(output, x)
    wanted = {"cells": 0, "wrong": 0, "too early": 0, "exactly": 0, "unknown": 0, "given up": 0}
    taken, asked = [], []
    for board in range(2):
        for cell in range(16):
            halts = [n for n in range(1, 10) if a[n - 1, board, cell] >= 0]
            taken_by, target = halts[0] if halts else 10, int(y[board, cell])
            if target == UNKNOWN:
                wanted["unknown"] += 1
                wanted["given up"] += taken_by <= 9
            elif target >= 0:
                taken.append(taken_by)
                asked.append(int(need[board, cell]))
                wanted["cells"] += 1
                wanted["wrong"] += int(y_hat[min(taken_by, 9) - 1, board, cell].argmax()) != target
                wanted["too early"] += taken_by < asked[-1]
                wanted["exactly"] += taken_by == asked[-1]
    assert {name: found[name] for name in wanted} == wanted
    assert found["steps"] == pytest.approx(sum(taken) / len(taken))
    assert found["needed"] == pytest.approx(sum(asked) / len(asked))
    assert found["by_step"][-1] == pytest.approx((y_hat[-1].argmax(2) == y)[y >= 0].float().mean())
    assert found["halted"][-1] == pytest.approx(wanted["given up"] / wanted["unknown"])
    certain = experiment.halt(output, certainty=0.8)
    first = (y_hat.softmax(3).amax(3) >= 0.8).long()
    assert torch.equal(certain.steps > 0, first.any(0))
    assert torch.equal(certain.steps[certain.steps > 0], (first.argmax(0) + 1)[certain.steps > 0])


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_the_loss_takes_cells_that_can_be_known_and_charges_the_others(seed):
    generator = torch.Generator().manual_seed(seed)
    y = torch.tensor([[0, GIVEN, UNKNOWN, 3], [UNKNOWN, 2, GIVEN, UNKNOWN]])
    y_hat = torch.randn(3, 2, 4, 4, generator=generator, dtype=torch.float64)
    a = torch.randn(3, 2, 4, generator=generator, dtype=torch.float64)
    output = PonderOutput(y_hat, a, halting_log_probs(a))
    plain = PonderLoss(nn.CrossEntropyLoss(reduction="none"), 0.8, 0.03)
    of_cells, charged = [], []
    for board in range(2):
        for cell in range(4):
            if y[board, cell] >= 0:
                one = PonderOutput(*(part[:, board, cell][:, None] for part in output))
                of_cells.append(plain(one, y[board, cell][None]).total)
            elif y[board, cell] == UNKNOWN:
                charged.append(1 - math.prod(1 - a[n, board, cell].sigmoid() for n in range(2)))
    wanted = sum(of_cells) / len(of_cells)
    torch.testing.assert_close(experiment.loss_of_cells(plain, 0.0)(output, y), wanted)
    charge = 0.7 * sum(charged) / len(charged)
    torch.testing.assert_close(experiment.loss_of_cells(plain, 0.7)(output, y), wanted + charge)


def test_a_network_is_trained_on_its_seed_and_its_weights_fit_other_boards():
    first, again = (experiment.learn(3, updates=2, batch=4) for _ in range(2))
    for a, b in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(first.step.heads.weight, experiment.learn(4, updates=2, batch=4).step.heads.weight)
    step = experiment.on_boards(first, 3)
    assert torch.equal(step.heads.weight, first.step.heads.weight)
    assert not step.training
    answers, steps, by_step = experiment.halt(PonderNet(step, 4)(SudokuTask(3).batch(2)[0]))
    assert answers.shape == steps.shape == (2, 81)
    assert by_step.shape == (4, 2, 81)


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
    certain = y_hat.softmax(1).amax(1).view(9, 9) >= hard.CERTAIN
    assert steps == 3
    assert torch.equal(answers, torch.where(board > 0, board, torch.where(certain, y_hat.argmax(1).view(9, 9) + 1, 0)))
    answers, steps = hard.eliminate(step, board)
    needed = SudokuTask.needed_steps(signs(board[None]))
    assert torch.equal(answers.flatten() > 0, needed[0] > 0)
    assert steps >= needed.max()
    assert search.solve(step, board, 1, hard.eliminate).solved is not None  # the one of 17 digits is finished so
    found = search.solve(step, read_board(search.PUZZLES["Inkala 2010"])[0], 20, hard.guess_at_once)
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
    z, h = torch.rand(2, 1, 64, 3, dtype=torch.float64)
    members, heard = sudoku_groups(2).members.tolist(), []
    for place in range(64):
        rest = [[other for other in group if other != place] for group in members if place in group]
        heard.append(torch.stack([h[0, others].sum(0) / (3 if kind == "mean" else 1) for others in rest]))
    message = torch.relu(step.own(h)[:, :, None] + step.heard(torch.stack(heard)[None])).amax(2)
    torch.testing.assert_close(step.move(z, h), step.next_state(z, h, message))


def test_weights_apart_that_are_equal_make_the_same_step_and_others_do_not():
    torch.manual_seed(0)
    step = CoverStep(sudoku_groups(2), 3).eval()
    apart = wiring.ApartStep(sudoku_groups(2), 3).eval()
    state = {name: weight.repeat(4, *[1] * (weight.ndim - 1)) for name, weight in step.state_dict().items()}
    state |= {name: weight for name, weight in step.state_dict().items() if not name.startswith(("own", "heard"))}
    apart.load_state_dict(state)
    z, h = torch.rand(2, 1, 64, 3)
    torch.testing.assert_close(apart.move(z, h), step.move(z, h))
    with torch.no_grad():
        apart.heard.weight[3:6] += 1.0  # of the digit in a row
    assert not torch.allclose(apart.move(z, h), step.move(z, h))
    rows = apart.on(sudoku_groups(3))
    assert rows.heard.weight.shape == (12, 3)


@pytest.mark.parametrize("name", [*stored_runs.EXPERIMENTS])
def test_experiments_run(name, tmp_path, monkeypatch):
    monkeypatch.setattr(covers, "COVERS", {kind: (make, 2, *share) for kind, (make, _, *share) in COVERS.items()})
    covers.instances.cache_clear()
    (row, *_) = stored_runs.EXPERIMENTS[name].rows("smoke", tmp_path)
    assert row["4 x 4"]["cells"] == row["4 x 4, certainty"]["cells"] > 0
    assert [kind for kind in COVERS if kind in row] == row.get("covers", [])
    covers.instances.cache_clear()


def test_wirings_and_searches_run(tmp_path):
    rows = wiring.EXPERIMENTS["wiring"].rows("smoke", tmp_path)
    assert [row["wiring"] for row in rows] == ["sum", "mean", "weights apart"]
    (seen_before,) = seen.EXPERIMENTS["seen"].rows("smoke", tmp_path)
    assert seen_before["charge"] == 0
    (row,) = hard.EXPERIMENTS["search"].rows("smoke", tmp_path)
    assert row["the halt"].keys() == row["8 steps"].keys()
