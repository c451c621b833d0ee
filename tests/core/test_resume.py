"""What belongs to a run: its batches, the numbers of its network and its loss, and rows that do not change later."""

import functools
import json
import random
from collections import OrderedDict
from enum import Enum

import numpy as np
import pytest
import torch
from small import TASK, cross_entropy, draw, make, weights
from torch import distributed, nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

from ponder_evidence.curriculum import Curriculum
from ponder_evidence.muon import MuonAndAdam
from ponder_utils import ParityTask, PonderLoss, PonderNet, RNNStep, cool_down, train
from ponder_utils.checkpoints import load_checkpoint, save_checkpoint
from ponder_utils.epochs import Draws, RandomNumbers

X, Y = TASK.batch(40, torch.Generator().manual_seed(3))
OPTIONS = {"lr": 1e-2, "log_every": 1, "checkpoint_every": 1, "progress": False}
N_BATCHES = 5  # in an epoch


def from_everywhere():
    return torch.randn(()).item() + random.random() + np.random.rand()  # noqa: NPY002


class Noisy(Dataset):
    def __init__(self, noise=float):
        self.noise = noise

    def __len__(self):
        return 40

    def __getitem__(self, n):
        return X[n] + self.noise(), Y[n]


class WithGenerator(Noisy):
    """Its random numbers are in no checkpoint, and nobody can seed them anew."""

    def __init__(self):
        self.noise = np.random.default_rng(5).random


class Wrapped:
    def __init__(self, *loaders):
        self.loaders = list(loaders)

    def __iter__(self):
        for loader in self.loaders:
            yield from loader


def sampled(data, seed=9):
    sampler = RandomSampler(data, generator=torch.Generator().manual_seed(seed))
    return DataLoader(data, batch_sampler=BatchSampler(sampler, 8, False))


def by_python(generator):
    x, y = draw(generator)
    return x + random.random() + np.random.rand(), y  # noqa: NPY002


class Sequence:
    """What is read by its indices."""

    def __getitem__(self, n):
        if n == N_BATCHES:
            raise IndexError
        return X[8 * n : 8 * n + 8], Y[8 * n : 8 * n + 8]


class Counting:
    """A function that counts its batches, which no generator knows."""

    def __init__(self):
        self.n = 0

    def __call__(self, generator):
        self.n += 1
        return X[: self.n], Y[: self.n]


class Counted(Counting):
    def state_dict(self):
        return {"n": self.n}

    def load_state_dict(self, state):
        self.n = state["n"]


class ByPython(RNNStep):
    """Draws from Python's and NumPy's random numbers in its forward pass."""

    def encode(self, x):
        return super().encode(x + random.random() + np.random.rand())  # noqa: NPY002


class Writes(RNNStep):
    """Writes into its batch."""

    def encode(self, x):
        return super().encode(x.mul_(0.5))


class Averaging(nn.Module):
    """A loss with a state: a running mean, which it subtracts."""

    def __init__(self):
        super().__init__()
        self.loss = make()[1]
        self.register_buffer("mean", torch.zeros(()))

    def forward(self, output, y):
        terms = self.loss(output, y)
        self.mean = 0.9 * self.mean + 0.1 * terms.total.detach()
        return terms._replace(total=terms.total * self.mean)


KEPT = {  # batches, the step that reads them, and after how many updates the run is cut off
    "by indices": (Sequence, ByPython, 12),
    "two samplers": (lambda: Wrapped(sampled(Noisy(from_everywhere)), sampled(Noisy(), seed=4)), ByPython, 12),
    "workers": (lambda: DataLoader(Noisy(from_everywhere), 8, shuffle=True, num_workers=1), ByPython, 12),
    "by functions": (lambda: by_python, ByPython, 12),
    "with a state": (Counted, ByPython, 12),
    "written into": (lambda: DataLoader(Noisy(), 8, shuffle=True), Writes, 3),
    "with a generator, read from its start": (lambda: DataLoader(WithGenerator(), 8), RNNStep, 3),
}
SLOW = {"workers": pytest.mark.slow}


