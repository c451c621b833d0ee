"""What lesson 01 measures: prices that change, and whose answer it is."""

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.act_background import checks
from ponder_course.act_background import experiment as price
from ponder_course.act_background.scripted import halt
from ponder_course.common import parity as measurements
from ponder_evidence.act_background import later_states
from ponder_utils import ACT, ACTLoss, ParityTask, RNNCell

SMALL = {"elements": 4, "hidden": 8, "N": 6, "lr": 7e-3, "clip": 0.1}
RESET = {"reset": True}


@pytest.mark.parametrize("kind", ["fixed depth", "ACT", "long start", "charged late", "charged early"])
def test_a_run_is_scored_for_every_k_and_made_again_the_same(kind):
    first, again = (price.run(kind, 2, **SMALL, updates=6, seed=1) for _ in range(2))
    assert first == again
    assert len(first["accuracy"]) == len(first["steps"]) == len(measurements.tested_k(4)) == 4
    assert all(0 <= fraction <= 1 for fraction in first["accuracy"])
    assert kind != "fixed depth" or first["steps"] == [2.0] * 4


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


def test_stories_are_cheap_or_expensive_and_the_early_one_has_time_to_recover():
    stories = price.stories(200)
    assert {tau for prices in stories.values() for tau, _ in prices} == {price.CHEAP, price.EXPENSIVE}
    assert [price.expensive(prices) for prices in stories.values()] == [[], [(100, 200)], [(0, 100)], [(0, 200)]]
    assert price.expensive([[price.EXPENSIVE, 0], [price.CHEAP, 9]]) == []
    assert price.expensive([[price.CHEAP, 1], [price.EXPENSIVE, 2], [price.EXPENSIVE, 3]]) == [(1, 3), (3, 6)]
    assert sum(updates for _, updates in stories["charged early"]) == 400


def test_following_evaluates_every_update_and_what_is_changed_changes_when_the_price_falls():
    prices = [[0.1, 10], [1e-4, 10]]
    plain, new, fixed = (price.follow(prices, **SMALL, seed=0, **change) for change in ({}, RESET, {"depth": 3}))
    assert plain["update"] == list(range(21))
    for name in ("accuracy", "steps", "one_step"):
        assert len(plain[name]) == 21
        assert plain[name][:11] == new[name][:11] == fixed[name][:11]
    assert all(1 <= steps <= 6 for steps in plain["steps"])
    assert plain != new
    assert set(fixed["steps"][11:]) == {3.0}
    assert fixed["steps"][10] != 3.0
    assert fixed["whose"]["remainder"] == pytest.approx(1.0)
    names = [price.changed(change) for change in ({}, RESET, {"depth": 3})]
    assert names == ["nothing changed", "a new halting unit", "3 steps for everyone"]


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
    assert price.learnt_at(row, at_least=0.5) == 0


def test_a_table_has_the_means_of_each_run_and_who_has_learnt():
    row = {"kind": "ACT", "hyperparameter": 0.1, "accuracy": [1.0, 0.92], "steps": [2.0, 3.0]}
    table = price.table([row], [row | {"accuracy": [0.9, 0.9]}])
    assert table[["accuracy", "steps", "learnt", "live"]].to_numpy().tolist() == [
        [0.96, 2.5, True, True],
        [0.9, 2.5, False, False],
    ]
    assert price.table([], [])["learnt"].sum() == 0


def test_halting_units_are_weights_that_the_exercise_accepts():
    checks.check_weights_with_cap(halt)


def test_networks_trained_now_stand_before_stored_ones_that_differ_in_the_seed_alone():
    base = SMALL | {"updates": 6}
    old = [base | {"kind": "ACT", "hyperparameter": tau, "seed": 0, "accuracy": [1], "steps": [2]} for tau in (0.01, 5)]
    files = {"ACT": old}
    table = price.train_beside_stored(base, 2, files.get, "ACT", [0.01, 0.1], device="cpu", workers=1)
    assert table["setting"].tolist() == [0.01, 0.01, 0.1, 0.1, 0.01]
    assert table["live"].tolist() == [True] * 4 + [False]
    accuracy = price.run("ACT", 0.1, **base, seed=101)["accuracy"]
    assert table["accuracy"][3] == pytest.approx(sum(accuracy) / len(accuracy))
    stored = price.train_beside_stored(base, 0, files.get, "ACT", [0.01, 0.1], device="cpu", workers=1)
    assert stored.to_dict("list") == price.table([], old[:1]).to_dict("list")
    assert not stored["live"].any()


@given(st.floats(-3, 6))
def test_later_states_weigh_what_the_first_does_not_and_nothing_where_it_is_the_last(bias):
    model = measurements.act(4, 8, 20)
    nn.init.zeros_(model.halting.weight)
    nn.init.constant_(model.halting.bias, bias)
    x, y = ParityTask(4).batch(7)
    seen = later_states.look(model, x, y)
    lambda_1 = torch.tensor(bias).sigmoid().item()
    stops = lambda_1 >= 0.99
    assert seen["later"] == pytest.approx(0.0 if stops else 1 - lambda_1, abs=1e-5)
    assert seen["one_step"] == stops
