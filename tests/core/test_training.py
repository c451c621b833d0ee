"""The training loop: what it does, what it refuses, and that a run that was cut off goes on as if it had not been."""

import itertools
import math
import os
import random
import signal
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from processes import CONTEXT
from small import (
    HELD_OUT,
    SETTINGS,
    TASK,
    WITH_ADAM,
    Killed,
    Normed,
    WithDropout,
    cross_entropy,
    draw,
    draw_until,
    make,
    score,
    weights,
)
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR, ReduceLROnPlateau, StepLR

from ponder_course.common.curriculum import Curriculum
from ponder_course.common.muon import MuonAndAdam
from ponder_utils.act import ACT
from ponder_utils.cells import RNNCell
from ponder_utils.checkpoints import load_checkpoint, load_weights
from ponder_utils.evaluation import evaluate
from ponder_utils.losses import ACTLoss, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.tasks import ParityTask
from ponder_utils.training import NonFiniteError, cool_down, train

OPTIMIZERS = {
    "Adadelta": lambda m: torch.optim.Adadelta(m.parameters(), lr=1.0),
    "Adafactor": lambda m: torch.optim.Adafactor(m.parameters(), lr=1e-2),
    "Adagrad": lambda m: torch.optim.Adagrad(m.parameters(), lr=1e-2),
    "Adam": lambda m: torch.optim.Adam(m.parameters(), lr=5e-3),
    "Adam, fused": lambda m: torch.optim.Adam(m.parameters(), lr=5e-3, fused=True),
    "AdamW": lambda m: torch.optim.AdamW(m.parameters(), lr=5e-3, amsgrad=True),
    "Adamax": lambda m: torch.optim.Adamax(m.parameters(), lr=5e-3),
    "ASGD": lambda m: torch.optim.ASGD(m.parameters(), lr=0.5),
    "NAdam": lambda m: torch.optim.NAdam(m.parameters(), lr=5e-3),
    "RAdam": lambda m: torch.optim.RAdam(m.parameters(), lr=5e-3),
    "RMSprop": lambda m: torch.optim.RMSprop(m.parameters(), lr=1e-3),
    "Rprop": lambda m: torch.optim.Rprop(m.parameters(), lr=1e-3),
    "SGD": lambda m: torch.optim.SGD(m.parameters(), lr=0.5),
    "SGD, Nesterov": lambda m: torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, nesterov=True),
    "Muon and Adam": lambda m: MuonAndAdam(m, 2e-3, ratio=2.0),
}


def one_cycle(optimizer):
    return OneCycleLR(optimizer, 5e-3, total_steps=200)


def plateau(optimizer):
    return ReduceLROnPlateau(optimizer, mode="max", patience=0)


class Named(NamedTuple):
    """Terms of a loss, of which one has the name of a number of a row."""

    total: torch.Tensor
    lr: float


def poisoned_after(n_updates):
    """A loss that is nan from one update on."""
    _, loss = make()
    left = iter(range(n_updates))

    def loss_fn(output, y):
        terms = loss(output, y)
        return terms if next(left, None) is not None else terms._replace(total=terms.total * math.nan)

    return loss_fn


def easy(generator):
    return ParityTask(6, 1, 1).batch(32, generator)


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_ordinary_optimizers_train_diverge_and_resume(tmp_path, kind):
    options: dict = {"log_every": 10, "checkpoint_every": 20, "progress": False}
    (model, loss), build = make(), OPTIMIZERS[kind]
    rows = train(model, loss, easy, 80, optimizer=build(model), **options)
    assert rows[-1]["total"] < rows[0]["total"] - 0.005

    cut, loss = make()
    with pytest.raises(NonFiniteError, match="update 51: total, grad_norm not finite"):
        train(cut, poisoned_after(50), easy, 80, optimizer=build(cut), checkpoint_dir=tmp_path, **options)
    whole, loss = make()
    train(whole, loss, easy, 50, optimizer=build(whole), **options)
    assert torch.equal(weights(cut), weights(whole))  # those before the update that was not finite

    resumed, loss = make(seed=7)  # whatever it starts from is replaced
    healthy = poisoned_after(10**9)  # the same function as before: another loss would be another run
    assert train(resumed, healthy, easy, 80, optimizer=build(resumed), checkpoint_dir=tmp_path, **options) == rows
    assert torch.equal(weights(resumed), weights(model))


SCHEDULES = {"no": None, "cycle": one_cycle, "plateau": plateau, "cool": cool_down(200)}


