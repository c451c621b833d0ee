"""The training loop: what an update is, what stops it, and that a run that was cut off goes on as if it had not."""

import itertools
import math
import warnings
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small import TASK, WITH_ADAM, Normed, WithDropout, draw, make, score, weights
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR, ReduceLROnPlateau, StepLR

from ponder_utils.checkpoints import load_weights
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import RNNStep
from ponder_utils.training import NonFiniteError, cool_down, train


def test_an_update_is_what_a_loop_by_hand_makes():
    """An optimizer of a part trains that part alone, and the norm is of its gradient."""
    (model, loss), (twin, _) = make(), make()
    part, twin_part = model.step.heads, twin.step.heads
    optimizer = torch.optim.SGD(twin_part.parameters(), 0.1)
    halving = partial(StepLR, step_size=3, gamma=0.5)
    options = {"optimizer": torch.optim.SGD(part.parameters(), 0.1), "schedule": halving, "clip": 0.02}
    options |= {"log_every": 1, "seed": 3, "progress": False}
    rows = train(model, loss, draw, 10, **options)
    generator, schedule = torch.Generator().manual_seed(3), halving(optimizer)
    for row in rows:
        x, y = draw(generator)
        terms = loss(twin(x), y)
        twin.zero_grad()
        terms.total.backward()
        norm = nn.utils.clip_grad_norm_(twin_part.parameters(), 0.02)
        assert row["lr"] == optimizer.param_groups[0]["lr"]
        assert row["total"] == pytest.approx(terms.total.item(), rel=1e-5)
        assert row["grad_norm"] == pytest.approx(norm.item(), rel=1e-4)
        assert row["grad_norm"] > 0.02  # before it was clipped
        optimizer.step()
        schedule.step()
    torch.testing.assert_close(weights(model), weights(twin), rtol=1e-4, atol=1e-6)


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


def test_an_autocast_around_the_training_sees_the_weights_change():
    """Left to itself it would go on with its copy of the first ones, and the network would learn nothing."""
    (model, loss), (around, _) = make(), make()
    wanted = train(model, loss, draw, 60, **WITH_ADAM)
    with torch.autocast("cpu", torch.bfloat16):
        rows = train(around, loss, draw, 60, **WITH_ADAM)
    assert [row["total"] for row in rows] == pytest.approx([row["total"] for row in wanted], rel=0.02)
    torch.testing.assert_close(weights(around), weights(model), rtol=0, atol=0.05)  # of 0.5 that they may move


def test_a_batch_may_have_a_mask_which_the_loss_is_given():
    """As a third part, as for `evaluate`, or within the target, of which the loss reads what it likes."""

    def draw_masked(generator):
        x, y = draw(generator)
        mask = torch.rand(len(y), generator=generator) < 0.5
        return x, y.where(mask, torch.nan), mask

    def draw_pair(generator):
        x, y, mask = draw_masked(generator)
        return x, (y, mask)

    (model, loss), (twin, _), (unlike, _) = make(), make(), make()
    rows = train(model, loss, draw_masked, 30, **WITH_ADAM)
    assert train(twin, lambda output, target: loss(output, *target), draw_pair, 30, **WITH_ADAM) == rows
    assert torch.equal(weights(twin), weights(model))
    train(unlike, loss, draw, 30, **WITH_ADAM)
    assert not torch.equal(weights(unlike), weights(model))


@pytest.mark.parametrize(
    ("batch", "came"), [({"x": 1, "y": 2}, "dict"), (draw(None)[0], "Tensor"), ((1,), "1 parts"), ([1] * 4, "4 parts")]
)
def test_a_batch_of_another_form_is_named(batch, came):
    model, loss = make()
    with pytest.raises(ValueError, match=rf"^batches must give .*\(x, y\) or \(x, y, mask\); got {came}$"):
        train(model, loss, [batch], 1, **WITH_ADAM)


def infinite(output, terms):
    return terms._replace(regularization=terms.regularization * math.inf)


def root_of_zero(output, terms):
    return terms._replace(total=terms.total + (output.y_hat * 0).abs().sum().sqrt())


@pytest.mark.parametrize(("broken", "named"), [(infinite, "regularization"), (root_of_zero, "grad_norm")])
def test_the_first_update_that_is_not_finite_stops_the_run_and_reaches_no_weight_or_running_mean(broken, named):
    model, loss = make(step=Normed)
    seen = []

    def drawn(generator):
        seen.append({name: value.clone() for name, value in model.state_dict().items()})
        return draw(generator)

    def poisoned(output, y):
        terms = loss(output, y)
        return broken(output, terms) if len(seen) == 13 else terms

    with pytest.raises(NonFiniteError, match=f"13: [a-z_, ]*{named}[a-z_, ]* not finite"):
        train(model, poisoned, drawn, 50, **WITH_ADAM)
    assert len(seen) == 13
    assert all(torch.equal(value, seen[-1][name]) for name, value in model.state_dict().items())


