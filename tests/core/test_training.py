"""The training loop: what it does, what it refuses, and that a run that was cut off goes on as if it had not been."""

import itertools
import math
import os
import random
import signal
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from processes import CONTEXT
from small import (
    HELD_OUT,
    TASK,
    WITH_ADAM,
    Killed,
    Normed,
    WithDropout,
    cross_entropy,
    draw,
    make,
    score,
    weights,
)
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR, ReduceLROnPlateau, StepLR

from ponder_evidence.curriculum import Curriculum
from ponder_evidence.muon import MuonAndAdam
from ponder_utils.checkpoints import load_checkpoint, load_weights
from ponder_utils.evaluation import evaluate
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.tasks import ParityTask
from ponder_utils.training import NonFiniteError, cool_down, train


def one_cycle(optimizer):
    return OneCycleLR(optimizer, 5e-3, total_steps=80)


def plateau(optimizer):
    return ReduceLROnPlateau(optimizer, mode="max", patience=0)


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


def cosine(optimizer):
    """A rate that is one of NumPy's numbers."""
    return LambdaLR(optimizer, lambda update: 0.5 * (1 + np.cos(np.pi * update / 80)))


RUNS = {
    "Adafactor": (lambda m: torch.optim.Adafactor(m.parameters(), lr=1e-2), None),
    "Adam, fused": (lambda m: torch.optim.Adam(m.parameters(), lr=5e-3, amsgrad=True, fused=True), one_cycle),
    "ASGD": (lambda m: torch.optim.ASGD(m.parameters(), lr=0.5), cosine),
    "SGD, Nesterov": (lambda m: torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, nesterov=True), plateau),
    "Muon and Adam": (lambda m: MuonAndAdam(m, 2e-3, ratio=2.0), cool_down(80)),
    "of a part": (lambda m: torch.optim.SGD(m.step.heads.parameters(), lr=0.5), None),
}


def all_scores(model):
    """A named tuple, with lists."""
    return evaluate(model, *HELD_OUT)


@pytest.mark.parametrize("kind", RUNS)
def test_ordinary_optimizers_and_schedules_train_diverge_and_resume_bit_for_bit(tmp_path, kind):
    build, schedule = RUNS[kind]

    def run(model, n_healthy, n_updates=80, **options):
        torch.manual_seed(123)  # of the dropout
        options |= {"log_every": 10, "checkpoint_every": 20, "evaluate": all_scores, "progress": False}
        options |= {"optimizer": build(model), "schedule": schedule}
        return train(model, poisoned_after(n_healthy), easy, n_updates, **options)

    model, cut, whole, resumed = (make(seed, step=WithDropout)[0] for seed in (0, 0, 0, 7))
    rows = run(model, 80)
    assert rows[-1]["total"] < rows[0]["total"] - 0.005
    assert len(rows[0]["p"]) == 6
    with pytest.raises(NonFiniteError, match="update 51: total, grad_norm "):
        run(cut, 50, checkpoint_dir=tmp_path)
    run(whole, 50, 50)
    assert torch.equal(weights(cut), weights(whole))  # those before the update that was not finite
    assert run(resumed, 80, checkpoint_dir=tmp_path) == rows  # whatever it starts from is replaced
    assert torch.equal(weights(resumed), weights(model))


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
    killed = tmp_path / "killed"
    for n_kills in range(20):
        child = CONTEXT.Process(target=long_training, args=(killed,))
        child.start()
        while checkpointed_update(killed) < 14 * n_kills:  # by updates, as machines differ in speed
            assert child.is_alive()
            time.sleep(0.005)
        time.sleep(kills.uniform(0, 0.02))
        assert child.is_alive()
        os.kill(child.pid, signal.SIGKILL)
        child.join()
    assert checkpointed_update(killed) < 400
    again, resumed = long_training(killed)
    assert again == rows
    assert torch.equal(resumed, kept)
    assert sorted(path.name for path in killed.iterdir() if path.suffix == ".pt") == ["best.pt", "last.pt"]


