"""What lesson 01 measures: prices that change, and whose answer it is."""

from collections import Counter

import pytest
import torch
from torch import nn

from ponder_course.act_background import checks
from ponder_course.act_background import experiment as price
from ponder_course.act_background.scripted import halt
from ponder_course.common import parity as measurements
from ponder_utils import ACT, ACTLoss, ParityTask, RNNCell

SMALL = {"elements": 4, "hidden": 8, "N": 6, "lr": 7e-3, "clip": 0.1}


def test_a_fixed_depth_is_so_many_calls_of_the_cell_and_costs_nothing():
    model, (x, y) = price.FixedDepth(4, 8, depth=3), ParityTask(4).batch(5)
    output = model(x[None])
    s = model.cell(x, model.cell(x, model.cell(x)))
    torch.testing.assert_close(output.y_hat[0], model.output(s)[:, 0])
    assert output.steps.tolist() == [[3.0] * 5]
    terms = ACTLoss(measurements.cross_entropy, 0.0)(output, y[None])
    torch.testing.assert_close(terms.total, measurements.cross_entropy(output.y_hat[0], y).mean())


def trained(prices):
    torch.manual_seed(0)
    model = measurements.act(4, 8, 6)
    rows = price.train_in_phases(model, prices, SMALL | {"seed": 3}, log_every=1)
    return model, rows


def test_phases_have_prices_of_their_own_and_go_on_with_the_optimizer_and_the_batches():
    (once, rows), (twice, rows_of_two) = trained([[0.1, 6]]), trained([[0.1, 2], [0.1, 0], [0.1, 4]])
    assert [row["update"] for row in rows_of_two] == [1, 2, 3, 4, 5, 6]
    assert [row["total"] for row in rows] == [row["total"] for row in rows_of_two]
    assert all(torch.equal(a, b) for a, b in zip(once.parameters(), twice.parameters(), strict=True))
    _, rows = trained([[0.1, 2], [0.0, 1], [1.0, 1]])
    taus = [(row["total"] - row["reconstruction"]) / row["cost"] for row in rows]
    assert taus == pytest.approx([0.1, 0.1, 0.0, 1.0], abs=1e-5)


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


def test_the_number_of_a_run_is_its_depth_or_else_its_price():
    fixed = price.run("fixed depth", 3, 2, **SMALL, seed=0)
    assert fixed["steps"] == [3.0] * len(fixed["steps"])
    long = price.run("long start", 0.1, 2, **SMALL, seed=0)
    assert min(long["steps"]) > 5  # its halting unit begins at 0.12, and the budget is hardly spent