@pytest.mark.parametrize(("kind", "killed_after"), [*((kind, 119) for kind in SCHEDULES), ("no", 1)])
def test_resumed_equals_uninterrupted_bit_for_bit(tmp_path, kind, killed_after):
    def run(batches, seed=0, **options):
        model, loss = make(seed, step=WithDropout)
        torch.manual_seed(123)
        rows = train(model, loss, batches, 200, schedule=SCHEDULES[kind], **WITH_ADAM | options)
        return rows, weights(model)

    rows, kept = run(draw)
    with pytest.raises(Killed):
        run(draw_until(killed_after), checkpoint_dir=tmp_path)
    seed = 0 if killed_after == 1 else 7  # it starts again before the first checkpoint; later it has others' weights
    again, resumed = run(draw, seed, checkpoint_dir=tmp_path)
    assert again == rows
    assert torch.equal(resumed, kept)


def long_training(folder):
    """With a curriculum and Muon, as at the papers' sizes."""
    torch.manual_seed(0)
    model = PonderNet(WithDropout(6, 32), 6)
    curriculum = Curriculum(
        lambda K, g: ParityTask(6, 1, K).batch(64, g), lambda m, x, y: evaluate(m, x, y).accuracy, 6, raise_at=0.6
    )
    options = {"monitor": "K", "log_every": 20, "checkpoint_every": 7, "checkpoint_dir": folder, "progress": False}
    options |= {"optimizer": MuonAndAdam(model, 2e-3, 2.0), "schedule": cool_down(400), "evaluate": curriculum.evaluate}
    rows = train(model, PonderLoss(cross_entropy, 0.3), curriculum, 400, **options)
    return rows, weights(model)


def checkpointed_update(folder):
    path = folder / "last.pt"
    return load_checkpoint(path)["update"] if path.exists() else 0


@pytest.mark.slow
def test_killed_twenty_times_it_ends_as_if_it_had_not_been(tmp_path):
    rows, kept = long_training(tmp_path / "whole")
    assert rows[-1]["K"] > rows[0]["K"]
    kills = random.Random(0)
    killed, updates = tmp_path / "killed", []
    for n_kills in range(20):
        child = CONTEXT.Process(target=long_training, args=(killed,))
        child.start()
        deadline = time.monotonic() + 120
        while checkpointed_update(killed) < 14 * n_kills:  # by updates, as machines differ in speed
            assert child.is_alive()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(kills.uniform(0, 0.02))
        assert child.is_alive()
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        updates.append(checkpointed_update(killed))
    assert updates == sorted(updates)
    assert updates[-1] < 400
    again, resumed = long_training(killed)
    assert again == rows
    assert torch.equal(resumed, kept)
    assert sorted(path.name for path in killed.iterdir() if path.suffix == ".pt") == ["best.pt", "last.pt"]


@pytest.mark.parametrize("lambda_p", [0.1, 0.9, 1.0])
def test_every_prior_stays_finite_at_a_high_learning_rate(lambda_p):
    model, _ = make(max_steps=20)
    rows = train(model, PonderLoss(cross_entropy, lambda_p), draw, 100, lr=2e-2, progress=False)
    assert all(math.isfinite(value) for row in rows for value in row.values())