def rows_of(batches, folder, n_updates, step=RNNStep, seed=1):
    """The rows of a training in what might be another process."""
    torch.manual_seed(0)
    random.seed(seed)  # whatever they are at the start of a process
    np.random.seed(seed)  # noqa: NPY002
    model, _ = make(step=step)
    rows = train(model, Averaging(), batches, n_updates, checkpoint_dir=folder, **OPTIONS)
    return rows, weights(model)


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=SLOW.get(kind, ())) for kind in KEPT])
def test_resumed_equals_uninterrupted_whatever_the_batches_are_drawn_with(tmp_path, kind):
    build, step, cut_after = KEPT[kind]
    rows, kept = rows_of(build(), None, 17, step)
    rows_of(build(), tmp_path / "cut", cut_after, step)
    again, resumed = rows_of(build(), tmp_path / "cut", 17, step, seed=2)
    assert again == rows
    assert torch.equal(resumed, kept)


def test_a_training_leaves_the_random_numbers_of_others_alone():
    """But for those that the model itself draws."""
    numbers = []
    for batches in ((lambda generator: draw(generator)), DataLoader(Noisy(from_everywhere), 8)):
        rows_of(batches, None, 3)
        numbers.append((random.random(), np.random.rand(), torch.rand(()).item()))  # noqa: NPY002
    assert numbers[0] == numbers[1]


def test_each_batch_of_an_iterable_has_noise_of_its_own():
    numbers = RandomNumbers(torch.device("cpu"), 0)
    draws = Draws(DataLoader(Noisy(from_everywhere), 8), numbers, resumable=False)
    noise = torch.cat([draws(numbers.generator)[0] for _ in range(N_BATCHES)]) - X
    assert len(noise[:, 0].unique()) == len(X)


def test_a_whole_epoch_holds_every_sample_once():
    seen = []

    class Kept(Noisy):
        def __getitem__(self, n):
            seen.append(n)
            return super().__getitem__(n)

    rows_of(DataLoader(Kept(), 8, shuffle=True), None, 2 * N_BATCHES)
    assert sorted(seen[:40]) == sorted(seen[40:]) == list(range(40))
    assert seen[:40] != seen[40:]


class Fewer(Noisy):
    def __len__(self):
        return 16


OTHER_BATCHES = {
    "fewer": (lambda: DataLoader(Noisy(), 8), lambda: DataLoader(Fewer(), 8), 3),
    "noise": (lambda: DataLoader(Noisy(), 8), lambda: DataLoader(Noisy(from_everywhere), 8), 3),
    "a generator of the data": (lambda: DataLoader(WithGenerator(), 8), lambda: DataLoader(WithGenerator(), 8), 8),
    "a function that counts": (Counting, Counting, 3),
}


@pytest.mark.parametrize("kind", OTHER_BATCHES)
def test_other_batches_than_in_the_checkpoint_are_refused_before_anything_is_written(tmp_path, kind):
    before, after, n_updates = OTHER_BATCHES[kind]
    rows_of(before(), tmp_path, n_updates)
    model, _ = make(seed=7)
    kept = weights(model)
    with pytest.raises(ValueError, match="batches are others than in the checkpoint"):
        train(model, Averaging(), after(), n_updates + 10, checkpoint_dir=tmp_path, **OPTIONS)
    assert torch.equal(weights(model), kept)


def test_persistent_workers_are_refused_where_there_are_checkpoints_alone():
    batches = Wrapped(DataLoader(Noisy(), 8, num_workers=1, persistent_workers=True))
    numbers = RandomNumbers(torch.device("cpu"), 0)
    Draws(batches, numbers, resumable=False)
    with pytest.raises(ValueError, match=r"batches .*persistent_workers.*checkpoint_dir"):
        Draws(batches, numbers, resumable=True)


# What a run is


class Scaled:
    """A loss that is a callable object."""

    def __init__(self, beta):
        self.beta = beta

    def __call__(self, output, y):
        return PonderLoss(cross_entropy, 0.3, beta=self.beta)(output, y)


def enclosing(beta):
    def loss(output, y):
        return PonderLoss(cross_entropy, 0.3, beta=beta)(output, y)

    return loss


def keyword_default(value):
    def loss(output, y, *, beta=value):
        return PonderLoss(cross_entropy, 0.3, beta=beta)(output, y)

    return loss


class Size(Enum):
    SMALL = 1
    LARGE = 2


def loss(*, prior=0.3, criterion=cross_entropy, **options):
    return {"loss_fn": PonderLoss(criterion, prior, **options)}


def network(max_steps=6, step=RNNStep, width=32, **options):
    return {"model": PonderNet(step(6, width, **options), max_steps)}


