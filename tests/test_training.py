import math
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR, ReduceLROnPlateau

from ponder_utils._files import written_whole
from ponder_utils.checkpoints import load_checkpoint, load_weights, save_checkpoint
from ponder_utils.evaluation import evaluate
from ponder_utils.losses import LossTerms, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import GRUStep, RNNStep
from ponder_utils.tasks import ParityTask
from ponder_utils.training import NonFiniteError, _Guard, train

TASK = ParityTask(6)
HELD_OUT = TASK.batch(512, torch.Generator().manual_seed(99))


def make(seed=0, step=RNNStep, max_steps=6):
    torch.manual_seed(seed)
    model = PonderNet(step(6, 32), max_steps)
    return model, PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), 0.3, max_steps)


def draw(generator):
    return TASK.batch(64, generator)


def score(model):
    return {"accuracy": evaluate(model, *HELD_OUT).accuracy}


SETTINGS = {"lr": 5e-3, "log_every": 20, "checkpoint_every": 50, "evaluate": score, "progress": False}


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def one_cycle(optimizer):
    return OneCycleLR(optimizer, 5e-3, total_steps=200)


class WithDropout(GRUStep):
    """Draws from torch's global generator, which must be restored too."""

    def forward(self, z, h):
        return super().forward(nn.functional.dropout(z, 0.2, self.training), h)


class Killed(Exception):
    pass


def draw_until(last):
    """Batches until the run is killed."""
    left = iter(range(last))

    def draw_or_die(generator):
        if next(left, None) is None:
            raise Killed
        return draw(generator)

    return draw_or_die


@pytest.mark.parametrize("step", [RNNStep, GRUStep, WithDropout])
@pytest.mark.parametrize(
    "schedule",
    [None, one_cycle, lambda o: ReduceLROnPlateau(o, mode="max", patience=0)],
    ids=["none", "cycle", "plateau"],
)
@pytest.mark.parametrize("killed_after", [1, 50, 119])
def test_resumed_equals_uninterrupted_bit_for_bit(tmp_path, step, schedule, killed_after):
    model, loss = make(step=step)
    rows = train(model, loss, draw, 200, schedule=schedule, **SETTINGS)

    resumed, loss = make(step=step)
    with pytest.raises(Killed):
        train(resumed, loss, draw_until(killed_after), 200, schedule=schedule, checkpoint_dir=tmp_path, **SETTINGS)
    torch.manual_seed(123)
    if killed_after >= 50:
        resumed, loss = make(seed=7, step=step)  # whatever it starts from is replaced
    else:
        resumed, loss = make(step=step)  # killed before the first checkpoint: starts again
    assert train(resumed, loss, draw, 200, schedule=schedule, checkpoint_dir=tmp_path, **SETTINGS) == rows
    assert torch.equal(weights(resumed), weights(model))


def test_a_killed_process_loses_only_what_came_after_the_last_checkpoint(tmp_path):
    script = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
import torch; torch.set_num_threads(1)
from test_training import *
model, loss = make()
log = lambda row: print(row["update"], flush=True)
train(model, loss, draw, 100_000, log=log, checkpoint_dir={str(tmp_path)!r}, **SETTINGS)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    updates = [int(process.stdout.readline()) for _ in range(12)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    for name in ("last.pt", "best.pt"):
        load_checkpoint(tmp_path / name)
    kept = load_checkpoint(tmp_path / "last.pt")["run"]["update"]
    assert kept % 50 == 0
    assert kept >= updates[-1] - 50


def test_it_learns():
    model, loss = make()
    rows = train(model, loss, draw, 1500, **SETTINGS | {"lr": 1e-2})
    assert rows[0]["accuracy"] < 0.8
    assert rows[-1]["accuracy"] > 0.95
    assert rows[-1]["reconstruction"] < 0.5 * rows[0]["reconstruction"]
    assert [row["update"] for row in rows] == list(range(20, 1501, 20))


@pytest.mark.parametrize("lambda_p", [0.1, 0.5, 0.9, 1.0])
def test_every_prior_stays_finite_at_a_high_learning_rate(lambda_p):
    model, _ = make(max_steps=20)
    loss = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), lambda_p, 20)
    rows = train(model, loss, draw, 400, lr=2e-2, progress=False)
    assert all(math.isfinite(value) for row in rows for value in row.values())


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
        train(model, poisoned, draw, 50, **SETTINGS)
    assert torch.equal(weights(model), seen[-1])