def test_an_update_is_what_a_loop_by_hand_makes():
    (model, loss), (twin, _) = make(), make()
    rows = train(model, loss, draw, 10, lr=5e-3, clip=0.02, log_every=1, seed=3, progress=False)
    optimizer, generator = torch.optim.Adam(twin.parameters(), lr=5e-3), torch.Generator().manual_seed(3)
    for row in rows:
        x, y = draw(generator)
        terms = loss(twin(x), y)
        optimizer.zero_grad()
        terms.total.backward()
        norm = nn.utils.clip_grad_norm_(twin.parameters(), 0.02)
        optimizer.step()
        assert row["total"] == pytest.approx(terms.total.item(), rel=1e-5)
        assert row["grad_norm"] == pytest.approx(norm.item(), rel=1e-4)
        assert row["grad_norm"] > 0.02  # before it was clipped
    torch.testing.assert_close(weights(model), weights(twin), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("term", ["reconstruction", "regularization"])
@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_the_first_non_finite_loss_stops_the_run_and_is_named(term, value):
    model, loss = make()
    seen = []

    def poisoned(output, y):
        seen.append(weights(model))
        terms = loss(output, y)
        if len(seen) == 13:
            terms = terms._replace(**{term: terms.reconstruction * value})
            terms = terms._replace(total=terms.reconstruction + terms.regularization)
        return terms

    with pytest.raises(NonFiniteError, match=rf"update 13: total, {term}.* not finite .*weights were not updated"):
        train(model, poisoned, draw, 50, **WITH_ADAM)
    assert torch.equal(weights(model), seen[-1])


def test_a_non_finite_gradient_of_a_finite_loss_is_named():
    model, loss = make()

    def root_of_zero(output, y):
        terms = loss(output, y)
        return terms._replace(total=terms.total + (output.y_hat * 0).abs().sum().sqrt())

    with pytest.raises(NonFiniteError, match="update 1: grad_norm not finite"):
        train(model, root_of_zero, draw, 5, **WITH_ADAM)


def test_an_update_that_is_not_finite_leaves_running_means_alone():
    model, loss = make(step=Normed)
    left, seen = iter(range(12)), []

    def draw_then_break(generator):
        x, y = draw(generator)
        return (x, y) if next(left, None) is not None else (x * math.nan, y)

    def keep(model):
        seen.append([buffer.clone() for buffer in model.buffers()])
        return {"accuracy": 0}

    with pytest.raises(NonFiniteError, match="update 13"):
        train(model, loss, draw_then_break, 50, **WITH_ADAM | {"log_every": 1, "evaluate": keep})
    assert len(seen) == 12
    assert all(torch.equal(buffer, kept) for buffer, kept in zip(model.buffers(), seen[-1], strict=True))


def test_a_buffer_may_be_made_and_resized_in_the_forward_pass():
    class Grows(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.seen = make()[0], None
            self.register_buffer("scale", None)

        def forward(self, x):
            self.scale = x.std()[None] if self.scale is None else torch.cat([self.scale, x.std()[None]])
            return self.inner(x)

    model = Grows()
    train(model, make()[1], draw, 20, **WITH_ADAM | {"evaluate": None})
    assert model.scale.shape == (20,)


@pytest.mark.parametrize(("mode", "best"), [("max", 0.7), ("min", 0.4)])
def test_early_stop_and_best_checkpoint(tmp_path, mode, best):
    model, loss = make()
    scores = {"max": [0.5, 0.7, 0.6, math.nan, 0.69, 0.99], "min": [0.5, 0.4, 0.6, math.nan, 0.45, 0.1]}[mode]
    left, seen = iter(scores), []

    def scripted(model):
        seen.append(weights(model))
        return {"score": next(left)}

    settings = WITH_ADAM | {"evaluate": scripted, "monitor": "score", "mode": mode, "patience": 3}
    rows = train(model, loss, draw, 1000, checkpoint_dir=tmp_path, **settings)
    np.testing.assert_equal([row["score"] for row in rows], scores[:-1])
    load_weights(model, tmp_path / "best.pt")
    assert torch.equal(weights(model), seen[scores.index(best)])
    load_weights(model, tmp_path / "last.pt")
    assert torch.equal(weights(model), seen[-1])
    again = train(model, loss, draw, 1000, checkpoint_dir=tmp_path, **settings)  # has stopped
    np.testing.assert_equal(again, rows)


@given(n_updates=st.integers(1, 60), beyond=st.integers(0, 200))
def test_a_cooled_rate_stays_falls_to_zero_and_is_never_negative(n_updates, beyond):
    optimizer = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=2.0)
    schedule = cool_down(n_updates)(optimizer)
    rates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no update is made here
        for _ in range(n_updates + beyond + 1):
            rates.append(optimizer.param_groups[0]["lr"])
            schedule.step()
    assert all(rate == 2.0 for rate in rates[: n_updates // 2 + 1])
    assert all(after <= before for before, after in itertools.pairwise(rates))
    assert all(rate == 0 for rate in rates[n_updates:])
    assert rates[n_updates - 1] > 0


def test_a_plateau_is_of_the_monitored_number():
    model, loss = make()
    left = iter([0.5, 0.6, 0.6, 0.6, 0.6])
    schedule = lambda o: ReduceLROnPlateau(o, mode="max", factor=0.1, patience=1, threshold=0)  # noqa: E731
    options = WITH_ADAM | {"evaluate": lambda _: {"accuracy": next(left)}, "log_every": 10}
    rows = train(model, loss, draw, 50, schedule=schedule, **options)
    assert [row["lr"] for row in rows] == pytest.approx([5e-3, 5e-3, 5e-3, 5e-3, 5e-4])


def test_log_takes_any_callable_and_the_bar_shows_in_a_terminal(capsys):
    model, loss = make()
    rows = []
    returned = train(model, loss, draw, 60, log=rows.append, **WITH_ADAM | {"progress": True})
    assert returned == rows
    assert "60/60" in capsys.readouterr().out
    assert list(rows[0]) == ["update", "total", "reconstruction", "regularization", "grad_norm", "lr", "accuracy"]


def test_a_folder_in_use_is_refused_and_free_again_after_an_error(tmp_path):
    model, loss = make()

    def nested(row):
        with pytest.raises(ValueError, match=r"checkpoint_dir must be a run's own folder; .* is in use"):
            train(make()[0], loss, draw, 20, checkpoint_dir=tmp_path, **WITH_ADAM)
        raise Killed

    with pytest.raises(Killed) as kept:
        train(model, loss, draw, 20, checkpoint_dir=tmp_path, log=nested, **WITH_ADAM)
    assert kept.tb  # the error is still there, and what it refers to
    assert len(train(model, loss, draw, 20, checkpoint_dir=tmp_path, **WITH_ADAM)) == 1


@pytest.mark.parametrize("frozen", [True, False])
def test_a_network_is_trained_in_training_mode_but_for_a_frozen_part(frozen):
    model, loss = make(step=Normed)
    model.train(frozen)
    if frozen:
        model.step.norm.eval()
    before = [buffer.clone() for buffer in model.buffers()]
    train(model, loss, draw, 40, **WITH_ADAM)
    assert all(part.training for part in model.modules() if part is not model.step.norm)
    assert model.step.norm.training != frozen
    assert frozen == all(torch.equal(*pair) for pair in zip(model.buffers(), before, strict=True))


@pytest.mark.parametrize("clip", [None, math.inf])
def test_clipping_can_be_switched_off(clip):
    (model, loss), (alike, _) = make(), make()
    rows = train(model, loss, draw, 20, **WITH_ADAM | {"clip": clip, "log_every": 1})
    assert train(alike, loss, draw, 20, **WITH_ADAM | {"clip": 1e9, "log_every": 1}) == rows
    assert max(row["grad_norm"] for row in rows) > 0


def with_numpy(optimizer):
    return LambdaLR(optimizer, lambda update: 0.5 * (1 + np.cos(np.pi * update / 60)))


def with_lists(model):
    return score(model) | {"by_k": [np.float64(0.5), {"deep": np.arange(3)}], "score": evaluate(model, *HELD_OUT)}


def test_numbers_of_numpy_and_named_tuples_can_be_resumed_from(tmp_path):
    options = WITH_ADAM | {"schedule": with_numpy, "evaluate": with_lists, "checkpoint_every": 20}
    (whole, loss), (cut, _), (again, _) = make(), make(), make()
    rows = train(whole, loss, draw, 60, **options)
    with pytest.raises(Killed):
        train(cut, loss, draw_until(45), 60, checkpoint_dir=tmp_path, **options)
    assert train(again, loss, draw, 60, checkpoint_dir=tmp_path, **options) == rows
    assert rows[0]["by_k"] == [0.5, {"deep": [0, 1, 2]}]
    assert rows[0]["score"][0] == rows[0]["accuracy"]
    assert torch.equal(weights(again), weights(whole))


def test_an_evaluation_that_leaves_the_model_evaluating_changes_nothing():
    seen = []
    for kind in (score, lambda model: score(model.eval())):
        torch.manual_seed(0)
        model = PonderNet(WithDropout(6, 16), 6)
        torch.manual_seed(1)
        train(model, make()[1], draw, 60, **WITH_ADAM | {"evaluate": kind})
        seen.append(weights(model))
        assert model.training
    assert torch.equal(*seen)


class Pair(nn.Module):
    """A network of a tuple of inputs."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 1)

    def forward(self, x):
        tokens, mask = x
        return (self.layer(tokens) * mask)[:, 0]


def sequences(generator):
    x, y = draw(generator)
    return x[None], y[None]


def pairs(generator):
    x, y = draw(generator)
    return [x, x[:, :1] * 0 + 1], y


@pytest.mark.parametrize(
    ("model", "loss", "batches", "terms"),
    [
        (Pair(), nn.BCEWithLogitsLoss(), pairs, []),
        (ACT(RNNCell(7, 16), max_steps=5), ACTLoss(cross_entropy, 1e-3), sequences, ["reconstruction", "cost"]),
    ],
    ids=["pairs", "ACT"],
)
def test_any_network_and_loss_are_trained_on_inputs_of_several_parts_and_on_sequences(model, loss, batches, terms):
    rows = train(model, loss, batches, 40, lr=5e-3, log_every=20, progress=False)
    assert [list(row) for row in rows] == [["update", "total", *terms, "grad_norm", "lr"]] * 2
    if terms:
        assert rows[-1]["total"] == pytest.approx(rows[-1]["reconstruction"] + 1e-3 * rows[-1]["cost"], rel=1e-5)


def terms(**values):
    """A loss of terms by these names, beside its total."""
    return lambda output, y: {"total": make()[1](output, y).total, **values}


def returned(value):
    return lambda *_: value


def optimized(build):
    return {"lr": None, "optimizer": build}


def frozen():
    return make()[0].requires_grad_(False)


@pytest.mark.parametrize(
    ("changed", "error", "named"),
    [
        ({"model": returned(1)}, TypeError, "model .*function"),
        ({"model": nn.Flatten()}, ValueError, "model must have weights that learn"),
        ({"model": frozen()}, ValueError, "model must have weights that learn"),
        ({"loss_fn": None}, TypeError, "loss_fn .*None"),
        ({"loss_fn": returned(None)}, TypeError, "loss_fn .*None"),
        ({"loss_fn": returned(1.0)}, TypeError, "loss_fn .*1.0"),
        ({"loss_fn": terms(update=torch.zeros(()))}, ValueError, "loss_fn .*update"),
        ({"loss_fn": terms(grad_norm=1.0)}, ValueError, "loss_fn .*grad_norm"),
        ({"loss_fn": lambda output, y: Named(output.y_hat.mean(), 1.0)}, ValueError, "loss_fn .*lr"),
        ({"loss_fn": terms(total=1.0)}, ValueError, "loss_fn .*total"),
        ({"loss_fn": lambda output, y: {"loss": output.y_hat.mean()}}, ValueError, "loss_fn .*total"),
        ({"loss_fn": lambda output, y: output.y_hat.detach().mean()}, ValueError, "loss_fn .*gradient"),
        ({"loss_fn": lambda output, y: output.y_hat[0]}, ValueError, "loss_fn .*scalar"),
        ({"loss_fn": terms(by_sample=torch.zeros(2))}, ValueError, "loss_fn .*by_sample"),
        ({"loss_fn": terms(text="good")}, ValueError, "loss_fn .*text"),
        ({"batches": None}, TypeError, "batches .*None"),
        ({"batches": 5}, TypeError, "batches .*5"),
        ({"batches": lambda g: TASK.batch(8, g)[0]}, TypeError, r"batches must give pairs \(x, y\); got Tensor"),
        ({"batches": []}, ValueError, "batches must hold a batch each time it is read"),
        ({"batches": iter([draw(torch.Generator())]), "n_updates": 2}, ValueError, "batches .* empty or used up"),
        ({"n_updates": 0}, ValueError, "n_updates .* >= 1; got 0"),
        ({"lr": -1.0}, ValueError, r"lr .*\(0, inf\); got -1.0"),
        ({"lr": None}, ValueError, "either lr, for Adam, or optimizer"),
        ({"optimizer": torch.optim.Adam}, ValueError, "either lr, for Adam, or optimizer"),
        (optimized(torch.optim.Adam), TypeError, "optimizer must be an instance, .*; got <class"),
        (optimized(torch.optim.LBFGS([torch.zeros(1)])), TypeError, "optimizer .*LBFGS"),
        (optimized(torch.optim.SGD(frozen().parameters(), 0.1)), ValueError, "optimizer .* none of another network"),
        (optimized(torch.optim.SGD([{"params": []}], 0.1)), ValueError, "optimizer must hold weights .* that learn"),
        ({"schedule": 0.5}, TypeError, "schedule .*0.5"),
        ({"schedule": cool_down}, TypeError, "schedule must be a function .*; got <function"),
        ({"schedule": lambda o: ReduceLROnPlateau(o)}, ValueError, "mode must be that of .*, 'min'; got 'max'"),
        ({"schedule": plateau, "evaluate": None}, ValueError, "ReduceLROnPlateau need evaluate"),
        ({"patience": 2, "evaluate": None}, ValueError, "patience .* evaluate"),
        ({"patience": 0}, ValueError, "patience .* >= 1; got 0"),
        ({"clip": 0.0}, ValueError, r"clip .*\(0, inf\); got 0.0"),
        ({"seed": None}, TypeError, "seed .*None"),
        ({"seed": 2**64}, ValueError, "seed .*18446744073709551616"),
        ({"evaluate": 5}, TypeError, "evaluate .*5"),
        ({"evaluate": returned(None)}, TypeError, "evaluate .*None"),
        ({"evaluate": returned({"accuracy": "good"})}, TypeError, "evaluate .*accuracy.*good"),
        ({"evaluate": returned({"accuracy": torch.ones(2)})}, TypeError, "evaluate .*accuracy"),
        ({"evaluate": returned({"accuracy": 1.0, "lr": 1.0})}, ValueError, r"evaluate .*\['lr'\]"),
        ({"monitor": "f1"}, ValueError, "monitor must be one of 'accuracy'; got 'f1'"),
        ({"mode": "largest"}, ValueError, "mode must be one of 'max', 'min'"),
        ({"log": 5}, TypeError, "log .*5"),
        ({"log_every": 1.5}, TypeError, "log_every .* >= 1; got 1.5"),
        ({"checkpoint_every": 0}, ValueError, "checkpoint_every"),
        ({"checkpoint_dir": 5}, TypeError, "checkpoint_dir .*5"),
        ({"config": {"folder": Path("x")}}, TypeError, "config must be .* not JSON serializable"),
    ],
)
def test_what_cannot_be_an_argument_or_a_row_is_named(changed, error, named):
    model, loss = make()
    kept = weights(model)
    options = WITH_ADAM | {"model": model, "loss_fn": loss, "batches": draw, "n_updates": 1} | changed
    with pytest.raises(error, match=named):
        train(**options)
    if not {"batches", "evaluate", "monitor"} & changed.keys():
        assert torch.equal(weights(model), kept)  # nothing was trained by then


def test_an_optimizer_of_a_part_trains_that_part_alone_and_resumes(tmp_path):
    (model, loss), (cut, _) = make(), make()
    before = weights(model.step.cell)
    rows = train(model, loss, draw, 60, optimizer=torch.optim.SGD(model.step.heads.parameters(), 0.1), **SETTINGS)
    assert torch.equal(weights(model.step.cell), before)
    optimizer = torch.optim.SGD(cut.step.heads.parameters(), 0.1)
    with pytest.raises(Killed):
        train(cut, loss, draw_until(55), 60, optimizer=optimizer, checkpoint_dir=tmp_path, **SETTINGS)
    again, _ = make()
    optimizer = torch.optim.SGD(again.step.heads.parameters(), 0.1)
    assert train(again, loss, draw, 60, optimizer=optimizer, checkpoint_dir=tmp_path, **SETTINGS) == rows
    # as a loop that clears all gradients: what the rest has gathered does not count
    twin, generator = make()[0], torch.Generator().manual_seed(0)
    optimizer = torch.optim.SGD(twin.step.heads.parameters(), 0.1)
    for _ in range(20):
        x, y = draw(generator)
        twin.zero_grad()
        loss(twin(x), y).total.backward()
        norm = nn.utils.clip_grad_norm_(twin.step.heads.parameters(), 1.0)
        optimizer.step()
    assert rows[0]["grad_norm"] == pytest.approx(norm.item(), rel=1e-4)


class InBfloat16(nn.Module):
    """An autocast around each forward pass alone, which can keep no weight for the next."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return self.model(x)


def test_an_autocast_around_the_training_sees_the_weights_change():
    """Left to itself it would go on with its copy of the first ones, and the network would learn nothing."""
    (inside, loss), (around, _) = make(), make()
    wanted = train(InBfloat16(inside), loss, draw, 100, **WITH_ADAM)
    with torch.autocast("cpu", torch.bfloat16):
        rows = train(around, loss, draw, 100, **WITH_ADAM)
    assert [row["total"] for row in rows] == pytest.approx([row["total"] for row in wanted], rel=0.01)
    torch.testing.assert_close(weights(around), weights(inside), rtol=0, atol=0.05)  # of 0.5 that they may move


@pytest.mark.parametrize("schedule", [lambda o: StepLR(o, 10, 0.5), cool_down(100)])
def test_a_schedule_steps_once_an_update(schedule):
    model, loss = make()
    rows = train(model, loss, draw, 40, schedule=schedule, **WITH_ADAM | {"log_every": 1})
    optimizer = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=5e-3)
    alone, rates = schedule(optimizer), []
    for _ in rows:
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        alone.step()
    assert [row["lr"] for row in rows] == rates
    assert isinstance(rows[0]["total"], float)
