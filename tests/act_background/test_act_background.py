"""What lesson 01 measures: prices that change, and whose answer it is."""

from collections import Counter

import pytest
import torch
from torch import nn

from ponder_course.act_background import checks
from ponder_course.act_background import experiment as price
from ponder_course.act_background.scripted import halt
from ponder_utils import ACT, ParityTask, RNNCell


def test_whose_answer_one_input_at_a_time():
    torch.manual_seed(3)
    model = ACT(RNNCell(5, 8), max_steps=7)
    nn.init.normal_(model.halting.weight, std=4)
    nn.init.constant_(model.halting.bias, -2.0)
    x, y = ParityTask(4).batch(60)
    found, N, last, alone = price.whose_answer(model, x, y), [], [], []
    for x_i, y_i in zip(x, y, strict=True):
        n_i = int(model(x_i[None, None]).steps)
        s, correct = None, []
        for n in range(n_i):
            s = model.cell(torch.cat([x_i, torch.tensor([float(n == 0)])])[None], s)
            correct.append(bool((model.output(s)[0, 0] > 0) == (y_i > 0.5)))
        N.append(n_i)
        alone.append(correct)
        last.append(correct[-1])
    assert len(set(N)) > 2
    assert found["last"] == pytest.approx(sum(last) / 60, abs=1e-4)
    for row in found["by_n"]:
        n, there = row["n"], [correct for correct, n_i in zip(last, N, strict=True) if n_i == row["n"]]
        going_on = [correct[n - 1] for correct in alone if len(correct) > n]
        assert row["halt"] == pytest.approx(Counter(N)[n] / 60, abs=1e-4)
        assert row["right"] == (pytest.approx(sum(there) / len(there), abs=1e-4) if there else None)
        on = pytest.approx(sum(going_on) / len(going_on), abs=1e-4) if going_on else None
        assert row["right, going on"] == on
    weights = [row["halt"] * row["remainder"] for row in found["by_n"] if row["halt"]]
    assert sum(weights) == pytest.approx(found["remainder"], abs=1e-3)


def test_learnt_is_what_stays_learnt():
    row = {"update": [0, 10, 20, 30], "accuracy": [0.5, 0.97, 0.9, 0.96]}
    assert price.learnt_at(row) == 30
    assert price.learnt_at(row | {"accuracy": [0.5, 0.97, 0.97, 0.9]}) is None
    assert price.learnt_at(row | {"accuracy": [0.5, 0.95, 0.95, 0.95]}) == 10


def test_halting_units_are_weights_that_the_exercise_accepts():
    checks.check_weights_with_cap(halt)
