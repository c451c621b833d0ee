"""The engine of the experiments at the papers' sizes: each method is judged rightly, and goes on after a kill."""

import inspect
import shutil

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_utils import ParityTask
from ponder_utils.evaluation import evaluate
from ponder_course import results
from ponder_course.experiments import papers_size
from ponder_course.store import key_of, plain

SMALL = {"elements": 6, "k_max": 4, "hidden": 24, "N": 5, "batch": 64, "updates": 600, "lr": 3e-3,
         "muon": 3.0, "clip": 0.3, "gain": 4.0, "halting": -1.0, "first": 1, "raise_at": 0.8, "patience": 40,
         "seed": 0}  # fmt: skip
KNOBS = {"PonderNet": 0.2, "ACT": 1e-4, "last step": 0.2, "every step": 0.2}


@pytest.mark.parametrize("name", KNOBS)
def test_what_is_told_of_a_run(name, monkeypatch):
    monkeypatch.setattr(papers_size, "PROBED", (4, 64))
    told = papers_size.run(name, knob=KNOBS[name], **SMALL)
    curve = told["curve"]
    assert len(told["accuracy"]) == len(told["steps"]) == 6
    assert curve["K"][0] == 1
    assert curve["K"][-1] > 1
    assert curve["K"] == sorted(curve["K"])
    (by_ones,) = told["by_ones"]
    assert len(by_ones["steps"]) == 5
    assert [len(by_step) for by_step in told["by_step"]] == [5] * (name != "ACT")
    assert told["accuracy"][0] > 0.9  # one element is learnt at once
    assert all(1 <= n <= 5 for n in told["steps"])
    if name in ("last step", "every step"):
        assert set(told["steps"]) == {5.0}
    assert {len(column) for column in curve.values()} == {len(curve["update"])}
    assert curve["update"][-1] == SMALL["updates"]


@given(st.integers(1, 20), st.data())
def test_inputs_with_so_many_ones(elements, data):
    k = data.draw(st.integers(0, elements))
    ones = data.draw(st.integers(0, k))
    x, y = papers_size.with_ones(elements, k, ones, 7, torch.Generator().manual_seed(0))
    assert x.shape == (7, elements)
    assert ((x == 1).sum(1) == ones).all()
    assert ((x == -1).sum(1) == k - ones).all()
    assert (y == ones % 2).all()


def test_without_a_curriculum_every_k_is_drawn_from_the_first_update_on():
    assert papers_size.run("PonderNet", knob=0.2, **SMALL | {"first": 4, "updates": 100})["curve"]["K"] == [4, 4]


@pytest.mark.parametrize("name", KNOBS)
def test_accuracy_and_steps_are_those_of_the_method(name):
    torch.manual_seed(0)
    model, _, score = papers_size.method(name, KNOBS[name], 6, 24, 5, None, 0.0)
    x, y = ParityTask(6).batch(500)
    if name == "ACT":
        output = model(x[None])
        assert score(model, x[None], y[None]) == pytest.approx(
            (((output.y_hat[0] > 0) == (y > 0)).float().mean().item(), output.n_updates.float().mean().item())
        )
        return
    its = evaluate(model, x, y)
    assert score(model, x, y) == ((its.accuracy, its.steps) if name == "PonderNet" else (its.accuracy_by_step[4], 5))


@pytest.mark.parametrize("name", KNOBS)
def test_the_first_weights(name):
    torch.manual_seed(0)
    plain = papers_size.method(name, 0.2, 6, 24, 5, None, 0.0).model.state_dict()
    torch.manual_seed(0)
    made = papers_size.method(name, 0.2, 6, 24, 5, 4.0, -5.0).model.state_dict()
    changed = {key for key in plain if not torch.equal(plain[key], made[key])}
    cell, halting = ("cell", "halting") if name == "ACT" else ("step.cell", "step.heads")
    assert changed == {f"{cell}.from_x.weight", f"{halting}.bias"}
    from_x = made[f"{cell}.from_x.weight"]  # each element has a unit of its own; ACT's flag is read as ever
    assert torch.equal(from_x[:, :6], 4 * torch.eye(24, 6))
    assert torch.equal(from_x[:, 6:], plain[f"{cell}.from_x.weight"][:, 6:])
    assert made[f"{halting}.bias"][-1] == -5


def test_adam_alone_is_another_training():
    runs = [papers_size.run("PonderNet", knob=0.2, **SMALL | {"updates": 100, "muon": muon}) for muon in (None, 3.0)]
    assert runs[0]["curve"]["accuracy"] != runs[1]["curve"]["accuracy"]