class Fading(RNNStep):
    def __init__(self, input_size, hidden_size, fading=0.1, sizes=(1, 2)):
        super().__init__(input_size, hidden_size)
        self.dropout, self.sizes = nn.Dropout(fading), sizes


def batches(size, n_elements=6):
    return {"batches": functools.partial(TASKS[n_elements].batch, size)}


TASKS = {6: TASK, 5: ParityTask(6, 1, 5)}


def curriculum(raise_at):
    return {"batches": Curriculum(lambda K, g: ParityTask(6, 1, K).batch(8, g), lambda *_: 0.0, 6, raise_at=raise_at)}


def half_frozen(frozen):
    model = network()["model"]
    model.step.heads.requires_grad_(not frozen)
    return {"model": model}


def sized(sizes):
    return network(step=Fading, sizes=sizes)


def optimized(build):
    model = make()[0]
    return {"model": model, "lr": None, "optimizer": build(model)}


OPTION = {"seed": 1, "clip": None, "log_every": 2, "monitor": "seen", "mode": "min", "patience": 3}
ANOTHER = {  # what was trained, what goes on, and the difference
    "options": ({}, OPTION, "seed: 1 .*0 .*clip: None .*1.0 .*log_every: 2 .*'seen' .*'accuracy' .*'min' .* 1 more"),
    "lr": ({}, {"lr": 0.1}, "optimizer.0.lr: 0.1 here, 0.01 there"),
    "optimizer": ({}, optimized(lambda model: MuonAndAdam(model, 1e-3)), "optimizer: MuonAndAdam here, Adam there"),
    "a part": ({}, optimized(lambda model: torch.optim.Adam(model.step.heads.parameters())), r"optimizer.0.params"),
    "a schedule": ({}, {"schedule": cool_down(20)}, "schedule: LambdaLR here, None there"),
    "cooling": ({"schedule": cool_down(20)}, {"schedule": cool_down(40)}, "schedule.lr_lambdas.0.n_updates: 40 here"),
    "config": ({"config": {"beta": 0.01}}, {"config": {"beta": 0.1}}, "config: .*0.1.* here, .*0.01.* there"),
    "max_steps": (network(3), network(30), "model.max_steps: 30 here, 3 there"),
    "width": ({}, network(width=24), r"model.step.cell.*weight: \[24, 6\] torch.float32 here, \[32, 6\]"),
    "step": ({}, network(step=Fading), "model.step: Fading here, RNNStep there"),
    "sizes": (
        sized((1, Size.SMALL, range(2), np.arange(2))),
        sized((2, Size.LARGE, range(3), np.arange(3))),
        r"sizes.0: 2 here, 1 there; .*sizes.1: .*LARGE.* here.*; .*sizes.2: range.*; .*sizes.3: \[3\]",
    ),
    "frozen": (half_frozen(False), half_frozen(True), r"model.step.heads.weight: .*, frozen here, .*32 there"),
    "a tensor": (loss(prior=torch.ones(6) / 6), loss(prior=torch.arange(1.0, 7) / 21), "log_prior: .*checksum"),
    "criterion": (loss(), loss(criterion=torch.sub), "criterion: sub here, BCEWithLogitsLoss there"),
    "compiled": ({"loss_fn": enclosing(1)}, {"loss_fn": torch.compile(enclosing(2))}, "loss_fn.beta: 2 here, 1"),
    "default": ({"loss_fn": keyword_default(1)}, {"loss_fn": keyword_default(2)}, "loss_fn.keywords.beta: 2 here, 1"),
    "method": ({"loss_fn": Scaled(1)}, {"loss_fn": Scaled(2).__call__}, "loss_fn.beta: 2 here, 1 there"),
    "task": (batches(8), batches(9, 5), "batches.func.k_max: 5 here, 6 there; batches.args.0: 9 here, 8 there"),
    "curriculum": (curriculum(0.5), curriculum(0.6), "batches.raise_at: 0.6 here, 0.5 there"),
    "a loader": ({}, {"batches": DataLoader(Noisy(), 8)}, "batches: DataLoader here, function there"),
}