@pytest.mark.parametrize("is_part", [False, True])
def test_an_update_is_what_a_loop_by_hand_makes(is_part):
    """An optimizer of a part trains that part alone, and the norm is of its gradient."""
    (model, loss), (twin, _) = make(), make()
    if is_part:
        options = {"optimizer": torch.optim.SGD(model.step.heads.parameters(), 0.1)}
        learns, optimizer = twin.step.heads, torch.optim.SGD(twin.step.heads.parameters(), 0.1)
    else:
        options = {"lr": 5e-3}
        learns, optimizer = twin, torch.optim.Adam(twin.parameters(), lr=5e-3)
    halving = partial(StepLR, step_size=3, gamma=0.5)
    options |= {"schedule": halving, "clip": 0.02, "log_every": 1, "seed": 3, "progress": False}
    rows = train(model, loss, draw, 10, **options)
    generator, schedule = torch.Generator().manual_seed(3), halving(optimizer)
    for row in rows:
        x, y = draw(generator)
        terms = loss(twin(x), y)
        twin.zero_grad()
        terms.total.backward()
        norm = nn.utils.clip_grad_norm_(learns.parameters(), 0.02)
        assert row["lr"] == optimizer.param_groups[0]["lr"]
        assert row["total"] == pytest.approx(terms.total.item(), rel=1e-5)
        assert row["grad_norm"] == pytest.approx(norm.item(), rel=1e-4)
        assert row["grad_norm"] > 0.02  # before it was clipped
        optimizer.step()
        schedule.step()
    torch.testing.assert_close(weights(model), weights(twin), rtol=1e-4, atol=1e-6)


class Grows(Normed):
    """Has a buffer that is made, and resized, in the forward pass, too."""

    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size)
        self.register_buffer("scales", None)

    def encode(self, x):
        scale = x.std()[None]
        self.scales = scale if self.scales is None else torch.cat([self.scales, scale])
        return super().encode(x)


def infinite(output, terms):
    return terms._replace(regularization=terms.regularization * math.inf)


def not_a_number(output, terms):
    return terms._replace(total=terms.total * math.nan, reconstruction=terms.reconstruction * math.nan)


def root_of_zero(output, terms):
    return terms._replace(total=terms.total + (output.y_hat * 0).abs().sum().sqrt())


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (infinite, "regularization"),
        (not_a_number, "total, reconstruction, grad_norm"),
        (root_of_zero, "grad_norm"),
    ],
)
def test_the_first_update_that_is_not_finite_stops_the_run_and_reaches_no_weight_or_running_mean(broken, named):
    model, loss = make(step=Grows)
    seen = []

    def drawn(generator):
        seen.append({name: value.clone() for name, value in model.state_dict().items()})
        return draw(generator)

    def poisoned(output, y):
        terms = loss(output, y)
        return broken(output, terms) if len(seen) == 13 else terms

    with pytest.raises(NonFiniteError, match=f"update 13: {named} not finite"):
        train(model, poisoned, drawn, 50, **WITH_ADAM)
    after = model.state_dict()
    assert len(after.pop("step.scales")) == 13
    assert all(torch.equal(value, seen[-1][name]) for name, value in after.items())


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
        with pytest.raises(ValueError, match=r"checkpoint_dir .*in use"):
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


def test_clipping_can_be_switched_off():
    rows = []
    for clip in (None, math.inf, 1e9):
        model, loss = make()
        rows.append(train(model, loss, draw, 20, **WITH_ADAM | {"clip": clip, "log_every": 1}))
    assert rows[0] == rows[1] == rows[2]


def test_an_evaluation_that_leaves_the_model_evaluating_changes_nothing():
    seen = []
    for kind in (score, lambda model: score(model.eval())):
        torch.manual_seed(0)
        model = PonderNet(WithDropout(6, 16), 6)
        torch.manual_seed(1)
        train(model, make()[1], draw, 40, **WITH_ADAM | {"evaluate": kind})
        seen.append(weights(model))
        assert model.training
    assert torch.equal(*seen)


