"""How the networks of lesson 01's stored runs are trained."""

import pytest
import torch

from ponder_course.common import parity as measurements
from ponder_evidence.act_background import experiment as stored_runs
from ponder_utils import ACTLoss, ParityTask

SMALL = {"elements": 4, "hidden": 8, "N": 6, "lr": 7e-3, "clip": 0.1}


def test_a_fixed_depth_is_so_many_calls_of_the_cell_and_costs_nothing():
    model, (x, y) = stored_runs.FixedDepth(4, 8, depth=3), ParityTask(4).batch(5)
    output = model(x[None])
    s = model.cell(x, model.cell(x, model.cell(x)))
    torch.testing.assert_close(output.y_hat[0], model.output(s)[:, 0])
    assert output.steps.tolist() == [[3.0] * 5]
    terms = ACTLoss(measurements.cross_entropy, 0.0)(output, y[None])
    torch.testing.assert_close(terms.total, measurements.cross_entropy(output.y_hat[0], y).mean())


def trained(prices):
    torch.manual_seed(0)
    model = measurements.act(4, 8, 6)
    rows = stored_runs.train_in_phases(model, prices, SMALL | {"seed": 3}, log_every=1)
    return model, rows


def test_phases_have_prices_of_their_own_and_go_on_with_the_optimizer_and_the_batches():
    (once, rows), (twice, rows_of_two) = trained([[0.1, 6]]), trained([[0.1, 2], [0.1, 0], [0.1, 4]])
    assert [row["update"] for row in rows_of_two] == [1, 2, 3, 4, 5, 6]
    assert [row["total"] for row in rows] == [row["total"] for row in rows_of_two]
    assert all(torch.equal(a, b) for a, b in zip(once.parameters(), twice.parameters(), strict=True))
    _, rows = trained([[0.1, 2], [0.0, 1], [1.0, 1]])
    taus = [(row["total"] - row["reconstruction"]) / row["cost"] for row in rows]
    assert taus == pytest.approx([0.1, 0.1, 0.0, 1.0], abs=1e-5)


def test_the_number_of_a_run_is_its_depth_or_else_its_price():
    fixed = stored_runs.run("fixed depth", 3, 2, **SMALL, seed=0)
    assert fixed["steps"] == [3.0] * len(fixed["steps"])
    long = stored_runs.run("long start", 0.1, 2, **SMALL, seed=0)
    assert min(long["steps"]) > 5  # its halting unit begins at 0.12, and the budget is hardly spent
