"""What lesson 01 measures: prices that change, whose answer it is, and runs that are those of the stored files."""

from collections import Counter
from pathlib import Path

import pytest
import torch

from ponder_utils import ACT, ACTOutput, ParityTask, RNNCell
from ponder_course.experiments import parity, act_presentation as presentation, act_background as price
from ponder_course.results import load_results
from ponder_course.store import key_of
from ponder_course.experiments.act_by_hand import scripted

RESULTS = Path(__file__).resolve().parents[1] / "results"
SMALL = {"elements": 4, "hidden": 8, "N": 6, "lr": 7e-3, "clip": 0.1}


def stored(name):
    return load_results(RESULTS / f"01_act_{name}_class.jsonl")


@pytest.mark.parametrize("grid", price.GRIDS)
def test_stored_runs_are_those_of_the_settings(grid):
    wanted = price.settings(grid)
    rows = [{name: row[name] for name in wanted[0]} for row in stored(grid)]
    assert {key_of(setting) for setting in wanted} == {key_of(row) for row in rows}


def test_stored_controls_are_those_of_the_settings():
    measured = {"update", "accuracy", "thinks", "one", "whose"}
    rows = [{name: value for name, value in row.items() if name not in measured} for row in stored("controls")]
    assert {key_of(setting) for setting in price.controls()} == {key_of(row) for row in rows}


@pytest.mark.parametrize("kind", ["fixed depth", "ACT", "charged late", "charged early"])
def test_a_run_is_scored_for_every_k_and_made_again_the_same(kind):
    first, again = (price.run(kind, 2, **SMALL, updates=6, seed=1) for _ in range(2))
    assert first == again
    assert len(first["accuracy"]) == len(first["n_updates"]) == len(parity.tested_k(4)) == 4
    assert all(0 <= share <= 1 for share in first["accuracy"])
    assert kind != "fixed depth" or first["n_updates"] == [2.0] * 4


def test_a_fixed_depth_is_so_many_calls_of_the_cell():
    model, x = price.FixedDepth(4, 8, depth=3), ParityTask(4).batch(5)[0]
    s = model.cell(x, model.cell(x, model.cell(x)))
    torch.testing.assert_close(model(x[None])[0], model.output(s)[:, 0])


def test_prices_come_one_after_the_other():
    zeros = torch.zeros(1, 2)
    output = ACTOutput(zeros, zeros + 2, zeros + 0.5, None)  # a cost of 2.5
    loss_fn = price.charge([(0.1, 2), (0.0, 1), (1.0, 1)])
    terms = [loss_fn(output, zeros) for _ in range(4)]
    assert [round((its.total - its.reconstruction).item(), 5) for its in terms] == [0.25, 0.25, 0, 2.5]
    with pytest.raises(StopIteration):
        loss_fn(output, zeros)


def test_stories_are_cheap_or_dear_and_the_early_one_has_time_to_recover():
    stories = price.stories(200)
    assert {tau for prices in stories.values() for tau, _ in prices} == {price.CHEAP, price.DEAR}
    assert [price.dear(prices) for prices in stories.values()] == [[], [(100, 200)], [(0, 100)], [(0, 200)]]
    assert price.dear([[price.DEAR, 0], [price.CHEAP, 9]]) == []
    assert sum(its for _, its in stories["charged early"]) == 400


def test_following_looks_from_before_the_first_update_to_the_last():
    row = price.follow([[0.1, 10], [1e-4, 10]], **SMALL, seed=0)
    assert row["update"] == list(range(21))
    for name in ("accuracy", "thinks", "one"):
        assert len(row[name]) == 21
    assert all(1 <= thinks <= 6 for thinks in row["thinks"])


def test_a_new_halting_unit_changes_nothing_before_the_price_falls():
    plain, new = (price.follow([[0.1, 10], [1e-4, 10]], **SMALL, seed=0, reset=reset) for reset in (False, True))
    assert plain["thinks"][:11] == new["thinks"][:11]
    assert plain["accuracy"][:11] == new["accuracy"][:11]
    assert plain != new