def one_cycle(optimizer):
    return OneCycleLR(optimizer, 5e-3, total_steps=80)


def plateau(optimizer):
    return ReduceLROnPlateau(optimizer, mode="max", patience=0)


OPTIMIZERS = {
    "Adam": (lambda m: torch.optim.Adam(m.parameters(), lr=5e-3, fused=True), one_cycle),
    "SGD of a part": (lambda m: torch.optim.SGD(m.step.heads.parameters(), lr=0.1, momentum=0.9), plateau),
}


class Growing(nn.Module):
    """A divergence that is weighed more and more: the count is a buffer."""

    def __init__(self, loss):
        super().__init__()
        self.loss = loss
        self.register_buffer("n", torch.zeros(()))

    def forward(self, output, y):
        self.n += 1
        return self.loss.reconstruction(output, y) + self.n / 80 * self.loss.regularization(output)


def cut_off(row):
    if row["update"] == 50:
        raise KeyboardInterrupt


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_a_run_that_was_cut_off_goes_on_as_if_it_had_not_been(tmp_path, kind):
    build, schedule = OPTIMIZERS[kind]

    def run(seed, **options):
        model, loss = make(seed, step=WithDropout)
        average = torch.optim.swa_utils.AveragedModel(model)
        torch.manual_seed(123)  # of the dropout

        def scores(model):
            average.update_parameters(model)
            return score(average)

        options |= {"log_every": 10, "checkpoint_every": 20, "evaluate": scores, "monitor": "accuracy"}
        options |= {"optimizer": build(model), "schedule": schedule, "also": {"average": average}, "progress": False}
        rows = train(model, Growing(loss), draw, 80, **options)
        return rows, torch.cat([weights(model), weights(average)])

    rows, kept = run(0)
    assert rows[-1]["lr"] < rows[0]["lr"]  # the schedule has changed it
    with pytest.raises(KeyboardInterrupt):
        run(0, checkpoint_dir=tmp_path, log=cut_off)
    again, resumed = run(7, checkpoint_dir=tmp_path)  # whatever it starts from is replaced
    assert again == rows
    assert torch.equal(resumed, kept)


def test_a_loader_begins_its_epoch_again_in_a_run_that_goes_on(tmp_path):
    batches = [(torch.ones(2, 1), torch.full((2,), n)) for n in range(3)]
    model, seen = nn.Linear(1, 1), []

    def reads(output, y):
        seen.append(int(y[0]))
        return output.mean()

    for n_updates in (4, 6):
        train(model, reads, batches, n_updates, lr=0.1, checkpoint_dir=tmp_path, progress=False)
    assert seen == [0, 1, 2, 0, 0, 1]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"lr": 0.1}, r"lr: 0\.1 here, 0\.005 there"),
        ({"config": {"beta": 0.1, "k": [1, 2]}}, r"config\['beta'\]: 0\.1 here, 0\.3 there$"),
        ({"hidden": 31}, r"shape of step\.\S+: \[31.* here, \[32.* there"),
        ({"optimizer": torch.optim.SGD, "lr": None}, "class of optimizer: .*SGD.* here"),
        ({"n_updates": 2}, "n_updates must be at least 3"),
    ],
)
def test_another_run_is_refused_what_differs_is_named_and_nothing_is_lost(tmp_path, changed, named):
    def go_on(n_updates, hidden=32, optimizer=None, **options):
        model, loss = PonderNet(RNNStep(6, hidden), 6), make()[1]
        options = WITH_ADAM | {"config": {"beta": 0.3, "k": (1, 2)}, "checkpoint_dir": tmp_path} | options
        optimizer = optimizer and optimizer(model.parameters(), 0.1)
        return train(model, loss, draw, n_updates, optimizer=optimizer, **options)

    go_on(3)
    kept = (tmp_path / "last.pt").read_bytes()
    with pytest.raises(ValueError, match=named):
        go_on(**{"n_updates": 5} | changed)
    assert (tmp_path / "last.pt").read_bytes() == kept
    assert [row["update"] for row in go_on(5)] == [3, 5]  # the same goes on, also for longer