def test_a_non_finite_gradient_of_a_finite_loss_is_named():
    model, loss = make()

    def root_of_zero(output, y):
        terms = loss(output, y)
        return terms._replace(total=terms.total + (output.y_hat * 0).abs().sum().sqrt())

    with pytest.raises(NonFiniteError, match="update 1: grad_norm not finite"):
        train(model, root_of_zero, draw, 5, **SETTINGS)


def test_the_gradient_is_clipped():
    model, loss = make()
    before = weights(model)
    optimizers = []

    def sgd_sized(optimizer):
        optimizers.append(optimizer)
        return one_cycle(optimizer)

    train(model, loss, draw, 1, lr=1e-3, clip=1e-6, schedule=sgd_sized, progress=False)
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    assert norm <= 1.001e-6
    assert not torch.equal(weights(model), before)


def test_early_stop_and_best_checkpoint(tmp_path):
    model, loss = make()
    script = iter([0.5, 0.7, 0.6, 0.65, 0.69, 0.99])
    seen = []

    def scripted(model):
        seen.append(weights(model))
        return {"accuracy": next(script)}

    settings = SETTINGS | {"evaluate": scripted}
    rows = train(model, loss, draw, 1000, patience=3, checkpoint_dir=tmp_path, **settings)
    assert [row["accuracy"] for row in rows] == [0.5, 0.7, 0.6, 0.65, 0.69]
    load_weights(model, tmp_path / "best.pt")
    assert torch.equal(weights(model), seen[1])
    load_weights(model, tmp_path / "last.pt")
    assert torch.equal(weights(model), seen[-1])
    assert train(model, loss, draw, 1000, patience=3, checkpoint_dir=tmp_path, **settings) == rows  # has stopped


def test_log_takes_any_callable_and_the_bar_shows_in_a_terminal(capsys):
    model, loss = make()
    rows = []
    returned = train(model, loss, draw, 60, log=rows.append, **SETTINGS | {"progress": True})
    assert returned == rows
    assert "60/60" in capsys.readouterr().out
    assert {"update", "total", "reconstruction", "regularization", "grad_norm", "lr", "accuracy"} == set(rows[0])


def test_trackers(tmp_path, monkeypatch):
    """TensorBoard and Weights & Biases, offline: one line each."""
    tensorboard = pytest.importorskip("torch.utils.tensorboard")
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    model, loss = make()
    writer = tensorboard.SummaryWriter(tmp_path / "tb")
    with wandb.init(dir=tmp_path, project="ponder") as tracked:
        train(model, loss, draw, 40, log=lambda row: writer.add_scalar("loss", row["total"], row["update"]), **SETTINGS)
        train(model, loss, draw, 40, log=tracked.log, **SETTINGS)
        assert tracked.summary["update"] == 40
    writer.close()
    assert list((tmp_path / "tb").glob("events*"))


def write_half(path):
    with written_whole(path) as draft:
        draft.write_bytes(b"half")
        raise OSError("disk full")


def test_checkpoints_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "state.pt"
    save_checkpoint(path, {"a": torch.ones(3), "b": [1, "two"]})
    before = path.read_bytes()
    with pytest.raises(OSError, match="disk full"):
        write_half(path)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        save_checkpoint(path, {"a": lambda: None})
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["state.pt"]
    assert load_checkpoint(path)["b"] == [1, "two"]


def test_checkpoints_execute_no_code(tmp_path):
    class Payload:
        def __reduce__(self):
            return (time.sleep, (0,))

    torch.save({"model": Payload()}, tmp_path / "bad.pt")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        load_checkpoint(tmp_path / "bad.pt")


def test_a_checkpoint_of_other_settings_is_refused(tmp_path):
    model, loss = make()
    train(model, loss, draw, 20, checkpoint_dir=tmp_path, **SETTINGS)
    with pytest.raises(ValueError, match=r"checkpoint_dir holds .*'seed': 0.*this run has .*'seed': 1.*own folder"):
        train(model, loss, draw, 40, seed=1, checkpoint_dir=tmp_path, **SETTINGS)


def with_numpy(optimizer):
    return LambdaLR(optimizer, lambda update: 0.5 * (1 + np.cos(np.pi * update / 60)))


def with_lists(model):
    return score(model) | {"by_k": [np.float64(0.5), {"deep": np.arange(3)}]}


