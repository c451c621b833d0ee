import logging
import math
import pickle
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, OneCycleLR, ReduceLROnPlateau

from ponder_utils._files import DamagedFileError, written_whole
from ponder_utils.act import ACT
from ponder_utils.cells import RNNCell
from ponder_utils.evaluation import evaluate
from ponder_utils.losses import ACTLoss, LossTerms, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import GRUStep, RNNStep
from ponder_utils.tasks import ParityTask
from ponder_utils.training import NonFiniteError, _Guard, train
from ponder_utils.checkpoints import load_checkpoint, load_weights, save_checkpoint
from ponder_utils.training.identity import identity_of

TASK = ParityTask(6)
HELD_OUT = TASK.batch(512, torch.Generator().manual_seed(99))
bce = nn.BCEWithLogitsLoss(reduction="none")


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
        y_hat, h, halt_logit = super().forward(z, h)
        return y_hat, nn.functional.dropout(h, 0.2, self.training), halt_logit


class Killed(Exception):
    pass


def draw_until(last=10**9):
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
    torch.manual_seed(123)
    rows = train(model, loss, draw_until(), 200, schedule=schedule, **SETTINGS)

    resumed, loss = make(step=step)
    torch.manual_seed(123)
    with pytest.raises(Killed):
        train(resumed, loss, draw_until(killed_after), 200, schedule=schedule, checkpoint_dir=tmp_path, **SETTINGS)
    if killed_after >= 50:
        resumed, loss = make(seed=7, step=step)  # whatever it starts from is replaced
    else:
        resumed, loss = make(step=step)  # killed before the first checkpoint: starts again
        torch.manual_seed(123)
    assert train(resumed, loss, draw_until(), 200, schedule=schedule, checkpoint_dir=tmp_path, **SETTINGS) == rows
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
    kept = load_checkpoint(tmp_path / "last.pt")["update"]
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

    save_checkpoint(tmp_path / "bad.pt", {"model": Payload()})
    with pytest.raises(DamagedFileError, match=r"bad\.pt is damaged, or not a .*: Weights only load failed"):
        load_checkpoint(tmp_path / "bad.pt")


def other_task(generator):
    return ParityTask(6, 1, 3).batch(64, generator)


def drawing_from(task):
    return lambda generator: task.batch(64, generator)


ACT_MODEL = {"model": lambda: OneTimeStep(ACT(RNNCell(7, 16)))}


class OneTimeStep(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x[None])


class LastOfACT(nn.Module):
    def __init__(self, tau, cost="ponder"):
        super().__init__()
        self.inner = ACTLoss(bce, tau, cost)

    def forward(self, output, y):
        return self.inner(output, y[None])


def plain_loss(power):
    def loss(output, y):
        value = (output.y_hat[-1] - y).abs().pow(power).mean()
        return LossTerms(value, value, value)

    return loss


def cosine(length):
    return lambda optimizer: CosineAnnealingLR(optimizer, length)