def test_other_groups_of_weights_in_the_optimizer_are_refused_before_any_weight_is_loaded(tmp_path):
    (model, loss), (other, _) = make(), make(seed=7)
    options = {"checkpoint_dir": tmp_path, "progress": False}
    train(model, loss, draw, 1, optimizer=torch.optim.Adam(model.parameters()), **options)
    kept, groups = weights(other), [{"params": [weight]} for weight in other.parameters()]
    with pytest.raises(ValueError, match=r"weights in groups of optimizer: \[.*\] here, \[\d+\] there"):
        train(other, loss, draw, 2, optimizer=torch.optim.Adam(groups), **options)
    assert torch.equal(weights(other), kept)


def test_it_is_evaluated_in_evaluation_mode_without_gradients_and_goes_on_in_its_modes():
    model, loss = make()
    model.step.heads.eval()

    def look(network):
        assert network is model
        assert not torch.is_grad_enabled()
        assert not any(part.training for part in model.modules())
        return {"loss": torch.tensor(0.5)}

    rows = train(model, loss, draw, 4, lr=0.1, evaluate=look, log_every=2, progress=False)
    assert [row["loss"] for row in rows] == [0.5, 0.5]
    assert model.training
    assert not model.step.heads.training


@pytest.mark.parametrize(("mode", "best"), [("max", 0.7), ("min", 0.1)])
def test_a_run_ends_when_nothing_has_been_better_for_so_long_and_keeps_the_best(tmp_path, mode, best):
    scores = [0.5, 0.1, 0.7, 0.3, 0.2, 0.4, 0.9, 0.0]
    left, kept = iter(scores), {}

    def evaluate(model):
        score = next(left)
        kept[score] = weights(model)
        return {"accuracy": score}

    (model, loss), (other, _) = make(), make()
    options = {"evaluate": evaluate, "mode": mode, "patience": 3, "log_every": 1, "checkpoint_dir": tmp_path}
    for n_updates in (4, len(scores)):  # in two parts
        rows = train(model, loss, draw, n_updates, **WITH_ADAM | options)
    assert [row["accuracy"] for row in rows] == scores[: scores.index(best) + 4]
    load_weights(other, tmp_path / "best.pt")
    assert torch.equal(weights(other), kept[best])


def frozen():
    return make()[0].requires_grad_(False)


@pytest.mark.parametrize(
    ("changed", "error", "named"),
    [
        ({"model": frozen()}, ValueError, "model"),
        ({"loss_fn": lambda output, y: [output.y_hat.mean()]}, TypeError, "loss_fn"),
        ({"loss_fn": lambda output, y: output.y_hat.detach().mean()}, RuntimeError, "does not require grad"),
        ({"loss_fn": lambda output, y: {"total": output.y_hat.mean(), "lr": 0.1}}, ValueError, "loss_fn .*lr"),
        ({"evaluate": lambda model: {"accuracy": 1.0, "total": 0.5}}, ValueError, "evaluate .*total"),
        ({"batches": iter([draw(torch.Generator())]), "n_updates": 2}, ValueError, "batches"),
        ({"also": {"n": 3}}, TypeError, "also"),
        ({"log": {"total": 0.5}}, TypeError, "log must be a function"),
        ({"n_updates": 0}, ValueError, "n_updates"),
        ({"lr": -1.0}, ValueError, "lr"),
        ({"optimizer": torch.optim.Adam}, ValueError, "lr.* optimizer"),
        ({"lr": None, "optimizer": torch.optim.SGD(make()[0].parameters(), 0.1)}, ValueError, "optimizer .*model"),
        ({"patience": 2, "monitor": None}, ValueError, "patience"),
        ({"schedule": plateau, "monitor": None}, ValueError, "monitor"),
        ({"schedule": plateau, "mode": "min"}, ValueError, "mode must be .*'max'; got 'min'"),
        ({"evaluate": None}, ValueError, "monitor"),
        ({"monitor": "f1"}, ValueError, "monitor"),
        ({"loss_fn": lambda output, y: {"loss": output.y_hat.mean()}}, TypeError, r"loss_fn .*total; got .*\['loss'\]"),
        ({"config": {"task": TASK}}, TypeError, r"config\['task'\] must be what JSON can hold.*ParityTask"),
    ],
)
def test_what_cannot_be_an_argument_is_named(changed, error, named, tmp_path):
    model, loss = make()
    kept = weights(model)
    options = WITH_ADAM | {"model": model, "loss_fn": loss, "batches": draw, "n_updates": 1} | changed
    with pytest.raises(error, match=named):
        train(checkpoint_dir=tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()
    if not changed.keys() & {"batches", "evaluate", "monitor"}:
        assert torch.equal(weights(model), kept)  # nothing was trained by then
