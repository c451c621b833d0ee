import math
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from test_training import Normed
from torch import nn
from torch.optim.lr_scheduler import LambdaLR, OneCycleLR, ReduceLROnPlateau

from ponder_utils.act import ACT
from ponder_utils.cells import RNNCell
from ponder_utils.evaluation import evaluate
from ponder_utils.losses import LossTerms, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import CheckpointedStep, GRUStep, RecurrentStep, RNNStep
from ponder_utils.tasks import ParityTask
from ponder_utils.training import NonFiniteError, train
from ponder_utils.training.checkpoints import load_checkpoint
from ponder_utils.training.many import train_many

TASK = ParityTask(6)
HELD_OUT = TASK.batch(256, torch.Generator().manual_seed(99))
bce = nn.BCEWithLogitsLoss(reduction="none")
LAMBDA_PS, BETAS, LRS, SEEDS = (0.1, 0.5, 0.9), (0.01, 0.02, 0.0), (1e-3, 5e-3, 1e-2), (7, 8, 9)


def make(step=RNNStep, lambda_ps=LAMBDA_PS):
    models, losses = [], []
    for k, (lambda_p, beta) in enumerate(zip(lambda_ps, BETAS, strict=True)):
        torch.manual_seed(k)
        models.append(PonderNet(step(6, 16), 6))
        losses.append(PonderLoss(bce, lambda_p, 6, beta))
    return models, losses


def draw(generator):
    return TASK.batch(32, generator)


def score(model):
    return {"accuracy": evaluate(model, *HELD_OUT).accuracy}


def falling(optimizer):
    return LambdaLR(optimizer, lambda update: 1 / (1 + update / 20))


def plateau(optimizer):
    return ReduceLROnPlateau(optimizer, mode="max", patience=0)


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


OPTIONS = {"clip": 0.3, "log_every": 20, "progress": False}
MANY = OPTIONS | {"lr": LRS, "seeds": SEEDS}
close = {"rtol": 1e-3, "atol": 1e-5}


@pytest.mark.parametrize("step", [RNNStep, GRUStep])
@pytest.mark.parametrize("schedule", [None, falling, plateau])
def test_together_they_become_what_each_becomes_alone(step, schedule):
    models, losses = make(step)
    rows = train_many(models, losses, draw, 100, schedule=schedule, evaluate=score, **MANY)
    alone, _ = make(step)
    for k, model in enumerate(alone):
        its = train(model, losses[k], draw, 100, lr=LRS[k], seed=SEEDS[k], schedule=schedule, evaluate=score, **OPTIONS)
        torch.testing.assert_close(weights(models[k]), weights(model), **close)
        table = pd.DataFrame([row for row in rows if row["network"] == k])
        assert table["update"].tolist() == [20, 40, 60, 80, 100]
        assert (table["stopped"] == "").all()
        for column in ("total", "reconstruction", "regularization", "grad_norm", "lr", "accuracy"):
            assert table[column].tolist() == pytest.approx([row[column] for row in its], rel=1e-3, abs=1e-5), column


def test_an_autocast_around_the_training_sees_the_weights_change():
    (models, losses), (alone, _) = make(), make()
    with torch.autocast("cpu", torch.bfloat16):
        rows = train_many(models, losses, draw, 200, **MANY)
    its = train(alone[2], losses[2], draw, 200, lr=LRS[2], seed=SEEDS[2], **OPTIONS)
    last = next(row for row in rows[::-1] if row["network"] == 2)
    assert last["total"] == pytest.approx(its[-1]["total"], rel=0.03)


class BreaksBelow(nn.Module):
    """A loss that is infinite as soon as the divergence falls below a limit, a buffer: networks may differ in it."""

    def __init__(self, limit):
        super().__init__()
        self.inner = PonderLoss(bce, 0.3, 6)
        self.register_buffer("limit", torch.tensor(limit))

    def forward(self, output, y):
        terms = self.inner(output, y)
        broken = torch.where(terms.regularization < self.limit, torch.inf, 1.0)
        return LossTerms(terms.total * broken, *terms[1:])