def cooling(length):
    return lambda optimizer: LambdaLR(optimizer, lambda update: max(0.1, 1 - update / length))


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ({}, {"seed": 1}, "seed is 1 here and 0 there"),
        ({}, {"lr": 1e-2}, "lr is 0.01 here and 0.005 there"),
        ({}, {"clip": None}, "clip is inf here and 1.0 there"),
        ({}, {"log_every": 10}, "log_every is 10 here and 20 there"),
        ({}, {"patience": 3}, "patience is 3 here and None there"),
        ({}, {"evaluate": None}, "evaluate"),
        ({}, {"schedule": one_cycle}, "schedule"),
        ({"schedule": one_cycle}, {}, "schedule"),
        ({"schedule": cosine(40)}, {"schedule": cosine(50)}, r"schedule\.T_max is 50 here and 40 there"),
        ({"schedule": cooling(40)}, {"schedule": cooling(50)}, r"schedule\.lr_lambdas.*length is 50 here and 40 there"),
        ({}, {"draw_batch": other_task}, "draw_batch is function"),
        (
            {"draw_batch": drawing_from(ParityTask(6))},
            {"draw_batch": drawing_from(ParityTask(6, 1, 3))},
            r"draw_batch\.task\.k_max is 3 here and 6 there",
        ),
        (
            {"draw_batch": partial(TASK.batch, 64)},
            {"draw_batch": partial(TASK.batch, 32)},
            r"draw_batch\.arguments.* is .*32.* here and .*64.* there",
        ),
        ({}, {"model": lambda: PonderNet(GRUStep(6, 32), 6)}, "model.step is GRUStep here and RNNStep there"),
        ({}, {"model": lambda: PonderNet(RNNStep(6, 24), 6)}, r"model.step.cell.hidden_size is 24 here and 32 there"),
        ({}, {"loss": PonderLoss(bce, 0.5, 6)}, r"loss_fn\.regularization\.log_prior is .* here and .* there"),
        ({}, {"loss": PonderLoss(bce, 0.3, 6, beta=0.1)}, "loss_fn.beta is '0.1' here and '0.01' there"),
        (
            {},
            {"loss": PonderLoss(bce, 0.3, 6, direction="p_G||p")},
            r"loss_fn\.regularization\.direction is 'p_G\|\|p' here and 'p\|\|p_G' there",
        ),
        (
            ACT_MODEL | {"loss": LastOfACT(0.1)},
            ACT_MODEL | {"loss": LastOfACT(0.01)},
            r"loss_fn\.inner\.tau is 0\.01 here and 0\.1 there",
        ),
        (
            ACT_MODEL | {"loss": LastOfACT(0.1)},
            ACT_MODEL | {"loss": LastOfACT(0.1, "accumulated")},
            r"loss_fn\.inner\.cost is 'accumulated' here and 'ponder' there",
        ),
        ({"loss": plain_loss(1)}, {"loss": plain_loss(2)}, r"loss_fn\.power is 2 here and 1 there"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_and_what_differs_is_named(tmp_path, before, after, named):
    def run(n_updates, changed):
        options = {"loss": PonderLoss(bce, 0.3, 6), "model": lambda: make()[0], "draw_batch": draw}
        options |= SETTINGS | {"evaluate": no_score, "checkpoint_dir": tmp_path} | changed
        return train(options.pop("model")(), options.pop("loss"), options.pop("draw_batch"), n_updates, **options)

    first = run(20, before)
    assert run(40, before)[:1] == first[:1]  # the same run goes on, also for longer
    with pytest.raises(ValueError, match=rf"checkpoint_dir holds .*last\.pt, of another run: .*{named}.*of its own"):
        run(60, after)


def no_score(model):
    return {"accuracy": 0.5}


NOTED = []


def test_what_a_function_counts_is_not_what_it_is():
    """A counter and a list that it adds to make no other run, nor do the lines where it stands."""

    def counting():
        count = 0

        def draw_and_count(generator):
            nonlocal count
            count += 1
            NOTED.append(count)
            return draw(generator)

        return draw_and_count

    one, other = counting(), counting()
    one(torch.Generator())
    NOTED.append(1)
    assert identity_of({"draw": one}) == identity_of({"draw": other})
    assert identity_of({"draw": one}) != identity_of({"draw": lambda generator: draw(generator)})


def test_a_folder_in_use_is_refused(tmp_path):
    model, loss = make()

    def nested(row):
        with pytest.raises(ValueError, match=r"checkpoint_dir must be a run's own folder; .* is in use"):
            train(make()[0], loss, draw, 20, checkpoint_dir=tmp_path, **SETTINGS)

    assert len(train(model, loss, draw, 20, checkpoint_dir=tmp_path, log=nested, **SETTINGS)) == 1
    train(model, loss, draw, 20, checkpoint_dir=tmp_path, **SETTINGS)  # and free again


def damaged(content, kind):
    if kind == "one bit":
        return content[:1000] + bytes([content[1000] ^ 4]) + content[1001:]
    return {"empty": b"", "truncated": content[: len(content) // 2], "text": b"accuracy,0.9"}[kind]


@pytest.mark.parametrize("kind", ["empty", "truncated", "text", "one bit"])
def test_a_damaged_checkpoint_is_named(tmp_path, kind):
    model, loss = make()
    train(model, loss, draw, 20, checkpoint_dir=tmp_path, **SETTINGS)
    path = tmp_path / "last.pt"
    path.write_bytes(damaged(path.read_bytes(), kind))
    told = r"last\.pt is damaged, or not a checkpoint of ponder_utils: its checksum.*Delete it to begin anew"
    for _ in range(2):  # the folder is free again
        with pytest.raises(DamagedFileError, match=told) as kept:
            train(model, loss, draw, 40, checkpoint_dir=tmp_path, **SETTINGS)
    assert kept.tb  # and not since the error was forgotten
    with pytest.raises(DamagedFileError, match=told):
        load_weights(model, path)
    save_checkpoint(path, {"weights": 1})
    with pytest.raises(DamagedFileError, match=r"last\.pt is not a checkpoint of train: it holds weights"):
        load_weights(model, path)


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_no_single_bit_flips_silently(tmp_path_factory, place, bit):
    path = tmp_path_factory.mktemp("bits") / "state.pt"
    save_checkpoint(path, {"a": torch.arange(8.0), "b": [1, "two"]})
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"state\.pt is damaged"):
        load_checkpoint(path)


def test_a_link_to_a_checkpoint_stays_one(tmp_path):
    (tmp_path / "link.pt").symlink_to(tmp_path / "real.pt")
    save_checkpoint(tmp_path / "link.pt", {"a": 1})
    assert (tmp_path / "link.pt").is_symlink()
    assert load_checkpoint(tmp_path / "real.pt") == {"a": 1}


class Normed(RNNStep):
    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size)
        self.norm = nn.BatchNorm1d(input_size)

    def start(self, x):
        return super().start(self.norm(x))


def test_an_update_that_is_not_finite_leaves_running_means_alone():
    model, loss = make(step=Normed)
    left = iter(range(12))

    def draw_then_break(generator):
        x, y = draw(generator)
        return (x, y) if next(left, None) is not None else (x * math.nan, y)

    seen = []
    keep = {"evaluate": lambda model: seen.append([b.clone() for b in model.buffers()]) or {"accuracy": 0}}
    with pytest.raises(NonFiniteError, match="update 13"):
        train(model, loss, draw_then_break, 50, **SETTINGS | {"log_every": 1} | keep)
    assert len(seen) == 12
    assert all(torch.equal(buffer, kept) for buffer, kept in zip(model.buffers(), seen[-1], strict=True))


@pytest.mark.parametrize("frozen", [True, False])
def test_a_frozen_part_stays_in_evaluation_mode(frozen):
    model, loss = make(step=Normed)
    if frozen:
        model.step.norm.eval()
    before = [buffer.clone() for buffer in model.buffers()]
    train(model, loss, draw, 40, **SETTINGS)
    assert model.training
    assert model.step.norm.training != frozen
    assert frozen == all(torch.equal(*pair) for pair in zip(model.buffers(), before, strict=True))


def test_a_network_in_evaluation_mode_is_trained_in_training_mode():
    model, loss = make(step=Normed)
    train(model.eval(), loss, draw, 20, **SETTINGS)
    assert all(part.training for part in model.modules())


@pytest.mark.parametrize("clip", [None, math.inf])
def test_clipping_can_be_switched_off(clip):
    (model, loss), (alike, _) = make(), make()
    rows = train(model, loss, draw, 20, **SETTINGS | {"clip": clip, "log_every": 1})
    assert train(alike, loss, draw, 20, **SETTINGS | {"clip": 1e9, "log_every": 1}) == rows
    assert max(row["grad_norm"] for row in rows) > 0


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
        (
            {"schedule": lambda o: ReduceLROnPlateau(o), "evaluate": None},
            ValueError,
            "schedule must not be a ReduceLROnPlateau without evaluate, for which it waits",
        ),
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
    torch.testing.assert_close(weights(around), weights(inside), rtol=0, atol=0.05)  # of 0.5 that they may move


def test_weights_are_kept_when_nobody_asks_for_the_numbers_at_once():
    """As on a GPU, where the loop does not wait for the device: updates go on after the first that is not finite."""
    layer = nn.Linear(3, 1)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1, fused=True)
    guard, kept = _Guard(layer, optimizer), None
    for update in range(1, 8):
        optimizer.zero_grad()
        guard.before_update()
        total = layer(torch.ones(2, 3)).sum() * (math.inf if update == 4 else 1)
        total.backward()
        norm = nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        guard.note(update, LossTerms(total, total, torch.zeros(())), norm)
        optimizer.step()
        if update == 3:
            kept = weights(layer)
            assert guard.row()["update"] == 3
    assert torch.equal(weights(layer), kept)
    with pytest.raises(NonFiniteError, match=r"update 4: .*total.* not finite .*regularization = 0"):
        guard.row()