@pytest.mark.parametrize("elements", [1, 2, 5, 8, 64, 96])
def test_two_steps_are_enough_for_any_k(elements):
    task, generator = ParityTask(elements, 0), torch.Generator().manual_seed(0)
    its = evaluate(papers_size.by_hand(elements, N=5), *task.batch(5000, generator))
    assert its.accuracy_by_step[1:] == [1.0] * 4
    if elements == 64:
        assert its.accuracy_by_step[0] < 0.6
        assert papers_size.by_hand(64).step.cell.hidden_size == papers_size.RECIPE["hidden"]


def test_a_killed_run_goes_on(tmp_path, monkeypatch):
    setting = {"network": "PonderNet", "knob": 0.2, **SMALL}
    whole = papers_size.run(**setting)
    count = iter(range(250))

    def draw_or_die(self, batch_size, generator=None, batch=ParityTask.batch):
        if generator is not None and batch_size == SMALL["batch"] and next(count, None) is None:
            raise KeyboardInterrupt
        return batch(self, batch_size, generator)

    monkeypatch.setattr(papers_size, "CHECKPOINT_EVERY", 50)
    store = tmp_path / "runs.jsonl"
    with monkeypatch.context() as until:
        until.setattr(ParityTask, "batch", draw_or_die)
        with pytest.raises(KeyboardInterrupt):
            results.run_grid(papers_size.run, [setting], store=store, checkpointed=True)
    monkeypatch.setattr(ParityTask, "batch", lambda *its, batch=ParityTask.batch: made.append(1) or batch(*its))
    made = []
    (row,) = results.run_grid(papers_size.run, [setting], store=store, checkpointed=True)
    assert {name: row[name] for name in whole} == whole
    assert len(made) < SMALL["updates"]  # it went on, and did not begin anew


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile wants a C++ compiler")
def test_compiled_it_learns_the_same():
    small = {"network": "PonderNet", "knob": 0.2, **SMALL, "updates": 100}
    plain, compiled = papers_size.run(**small), papers_size.run(**small, compiled=True)
    assert compiled["curve"]["accuracy"] == pytest.approx(plain["curve"]["accuracy"], abs=0.05)
    assert compiled["steps"] == pytest.approx(plain["steps"], abs=0.2)


EXPERIMENTS = ("64", "96", "recipe", "knobs")


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_settings_are_all_different_and_can_be_run(experiment):
    wanted = papers_size.settings(experiment)
    assert len({key_of(setting) for setting in wanted}) == len(wanted)
    for setting in wanted:
        assert setting == plain(setting)
        inspect.signature(papers_size.run).bind(**setting)


def test_no_experiment_makes_a_run_of_another_again():
    wanted = [key_of(setting) for experiment in EXPERIMENTS for setting in papers_size.settings(experiment)]
    assert len({*wanted}) == len(wanted)
    assert [its["network"] for its in papers_size.settings("64")[:4]] == [*papers_size.METHODS]


def test_an_unknown_experiment_is_named():
    with pytest.raises(ValueError, match="experiment must be one of 64, 96, recipe, knobs; got '65'"):
        papers_size.settings("65")


def measured(network, steps_at_16, right, k_max=16):
    by_ones = [{"steps": [float(k)] * (k + 1), "accuracy": [1.0] * (k + 1)} for k in (8, 16)]
    accuracy, steps = [right] * k_max + [0.5] * 4, [9.0] * 15 + [steps_at_16] * 5
    return {"network": network, "k_max": k_max, "accuracy": accuracy, "steps": steps, "by_ones": by_ones}


def test_the_earliest_and_the_latest_are_found_and_told_with_what_they_have_learnt():
    rows = [measured("PonderNet", 5.0, 0.97), measured("ACT", 4.0, 0.6), measured("PonderNet", 3.0, 0.8)]
    assert [papers_size.within(row) for row in rows] == pytest.approx([0.97, 0.6, 0.8])
    assert [papers_size.beyond(row) for row in rows] == [0.5] * 3
    assert papers_size.by_pace(rows) == [rows[2], rows[1], rows[0]]
    found = papers_size.extremes(rows)
    assert [title.split("\n")[0] for title in found] == [
        "ACT, the earliest",
        "PonderNet, the earliest",
        "PonderNet, the latest",
    ]
    assert [title.split()[3] for title in found] == ["60%", "80%", "97%"]
    assert all(its == {8: ([8.0] * 9, [1.0] * 9), 16: ([16.0] * 17, [1.0] * 17)} for its in found.values())
    assert papers_size.extremes([]) == {}


def test_a_clock_has_a_time_for_each_count_whatever_k():
    def by(count):
        return {"by_ones": [{"steps": [count(k, ones) for ones in range(k + 1)]} for k in (8, 16, 32)]}

    assert papers_size.clock(by(lambda k, ones: 20.0 - ones)) == (0, 10)
    assert papers_size.clock(by(lambda k, ones: k / 2)) == (8, 0)