@pytest.mark.parametrize("kind", ANOTHER)
def test_another_run_is_refused_and_what_differs_is_named(tmp_path, kind):
    before, after, named = ANOTHER[kind]

    def go_on(changed, n_updates):
        options = {"model": make()[0], "loss_fn": make()[1], "batches": draw, "evaluate": constant} | changed
        return train(n_updates=n_updates, checkpoint_dir=tmp_path, **OPTIONS | options)

    assert len(go_on(before, 2)) == 2
    assert len(go_on(before, 3)) == 3  # the same goes on, also for longer
    with pytest.raises(ValueError, match=f"checkpoint_dir .*last.pt.*: .*{named}"):
        go_on(after, 4)


def constant(model):
    return {"accuracy": 0.5, "seen": 1}


def test_a_checkpoint_that_has_gone_further_or_is_of_another_version_is_refused(tmp_path):
    (model, loss), folder = make(), tmp_path / "of" / "one"
    path = folder / "last.pt"
    train(model, loss, draw, 2, checkpoint_dir=folder, **OPTIONS)
    with pytest.raises(ValueError, match=r"updates in checkpoint_dir .*\[0, 1\]; got 2"):
        train(model, loss, draw, 1, checkpoint_dir=folder, **OPTIONS)
    save_checkpoint(path, {name: part for name, part in load_checkpoint(path).items() if name != "made_with"})
    with pytest.raises(ValueError, match="model: PonderNet here, nothing there"):
        train(model, loss, draw, 4, checkpoint_dir=folder, **OPTIONS)


def enclosing_nothing():
    def loss(output, y):
        return make()[1](output, y) if True else later

    if not callable(loss):
        later = 1
    return loss


def test_the_same_made_anew_goes_on(tmp_path):
    """In a config in another order, of lists that are one object or two, and of a loss that encloses nothing yet."""
    once = [1, 2]
    for n, sizes in enumerate([(once, once), (once, [*once]), (once, once)], start=2):
        config = {"a": 1, "b": {"c": 2, "d": np.float32(3)}} if n == 2 else {"b": {"d": 3.0, "c": 2}, "a": 1}
        changed = sized(sizes) | {"loss_fn": enclosing_nothing(), "config": config}
        changed["model"].step.owners = [changed["model"]]  # a circle
        assert len(train(batches=draw, n_updates=n, checkpoint_dir=tmp_path, **OPTIONS | changed)) == n


# Rows


def test_rows_hold_plain_numbers_that_do_not_change_later(tmp_path):
    model, loss = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))
    live, lengths, logged, seen = torch.zeros(()), [], [], []

    def terms(output, y):
        return OrderedDict(loss(output, y)._asdict(), live=live, steps=np.float32(2), exact=1)

    def scores(model):
        live.add_(1)
        lengths.append(len(lengths))
        deep = OrderedDict(live=live, all=(live, np.ones(2)))
        return {"accuracy": live, "lengths": lengths, "deep": deep, "seen": np.arange(2), "K": np.int64(3)}

    def log(row):
        logged.append(row)
        seen.append(json.dumps(row))  # plain numbers alone can be written so
        row["lengths"].append("the reader's own")

    options = OPTIONS | {"lr": None, "optimizer": optimizer, "schedule": cool_down(6), "log_every": 2}
    train(model, terms, draw, 6, evaluate=scores, log=log, checkpoint_dir=tmp_path, **options)
    rows = load_checkpoint(tmp_path / "last.pt")["rows"]
    assert [json.dumps(row) for row in rows] == seen
    assert [row["lr"] for row in rows] == pytest.approx([0.1, 0.1, 0.1 / 3])
    assert [row["accuracy"] for row in rows] == [1, 2, 3]
    assert [row["live"] for row in rows] == [0, 1, 2]
    assert [row["deep"]["all"] for row in rows] == [(n, [1, 1]) for n in (1, 2, 3)]
    assert [row["lengths"] for row in rows] == [[0], [0, 1], [0, 1, 2]]
    assert type(rows[0]["accuracy"]) is type(rows[0]["lr"]) is type(rows[0]["steps"]) is float
    assert logged[0]["lengths"] == [0, "the reader's own"]


def test_several_processes_do_not_silently_draw_the_same_batches(monkeypatch):
    monkeypatch.setattr(distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(distributed, "get_world_size", lambda: 2)
    model, loss = make()
    with pytest.raises(ValueError, match="train must run in one process"):
        train(model, loss, draw, 1, **OPTIONS)
    monkeypatch.setattr(distributed, "get_world_size", lambda: 1)
    assert len(train(model, loss, draw, 1, **OPTIONS)) == 1