def test_whose_answer_one_input_at_a_time():
    torch.manual_seed(3)
    model = ACT(RNNCell(5, 8), max_updates=7)
    torch.nn.init.normal_(model.halting.weight, std=4)
    torch.nn.init.constant_(model.halting.bias, -2.0)
    x, y = ParityTask(4).batch(60)
    found, N, last, alone = price.whose_answer(model, x, y), [], [], []
    for x_i, y_i in zip(x, y, strict=True):
        n_i = int(model.predict(x_i[None, None]).n_updates)
        s, oks = None, []
        for n in range(n_i):
            s = model.cell(torch.cat([x_i, torch.tensor([float(n == 0)])])[None], s)
            oks.append(bool((model.output(s)[0, 0] > 0) == (y_i > 0.5)))
        N.append(n_i)
        alone.append(oks)
        last.append(oks[-1])
    assert len(set(N)) > 2
    assert found["last"] == pytest.approx(sum(last) / 60, abs=1e-4)
    for its in found["by_n"]:
        n, there = its["n"], [ok for ok, n_i in zip(last, N, strict=True) if n_i == its["n"]]
        on = [oks[n - 1] for oks in alone if len(oks) > n]
        assert its["halt"] == pytest.approx(Counter(N)[n] / 60, abs=1e-4)
        assert its["right"] == (pytest.approx(sum(there) / len(there), abs=1e-4) if there else None)
        assert its["right, going on"] == (pytest.approx(sum(on) / len(on), abs=1e-4) if on else None)
    weights = [its["halt"] * its["remainder"] for its in found["by_n"] if its["halt"]]
    assert sum(weights) == pytest.approx(found["remainder"], abs=1e-3)


@pytest.mark.parametrize(
    ("h", "epsilon", "N", "R"),
    [([0.1, 0.3, 0.55, 0.5], 0.1, 3, 0.6), ([0.995, 0.5], 0.01, 1, 1), ([0.2, 0.2], 0.01, 2, 0.8), ([0.3], 0.1, 1, 1)],
)
def test_scripted_halting_units_are_those_that_act_sees(h, epsilon, N, R):
    output = scripted(h, epsilon)
    assert output.n_updates.item() == N
    assert output.remainder.item() == pytest.approx(R)


def test_what_was_changed_is_told():
    told = Counter(
        price.changed(row) for row in stored("controls") if row["prices"] == price.stories(2000)["charged early"]
    )
    assert told == {"nothing changed": 5, "a new halting unit": 5, "2 updates for everyone": 5}


def test_learnt_is_what_stays_learnt():
    row = {"update": [0, 10, 20, 30], "accuracy": [0.5, 0.97, 0.9, 0.96]}
    assert price.learnt_at(row) == 30
    assert price.learnt_at(row | {"accuracy": [0.5, 0.97, 0.97, 0.9]}) is None
    assert price.learnt_at(row, least=0.5) == 0


def test_a_table_has_the_means_of_each_run_and_who_has_learnt():
    row = {"kind": "ACT", "knob": 0.1, "accuracy": [1.0, 0.92], "n_updates": [2.0, 3.0]}
    table = price.table([row], [row | {"accuracy": [0.9, 0.9]}])
    assert table[["accuracy", "updates", "learnt", "live"]].to_numpy().tolist() == [
        [0.96, 2.5, True, True], [0.9, 2.5, False, False],
    ]  # fmt: skip
    assert price.table([], [])["learnt"].sum() == 0


def test_the_presentations_inputs_are_all_those_that_it_draws():
    everything = presentation.every_front()
    known = {tuple(x) for x in everything.tolist()}
    assert len(known) == len(everything) == 254
    x, y = presentation.front(500, torch.Generator().manual_seed(0))
    assert {tuple(its) for its in x.tolist()} <= known
    assert [its.count(1) % 2 for its in x.tolist()] == y.tolist()


def test_the_presentations_training_is_scored_every_second_epoch():
    row = presentation.run(epochs=2, seed=0)
    assert len(row["accuracy"]) == len(row["n_updates"]) == 1
    assert sum(row["sixteens"]) == 1000