@pytest.mark.parametrize("seed", range(3))
def test_one_that_diverges_keeps_its_weights_and_harms_no_other(seed):
    seeds, losses = [seed, seed + 10, seed + 20], [BreaksBelow(limit) for limit in (-1.0, 0.03, -1.0)]
    models, alone = make()[0], make()[0]
    rows = train_many(models, losses, draw, 150, lr=1e-2, seeds=seeds, **OPTIONS)
    for k in (0, 2):
        train(alone[k], losses[k], draw, 150, lr=1e-2, seed=seeds[k], **OPTIONS)
    with pytest.raises(NonFiniteError) as error:
        train(alone[1], losses[1], draw, 150, lr=1e-2, seed=seeds[1], **OPTIONS)
    for k in range(3):
        torch.testing.assert_close(weights(models[k]), weights(alone[k]), **close)
    last = {k: [row for row in rows if row["network"] == k][-1] for k in range(3)}
    assert [last[k]["stopped"] for k in range(3)] == ["", "diverged", ""]
    assert last[1]["update"] == pickle.loads(pickle.dumps(error.value)).update
    assert last[1]["total"] == math.inf
    assert len([row for row in rows if row["network"] == 1]) == -(-last[1]["update"] // 20)


def test_early_stop_of_each():
    models, losses = make()
    rows = train_many(models, losses, draw, 400, evaluate=score, patience=2, **MANY)
    alone, _ = make()
    ends = set()
    for k, model in enumerate(alone):
        its = train(model, losses[k], draw, 400, evaluate=score, patience=2, lr=LRS[k], seed=SEEDS[k], **OPTIONS)
        torch.testing.assert_close(weights(models[k]), weights(model), **close)
        mine = [row for row in rows if row["network"] == k]
        assert mine[-1]["update"] == its[-1]["update"]
        assert mine[-1]["stopped"] == ("early" if its[-1]["update"] < 400 else "")
        ends.add(its[-1]["update"])
    assert len(ends) > 1


def test_networks_that_have_left_cost_nothing_more():
    drawn = []

    def counted(generator):
        drawn.append(generator.initial_seed())
        return draw(generator)

    models, losses = make()
    losses = [BreaksBelow(limit) for limit in (-1.0, 10.0, -1.0)]
    train_many(models, losses, counted, 100, **MANY)
    assert [drawn.count(seed) for seed in SEEDS] == [100, 20, 100]


def killed_after(updates=10**9):
    left = iter(range(3 * updates))

    def draw_or_die(generator):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return draw(generator)

    return draw_or_die


def halting_as_it_falls(model):
    """Draws from torch's global generator, which must be restored too."""
    return {"accuracy": torch.rand(()).item(), "steps": np.float64(1.0)}


@pytest.mark.parametrize("schedule", [None, falling, plateau])
@pytest.mark.parametrize("checkpoint_every", [1, 30])  # between two logged updates, a network may have diverged
@pytest.mark.parametrize("score", [score, halting_as_it_falls])
def test_resumed_equals_uninterrupted(tmp_path, schedule, checkpoint_every, score):
    torch.manual_seed(5)
    options = MANY | {"evaluate": score, "schedule": schedule, "checkpoint_every": checkpoint_every}
    losses = [BreaksBelow(limit) for limit in (-1.0, 0.04, -1.0)]  # one diverges before the kill
    whole, cut = make()[0], make()[0]
    torch.manual_seed(5)
    rows = train_many(whole, losses, killed_after(), 200, **options)
    torch.manual_seed(5)
    with pytest.raises(KeyboardInterrupt):
        train_many(cut, losses, killed_after(78), 200, checkpoint_dir=tmp_path, **options)
    torch.manual_seed(6)
    resumed = make()[0]
    for model in resumed:
        nn.init.zeros_(model.step.heads.weight)  # whatever it starts from is replaced
    again = train_many(resumed, losses, killed_after(), 200, checkpoint_dir=tmp_path, **options)
    pd.testing.assert_frame_equal(pd.DataFrame(again), pd.DataFrame(rows), check_exact=True)
    for k in range(3):
        assert torch.equal(weights(resumed[k]), weights(whole[k]))
    assert len(train_many(make()[0], losses, killed_after(0), 200, checkpoint_dir=tmp_path, **options)) == len(rows)


def test_a_killed_process_loses_only_what_came_after_the_last_checkpoint(tmp_path):
    script = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_many import *
torch.set_num_threads(1)
log = lambda row: print(row["update"], flush=True)
train_many(*make(), draw, 100_000, log=log, checkpoint_dir={str(tmp_path)!r}, checkpoint_every=40, **MANY)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    updates = [int(process.stdout.readline()) for _ in range(30)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    kept = load_checkpoint(tmp_path / "last.pt")["update"]
    assert kept % 40 == 0
    assert kept >= updates[-1] - 40
    (models, losses), whole = make(), make()[0]
    rows = train_many(models, losses, draw, kept + 20, checkpoint_dir=tmp_path, **MANY)
    assert [row["update"] for row in rows if row["network"] == 2] == list(range(20, kept + 21, 20))
    train_many(whole, losses, draw, kept + 20, **MANY)
    for k in range(3):
        torch.testing.assert_close(weights(models[k]), weights(whole[k]), **close)


class HalfFrozen(RNNStep):
    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size)
        self.cell.from_x.requires_grad_(False)


@pytest.mark.parametrize("step", [Normed, HalfFrozen])
@pytest.mark.parametrize("max_steps", [1, 6])  # with one step, from_h has no influence
def test_running_means_frozen_weights_and_unused_ones(step, max_steps):
    def build():
        torch.manual_seed(0)
        return PonderNet(step(6, 16), max_steps), PonderLoss(bce, 0.3, max_steps)

    (one, loss), (alone, _) = build(), build()
    train_many([one, build()[0]], [loss, loss], draw, 40, lr=1e-2, seeds=[1, 2], **OPTIONS)
    train(alone, loss, draw, 40, lr=1e-2, seed=1, **OPTIONS)
    for (name, mine), its in zip(one.state_dict().items(), alone.state_dict().values(), strict=True):
        torch.testing.assert_close(mine, its, **close, msg=name)


class Scaled(RNNStep):
    """Has a parameter without dimensions, and an attribute that is nobody's business."""

    def __init__(self, input_size, hidden_size, factor=1.0):
        super().__init__(input_size, hidden_size)
        self.scale = nn.Parameter(torch.tensor(1.0))
        self._factor = factor
        self.table = torch.arange(3000.0)

    def read(self, h):
        y_hat, halt_logit = super().read(h)
        return y_hat * self.scale * self._factor, halt_logit


def test_a_parameter_without_dimensions():
    models, losses = make(Scaled)
    train_many(models, losses, draw, 40, **MANY)
    alone = make(Scaled)[0][1]
    train(alone, losses[1], draw, 40, lr=LRS[1], seed=SEEDS[1], **OPTIONS)
    torch.testing.assert_close(weights(models[1]), weights(alone), **close)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_networks_of_another_precision(dtype):
    models, losses = make()
    models = [model.to(dtype) for model in models]
    rows = train_many(models, losses, lambda g: (draw(g)[0].to(dtype), draw(g)[1]), 60, **MANY)
    assert not any(row["stopped"] for row in rows)
    assert {p.dtype for model in models for p in model.parameters()} == {dtype}
    for k in range(3):
        its = [row for row in rows if row["network"] == k]
        assert its[0]["lr"] == LRS[k]
    if dtype == torch.float64:
        alone = make()[0][2].double()
        train(alone, losses[2], lambda g: (draw(g)[0].double(), draw(g)[1]), 60, lr=LRS[2], seed=SEEDS[2], **OPTIONS)
        torch.testing.assert_close(weights(models[2]), weights(alone), rtol=1e-4, atol=1e-6)


def test_an_interrupted_training_leaves_the_networks_with_what_they_have_learnt():
    models, losses = make()
    with pytest.raises(KeyboardInterrupt):
        train_many(models, losses, killed_after(50), 100, **MANY)
    whole, _ = make()
    train_many(whole, losses, draw, 50, **MANY)
    for k in range(3):
        assert torch.equal(weights(models[k]), weights(whole[k]))


def test_settings_of_another_run_are_refused(tmp_path):
    train_many(*make(), draw, 20, checkpoint_dir=tmp_path, **MANY)
    with pytest.raises(ValueError, match=r"checkpoint_dir holds .*of another run: loss_fns\.2.*log_prior"):
        train_many(*make(lambda_ps=(0.1, 0.5, 0.8)), draw, 20, checkpoint_dir=tmp_path, **MANY)
    with pytest.raises(ValueError, match=r"checkpoint_dir holds .*last\.pt, of another run: clip is 0.4 here and 0.3"):
        train_many(*make(), draw, 20, checkpoint_dir=tmp_path, **MANY | {"clip": 0.4})
    with pytest.raises(ValueError, match=r"of another run: schedules\.0 is LambdaLR here and missing there"):
        train_many(*make(), draw, 20, checkpoint_dir=tmp_path, **MANY | {"schedule": falling})


class Encoded(RNNStep):
    """An RNNStep behind a layer that is given: a layer of its own, or one of several networks."""

    def __init__(self, encoder):
        super().__init__(6, 16)
        self.encoder = encoder

    def start(self, x):
        return super().start(self.encoder(x))


def with_one_encoder():
    encoder = nn.Linear(6, 6)
    return [PonderNet(Encoded(encoder), 6) for _ in range(3)], make()[1]


def with_one_weight():
    models = [PonderNet(Encoded(nn.Linear(6, 6)), 6) for _ in range(3)]
    models[2].step.encoder.weight = models[0].step.encoder.weight
    return models, make()[1]


def with_one_running_mean():
    norm = nn.BatchNorm1d(6, affine=False)
    return [PonderNet(Encoded(norm), 6) for _ in range(3)], make()[1]


def with_one_network():
    return [make()[0][0]] * 3, make()[1]


class OnWeights(nn.Module):
    """A loss that has a network's weights in it."""

    def __init__(self, model):
        super().__init__()
        self.head, self.inner = model.step.heads, PonderLoss(bce, 0.3, 6)

    def forward(self, output, y):
        terms = self.inner(output, y)
        return terms._replace(total=terms.total + self.head.weight.square().sum())


def with_losses_on_weights():
    models = make()[0]
    return models, [OnWeights(model) for model in models]


def with_one_tied_network():
    models = [PonderNet(Encoded(nn.Linear(6, 6)), 6) for _ in range(3)]
    models[1].step.encoder.weight = nn.Parameter(torch.zeros(6, 6))
    for model in models:
        model.step.other = nn.Linear(6, 6)
    models[1].step.other.weight = models[1].step.encoder.weight
    return models, make()[1]


@pytest.mark.parametrize(
    ("networks", "message"),
    [
        (with_one_encoder, r"models\[1\]\.step\.encoder\.weight is models\[0\]\.step\.encoder\.weight"),
        (with_one_weight, r"models\[2\]\.step\.encoder\.weight is models\[0\]\.step\.encoder\.weight"),
        (with_one_running_mean, r"models\[1\]\.step\.encoder\.running_mean is models\[0\]\."),
        (with_one_network, r"models\[1\]\.step\.\S+ is models\[0\]\."),
        (with_losses_on_weights, r"loss_fns\[0\]\.head\.weight is models\[0\]\.step\.heads\.weight"),
        (with_one_tied_network, r"models must differ in nothing but .*models\[1\] .*ties.step.other.weight"),
    ],
)
def test_networks_with_a_tensor_in_common_are_refused(networks, message):
    with pytest.raises(ValueError, match=message):
        train_many(*networks(), draw, 20, **MANY)


class Twice(RNNStep):
    """A layer under two names, and a weight that two layers have."""

    def __init__(self, input_size, hidden_size):
        super().__init__(input_size, hidden_size)
        self.norm = nn.BatchNorm1d(input_size)
        self.again, self.once_more = self.norm, self.heads
        self.one, self.other = nn.Linear(input_size, input_size), nn.Linear(input_size, input_size)
        self.other.weight = self.one.weight

    def start(self, x):
        return super().start(self.other(self.one(self.again(self.norm(x)))))

    def read(self, h):
        return self.once_more(h)[..., 0], self.heads(h)[..., 1]


def test_what_is_registered_twice_within_a_network_is_learnt_once():
    (models, losses), (alone, _) = make(Twice), make(Twice)
    train_many(models, losses, draw, 40, **MANY)
    for k in range(3):
        train(alone[k], losses[k], draw, 40, lr=LRS[k], seed=SEEDS[k], **OPTIONS)
        for (name, mine), its in zip(models[k].state_dict().items(), alone[k].state_dict().values(), strict=True):
            torch.testing.assert_close(mine, its, **close, msg=name)


def test_running_means_of_a_network_that_diverges_stay_as_they_were():
    losses, seen = [BreaksBelow(limit) for limit in (-1.0, 0.04, -1.0)], []

    def watch(model):
        seen.append(model)
        return {"accuracy": 0.0}

    def draw_wide(generator):
        x, y = draw(generator)
        return x * 10, y

    models, alone = make(Normed)[0], make(Normed)[0]
    train_many(models, losses, draw_wide, 150, evaluate=watch, **MANY | {"lr": 1e-2})
    with pytest.raises(NonFiniteError):
        train(alone[1], losses[1], draw_wide, 150, lr=1e-2, seed=SEEDS[1], **OPTIONS)
    for k in (0, 2):
        train(alone[k], losses[k], draw_wide, 150, lr=1e-2, seed=SEEDS[k], **OPTIONS)
    for k in range(3):
        for mine, its in zip(models[k].buffers(), alone[k].buffers(), strict=True):
            torch.testing.assert_close(mine, its, **close)


@pytest.mark.parametrize("frozen", [True, False])
def test_a_frozen_part_stays_in_evaluation_mode(frozen):
    models, losses = make(Normed)
    for model in models:
        model.step.norm.train(not frozen)
    before = models[1].step.norm.running_mean.clone()
    train_many(models, losses, draw, 20, **MANY)
    assert torch.equal(models[1].step.norm.running_mean, before) == frozen
    assert {model.step.norm.training for model in models} == {not frozen}


def test_networks_in_other_modes_are_refused():
    models, losses = make(Normed)
    models[2].step.norm.eval()
    with pytest.raises(ValueError, match=r"models must differ in nothing but .*models\[2\] .*training is False"):
        train_many(models, losses, draw, 20, **MANY)


def reversed_third():
    models, losses = make()
    return models, [*losses[:2], PonderLoss(losses[0].reconstruction.criterion, 0.2, 6, direction="p_G||p")]


def with_another_table():
    models, losses = make(Scaled)
    models[2].step.table[1500] = 0
    return models, losses


@pytest.mark.parametrize(
    ("networks", "changed", "message"),
    [
        (make, {"seeds": [1, 2]}, "seeds must be as many as models, at least one; got 2 for 3"),
        (make, {"lr": [1e-3]}, "lr must be as many as models, at least one; got 1 for 3"),
        (make, {"lr": [1e-3, -1.0, 1e-3]}, r"lr must be a number in \(0, inf\); got -1.0"),
        (make, {"patience": 2}, "patience needs evaluate; got evaluate=None"),
        (make, {"evaluate": score, "monitor": "f1"}, "monitor must be a number that evaluate returns, .*'f1'"),
        (lambda: ([], []), {"seeds": [], "lr": 1e-3}, "loss_fns must be as many as models, at least one; got 0 for 0"),
        (make, {"schedule": lambda o: OneCycleLR(o, 1e-2, total_steps=20)}, "schedule must change nothing but the"),
        (
            lambda: ([PonderNet(CheckpointedStep(RNNStep(6, 16), 2), 6) for _ in range(3)], make()[1]),
            {},
            "models must be of what torch can batch .*; got a CheckpointedStep at step",
        ),
        (
            lambda: ([PonderNet(RecurrentStep(nn.LSTMCell(6, 16)), 6) for _ in range(3)], make()[1]),
            {},
            r"models must be of what torch can batch .*; got a LSTMCell at step\.cell",
        ),
        (
            lambda: ([PonderNet(RecurrentStep(nn.GRUCell(6, 16)), 6) for _ in range(3)], make()[1]),
            {},
            r"models must be of what torch can batch .*; got a GRUCell at step\.cell",
        ),
        (make, {"schedule": plateau}, "schedule must not be a ReduceLROnPlateau without evaluate"),
        (
            lambda: ([PonderNet(Scaled(6, 16, factor), 6) for factor in (1.0, 1.0, 0.0)], make()[1]),
            {},
            r"models must differ in nothing but .*models\[2\].*_factor",
        ),
        (with_another_table, {}, r"models must differ in nothing but .*models\[2\].*table"),
        (reversed_third, {}, r"loss_fns must differ in nothing but .*; got loss_fns\[2\] .*direction"),
        (
            lambda: ([*make()[0][:2], PonderNet(RNNStep(6, 16), 7)], make()[1]),
            {},
            r"models must .*models\[2\].*max_steps",
        ),
        (lambda: ([*make()[0][:2], PonderNet(RNNStep(6, 17), 6)], make()[1]), {}, r"models must .*models\[2\].*weight"),
    ],
)
def test_wrong_arguments_are_named(networks, changed, message):
    with pytest.raises(ValueError, match=message):
        train_many(*networks(), draw, 20, **MANY | changed)


def test_one_loss_or_seed_in_place_of_a_list_is_named():
    models, losses = make()
    with pytest.raises(TypeError, match="seeds must be a list; got int"):
        train_many(models, losses, draw, 20, **MANY | {"seeds": 0})
    with pytest.raises(TypeError, match="loss_fns must be a list; got PonderLoss"):
        train_many(models, losses[0], draw, 20, **MANY)


def test_a_network_that_looks_at_its_data_is_refused_by_torch():
    class Last(nn.Module):
        def forward(self, output, y):
            return LossTerms(output.remainder.mean(), *[torch.zeros(())] * 2)

    models = [ACT(RNNCell(7, 8)) for _ in range(2)]
    with pytest.raises(RuntimeError, match=r"vmap: .* dynamic shape"):
        train_many(models, [Last(), Last()], lambda g: (draw(g)[0][None], draw(g)[1]), 5, lr=1e-3, seeds=[0, 1])