def test_a_loss_may_be_one_number():
    options = WITH_ADAM | {"evaluate": None}
    rows = train(make()[0], lambda output, y: output.y_hat.square().mean(), draw, 20, **options)
    assert [*rows[0]] == ["update", "total", "grad_norm", "lr"]


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
        ({"model": frozen()}, ValueError, "model must .*requires_grad"),
        ({"loss_fn": None}, TypeError, "loss_fn .*None"),
        ({"loss_fn": terms(update=torch.zeros(()))}, ValueError, "loss_fn .*update"),
        ({"loss_fn": terms(lr=1.0)}, ValueError, "loss_fn .*lr"),
        ({"loss_fn": lambda output, y: {"loss": output.y_hat.mean()}}, ValueError, "loss_fn .*total"),
        ({"loss_fn": lambda output, y: output.y_hat.detach().mean()}, ValueError, "loss_fn .*gradient"),
        ({"loss_fn": lambda output, y: output.y_hat[0]}, ValueError, "loss_fn .*scalar"),
        ({"loss_fn": terms(by_sample=torch.zeros(2))}, ValueError, "loss_fn .*by_sample"),
        ({"batches": 5}, TypeError, "batches .*5"),
        ({"batches": lambda g: TASK.batch(8, g)[0]}, TypeError, "batches .*got Tensor"),
        ({"batches": []}, ValueError, "batches .* empty or used up"),
        ({"batches": iter([draw(torch.Generator())]), "n_updates": 2}, ValueError, "batches .* empty or used up"),
        ({"n_updates": 0}, ValueError, "n_updates .* >= 1; got 0"),
        ({"lr": -1.0}, ValueError, r"lr .*\(0, inf\); got -1.0"),
        ({"lr": None}, ValueError, "lr=.* and optimizer="),
        ({"optimizer": torch.optim.Adam}, ValueError, "lr=.* and optimizer="),
        (optimized(torch.optim.Adam), TypeError, "optimizer .*<class"),
        (optimized(torch.optim.LBFGS([torch.zeros(1)])), TypeError, "optimizer .*LBFGS"),
        (optimized(torch.optim.SGD(frozen().parameters(), 0.1)), ValueError, "optimizer .*model"),
        (optimized(torch.optim.SGD([{"params": []}], 0.1)), ValueError, "optimizer .*model"),
        ({"schedule": 0.5}, TypeError, "schedule .*0.5"),
        ({"schedule": cool_down}, TypeError, "schedule .*<function"),
        ({"schedule": lambda o: ReduceLROnPlateau(o)}, ValueError, "mode .*'min'.*'max'"),
        ({"schedule": plateau, "evaluate": None}, ValueError, "evaluate=None"),
        ({"patience": 2, "evaluate": None}, ValueError, "patience .*evaluate=None"),
        ({"patience": 0}, ValueError, "patience .* >= 1; got 0"),
        ({"clip": 0.0}, ValueError, r"clip .*\(0, inf\); got 0.0"),
        ({"seed": None}, TypeError, "seed .*None"),
        ({"seed": 2**64}, ValueError, "seed .*18446744073709551616"),
        ({"evaluate": 5}, TypeError, "evaluate .*5"),
        ({"evaluate": returned(None)}, TypeError, "evaluate .*None"),
        ({"evaluate": returned({"accuracy": "good"})}, TypeError, "evaluate .*accuracy.*good"),
        ({"evaluate": returned({"accuracy": 1.0, "lr": 1.0})}, ValueError, r"evaluate .*\['lr'\]"),
        ({"monitor": "f1"}, ValueError, "monitor .*'accuracy'.*'f1'"),
        ({"mode": "largest"}, ValueError, "mode .*'largest'"),
        ({"log": 5}, TypeError, "log .*5"),
        ({"log_every": 1.5}, TypeError, "log_every .* >= 1; got 1.5"),
        ({"checkpoint_every": 0}, ValueError, "checkpoint_every"),
        ({"checkpoint_dir": 5}, TypeError, "checkpoint_dir .*5"),
        ({"config": {"folder": Path("x")}}, TypeError, "config "),
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
    wanted = train(InBfloat16(inside), loss, draw, 60, **WITH_ADAM)
    with torch.autocast("cpu", torch.bfloat16):
        rows = train(around, loss, draw, 60, **WITH_ADAM)
    assert [row["total"] for row in rows] == pytest.approx([row["total"] for row in wanted], rel=0.01)
    torch.testing.assert_close(weights(around), weights(inside), rtol=0, atol=0.05)  # of 0.5 that they may move