def test_numbers_of_numpy_can_be_resumed_from(tmp_path):
    options = SETTINGS | {"schedule": with_numpy, "evaluate": with_lists, "checkpoint_every": 20}
    whole, loss = make()
    rows = train(whole, loss, draw, 60, **options)
    cut, _ = make()
    train(cut, loss, draw, 40, checkpoint_dir=tmp_path, **options)
    again, _ = make()
    resumed = train(again, loss, draw, 60, checkpoint_dir=tmp_path, **options)
    assert [row["lr"] for row in resumed] == [row["lr"] for row in rows]
    assert resumed[0]["by_k"] == [0.5, {"deep": [0, 1, 2]}]
    assert torch.equal(weights(again), weights(whole))


def test_an_evaluation_that_leaves_the_model_evaluating_changes_nothing():
    def leaves_it(model):
        return score(model.eval())

    seen = []
    for kind in (score, leaves_it):
        torch.manual_seed(0)
        model = PonderNet(WithDropout(6, 16), 6)
        torch.manual_seed(1)
        train(model, make()[1], draw, 60, **SETTINGS | {"evaluate": kind})
        seen.append(weights(model))
        assert model.training
    assert torch.equal(*seen)


@pytest.mark.parametrize(("before", "after"), [(None, one_cycle), (one_cycle, None), (one_cycle, with_numpy)])
def test_another_schedule_or_loss_is_another_run(tmp_path, before, after):
    model, loss = make()
    train(model, loss, draw, 20, checkpoint_dir=tmp_path, schedule=before, **SETTINGS)
    with pytest.raises(ValueError, match=r"checkpoint_dir holds .*'schedule': .*this run has .*'schedule': "):
        train(model, loss, draw, 40, checkpoint_dir=tmp_path, schedule=after, **SETTINGS)
    other = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), 0.5, 6)
    with pytest.raises(ValueError, match=r"checkpoint_dir holds .*log_prior.*this run has .*log_prior"):
        train(model, other, draw, 40, checkpoint_dir=tmp_path, schedule=before, **SETTINGS)


def test_a_baseline_without_halting_trains_too():
    model = nn.Linear(6, 1)

    def loss(y_hat, y):
        value = nn.functional.binary_cross_entropy_with_logits(y_hat[:, 0], y)
        return LossTerms(value, value, torch.zeros(()))

    assert len(train(model, loss, draw, 40, lr=1e-3, log_every=20, progress=False)) == 2


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"n_updates": 0}, ValueError, "n_updates must be an integer >= 1; got 0"),
        ({"lr": -1.0}, ValueError, r"lr must be a number in \(0, inf\); got -1.0"),
        ({"clip": 0.0}, ValueError, r"clip must be a number in \(0, inf\); got 0.0"),
        ({"log_every": 1.5}, TypeError, "log_every must be an integer >= 1; got 1.5"),
        ({"seed": None}, TypeError, "seed must be an integer >= 0; got None"),
        ({"checkpoint_every": 0}, ValueError, "checkpoint_every must be"),
        ({"patience": 0}, ValueError, "patience must be an integer >= 1; got 0"),
        ({"patience": 2, "evaluate": None}, ValueError, "patience needs evaluate; got evaluate=None"),
        ({"monitor": "f1"}, ValueError, r"monitor must be a number that evaluate returns, one of \[.*'accuracy'.*'f1'"),
    ],
)
def test_wrong_arguments_are_named(changed, error, message):
    model, loss = make()
    with pytest.raises(error, match=message):
        train(model, loss, draw, **SETTINGS | {"n_updates": 20} | changed)


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
    wanted = train(InBfloat16(inside), loss, draw, 100, **SETTINGS)
    with torch.autocast("cpu", torch.bfloat16):
        rows = train(around, loss, draw, 100, **SETTINGS)
    assert [row["total"] for row in rows] == pytest.approx([row["total"] for row in wanted], rel=0.01)
    torch.testing.assert_close(weights(around), weights(inside), rtol=0, atol=0.01)


def test_weights_are_kept_when_nobody_asks_for_the_numbers_at_once():
    """As on a GPU, where the loop does not wait for the device: updates go on after the first that is not finite."""
    layer = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1, fused=True)
    guard, kept = _Guard(optimizer, torch.device("cpu")), None
    for update in range(1, 8):
        optimizer.zero_grad()
        total = layer(torch.ones(2, 3)).sum() * (math.inf if update == 4 else 1)
        total.backward()
        norm = nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        guard.see(update, LossTerms(total, total, torch.zeros(())), norm)
        optimizer.step()
        if update == 3:
            kept = weights(layer)
            assert guard.row()["update"] == 3
    assert torch.equal(weights(layer), kept)
    with pytest.raises(NonFiniteError, match=r"update 4: .*total.* not finite .*regularization = 0"):
        guard.row()
