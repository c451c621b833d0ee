"""What is measured of cells is counted by hand; losses take the cells that they should."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from ponder_course.sudoku import experiment
from ponder_course.sudoku.lesson import loss_of_cells, on_boards, untrained
from ponder_course.sudoku.task import GIVEN, UNKNOWN, SudokuTask, read_board, signs
from ponder_utils import PonderLoss, PonderOutput, halting_log_probs


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
    torch.testing.assert_close(loss_of_cells(output, y), wanted + sum(charged) / len(charged))
    known = torch.where(y == UNKNOWN, GIVEN, y)
    torch.testing.assert_close(loss_of_cells(output, known), wanted)


def test_a_network_of_the_lesson_has_2522_weights_and_they_are_the_same_on_larger_boards():
    model = untrained(0)
    small, large = (nn.utils.parameters_to_vector(part.parameters()) for part in (model, on_boards(model, 3)))
    assert len(small) == 2522
    assert torch.equal(small, large)