def wrapped(loss):
    return lambda output, y: loss(output, y)


class Keeps(nn.Module):
    """Keeps what it has computed, as a network under study does."""

    def __init__(self):
        super().__init__()
        self.inner = PonderNet(RNNStep(6, 8), 6)

    def forward(self, x):
        self.last = x
        return self.inner(x)


class Grows(Keeps):
    """Makes a buffer when it first runs, and makes it longer every time."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", None)

    def forward(self, x):
        self.scale = x.std()[None] if self.scale is None else torch.cat([self.scale, x.std()[None]])
        return super().forward(x)


def test_a_buffer_may_be_made_and_resized_in_the_forward_pass():
    model = Grows()
    train(model, make()[1], draw, 20, **SETTINGS | {"evaluate": None})
    assert model.scale.shape == (20,)


HISTORY = {}


def history(model):
    HISTORY[len(HISTORY)] = 1.0
    logging.getLogger("course").handlers.clear()
    return {"accuracy": 0.0}


def test_a_run_goes_on_where_only_what_it_writes_has_changed(tmp_path):
    torch.manual_seed(0)
    model, loss = Keeps(), wrapped(PonderLoss(bce, 0.3, 6))
    options = SETTINGS | {"evaluate": history, "checkpoint_dir": tmp_path, "checkpoint_every": 10}
    with pytest.raises(Killed):
        train(model, loss, draw_until(15), 40, **options)
    assert len(train(model, loss, draw_until(), 40, **options)) == 2


def test_a_loss_within_a_function_is_compared_by_its_values(tmp_path):
    train(make()[0], wrapped(PonderLoss(bce, 0.3, 6)), draw, 20, checkpoint_dir=tmp_path, **SETTINGS)
    train(make()[0], wrapped(PonderLoss(bce, 0.3, 6)), draw, 40, checkpoint_dir=tmp_path, **SETTINGS)
    with pytest.raises(ValueError, match=r"of another run: loss_fn\.loss\.regularization\.log_prior"):
        train(make()[0], wrapped(PonderLoss(bce, 0.9, 6)), draw, 40, checkpoint_dir=tmp_path, **SETTINGS)


def test_fewer_updates_than_were_made_are_refused(tmp_path):
    train(make()[0], make()[1], draw, 40, checkpoint_dir=tmp_path, **SETTINGS)
    with pytest.raises(ValueError, match=r"updates in checkpoint_dir must be an integer in \[0, 20\]; got 40"):
        train(make()[0], make()[1], draw, 20, checkpoint_dir=tmp_path, **SETTINGS)


class Tasks:
    def __init__(self, k, names=()):
        self._k, self.names, self.log = k, set(names), logging.getLogger("course")

    def batch(self, generator):
        return ParityTask(6, 1, self._k).batch(8, generator)


def in_a_comprehension(task):
    return lambda generator: [task.batch(8, generator) for _ in range(2)][1]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Tasks(3).batch, Tasks(3).batch, True),
        (Tasks(3).batch, Tasks(4).batch, False),
        (Tasks(3, "abcdefg"), Tasks(3, "gfedcba"), True),
        (in_a_comprehension(TASK), in_a_comprehension(ParityTask(6)), True),
        (in_a_comprehension(TASK), in_a_comprehension(ParityTask(6, 1, 3)), False),
        (torch.no_grad()(drawing_from(TASK)), torch.no_grad()(drawing_from(ParityTask(6, 1, 3))), False),
        (partial(max, key=1), partial(max, key=2), False),
        ({"a": {1, 2}}, {"a": {2, 1}}, True),
        (torch.compile(nn.Linear(2, 2)), torch.compile(nn.Linear(2, 2)), True),
        (torch.zeros(3, dtype=torch.bfloat16), torch.ones(3, dtype=torch.bfloat16), False),
    ],
)
def test_two_things_are_the_same_run_or_not(one, other, same):
    assert (identity_of({"it": one}, values=False) == identity_of({"it": other}, values=False)) == same


def test_an_identity_is_small_and_the_same_in_every_process():
    text = (
        "from test_training import *; print(sorted(identity_of({'it': [Tasks(3, 'abcdefg'), draw, history]}).items()))"
    )
    command = [sys.executable, "-c", text]
    told = {
        subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, check=True).stdout for _ in range(2)
    }
    assert len(told) == 1
    assert len(told.pop()) < 2000


def test_named_tuples_in_rows_can_be_resumed_from(tmp_path):
    options = SETTINGS | {
        "evaluate": lambda model: evaluate(model, *HELD_OUT)._asdict() | {"it": evaluate(model, *HELD_OUT)}
    }
    train(make()[0], make()[1], draw, 20, checkpoint_dir=tmp_path, **options)
    rows = train(make()[0], make()[1], draw, 40, checkpoint_dir=tmp_path, **options)
    assert rows[0]["it"][0] == rows[0]["accuracy"]
