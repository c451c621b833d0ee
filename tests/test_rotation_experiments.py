"""What lesson 04 measures, against the slow way; and that its stored runs are those that its experiments make."""

import math
from pathlib import Path
from statistics import fmean

import pytest
import torch
from torch import nn

from ponder_course import results, verdicts
from ponder_course.experiments import mnist_reading as reading, mnist_rotation as rotation, mnist_turning as turning
from ponder_course.experiments.mnist_reading import learn, recipe
from ponder_course.experiments.mnist_rotation import settings
from ponder_course.store import key_of
from ponder_course.experiments.mnist_turning import RULES, late, look_closer, measure, score
from ponder_utils.halting import halting_log_probs
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet, PonderOutput
from ponder_utils.tasks import RotationTask, rotated_by
from ponder_utils.tasks.digits import DigitSet, Split, load_digits
from ponder_utils.training import train

RESULTS = Path(__file__).resolve().parents[1] / "results"


def few(n_train=300, n_test=40):
    digits = load_digits("digits")
    parts = (digits.train, n_train), (digits.validation, 20), (digits.test, n_test)
    return DigitSet(digits.name, *(Split(split.x[:n], split.y[:n]) for split, n in parts))


DIGITS = few()


def network(kind="conv", N=4, seed=0):
    torch.manual_seed(seed)
    return PonderNet(reading.STEPS[kind](), N).eval()


@pytest.mark.parametrize("experiment", ["class", "paper", "closer"])
def test_stored_runs_are_those_that_the_experiment_makes(experiment):
    wanted = {key_of(setting) for setting in settings(experiment)}
    rows = results.load_results(RESULTS / f"04_mnist_rotation_{experiment}.jsonl")
    names = settings(experiment)[0].keys()
    assert {key_of({name: row[name] for name in names}) for row in rows} <= wanted
    assert len(wanted) == len(settings(experiment))


def test_a_new_run_has_the_names_of_the_stored_ones_and_says_how_many_updates_it_made(monkeypatch):
    monkeypatch.setattr(rotation, "load_digits", lambda *_: DIGITS)
    rotation._digits.cache_clear()
    setting = recipe("conv", "the small digits", "smoke") | {"updates": 2, "seed": 0}
    made = rotation.run("smoke", "", **setting)
    rotation._digits.cache_clear()
    stored = results.load_results(RESULTS / "04_mnist_rotation_class.jsonl")[0]
    assert made.keys() - {"updates_made"} == stored.keys() - setting.keys()
    assert made["updates_made"] == 2
    assert [*made["rules"]] == [*RULES]
    assert len(made["steps"]) == len(turning.ANGLES)


def test_learn_trains_as_the_lesson_does():
    setting = recipe("conv", "", "smoke") | {"updates": 3, "seed": 3}
    del setting["data"]
    made, n = learn(DIGITS, "smoke", **setting)
    torch.manual_seed(3)
    model = PonderNet(reading.patch_step(), 10)
    loss = PonderLoss(nn.CrossEntropyLoss(reduction="none"), 0.3, 10, 0.2)
    task = RotationTask(*DIGITS.train, 22.5)
    plan = reading.plan("smoke", "conv", 3, 300) | {"evaluate": reading.watch(DIGITS, "smoke")}
    train(model, loss, lambda g: task.batch(64, g), 3, seed=3, **plan)
    assert n == 3
    for mine, theirs in zip(made.parameters(), model.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_score_is_what_counting_by_hand_gives():
    model, x, y = network(), rotated_by(DIGITS.test.x, 15), DIGITS.test.y
    found = score(model, x, y)
    with torch.no_grad():
        y_hat, _, log_p = model(x)
    shares, steps = [], []
    for i, label in enumerate(y.tolist()):
        p = log_p[:, i].exp().tolist()
        shares.append(sum(p_n for p_n, said in zip(p, y_hat[:, i].argmax(1).tolist(), strict=True) if said == label))
        steps.append(sum(n * p_n for n, p_n in enumerate(p, start=1)))
    right = sum(s * t for s, t in zip(shares, steps, strict=True)) / sum(shares)
    wrong = sum((1 - s) * t for s, t in zip(shares, steps, strict=True)) / sum(1 - s for s in shares)
    for name, value in {"accuracy": fmean(shares), "steps": fmean(steps), "right": right, "wrong": wrong}.items():
        assert math.isclose(found[name], value, rel_tol=1e-4), name
    assert score(model, x, y, last=True)["accuracy"] == pytest.approx(found["by_step"][-1])
    assert score(model, x, y, last=True)["steps"] == len(log_p)


def test_digits_that_are_right_late_are_those_that_stopping_early_would_cost():
    right = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 0]], dtype=torch.bool)
    is_late, among = late(right)  # the best step is the third
    assert among.tolist() == [True, True, True, False]
    assert is_late[:3].tolist() == [False, False, True]


def test_a_closer_look_agrees_with_the_first_one():
    model = network()
    near, far = measure(model, *DIGITS.test), look_closer(model, DIGITS, hard=DIGITS.test.y == 3)
    assert far["by_step"] == near["by_step_within"]
    assert far["rules"]["quantile"] == near["rules"]["quantile"]
    assert far["rules"]["sample"] == [near["steps_within"][0], near["accuracy_within"][0]]
    assert far["longer"]["turned by 90 degrees"] == pytest.approx(rotation.sideways([near])[0], abs=2e-4)
    assert rotation.longer([far, {"longer": {"wrong": math.nan}}], "wrong") == [far["longer"]["wrong"]]
    assert far["longer"]["wrong"] == pytest.approx(rotation.mistaken([near])[0], abs=2e-4)
    assert far["rules"]["quantile"][1] - 1e-3 <= far["hindsight"] <= far["ever"] + 1e-3
    assert sum(far["p"]) == pytest.approx(1, abs=1e-3)
    assert far["shares"]["ambiguous"] == pytest.approx((DIGITS.test.y == 3).float().mean().item(), abs=1e-4)


def test_ambiguous_digits_are_not_asked_of_a_network():
    hard = turning.ambiguous(few(n_test=200), 300)
    assert hard.shape == (200,)
    assert 0 < hard.float().mean() < 1
    alone = DIGITS._replace(train=Split(DIGITS.train.x, torch.zeros_like(DIGITS.train.y)))
    assert not turning.ambiguous(alone).any()


def outputs(N=5, batch=6):
    generator = torch.Generator().manual_seed(0)
    a = torch.randn(N, batch, generator=generator).requires_grad_()
    y_hat = torch.randn(N, batch, 10, generator=generator)
    return a, PonderOutput(y_hat, a, halting_log_probs(a)), torch.arange(batch)


@pytest.mark.parametrize("direction", ["p||p_G", "p_G||p"])
def test_the_loss_of_the_batch_says_the_same_to_every_digit(direction):
    _, output, y = outputs()
    p = output.log_p.exp().detach().requires_grad_()
    loss = reading.of_the_batch(0.2, 5, 0.0, direction)
    (slope,) = torch.autograd.grad(loss(output._replace(log_p=p.log()), y).total, p)
    torch.testing.assert_close(slope, slope[:, :1].expand_as(slope))


def test_the_loss_of_a_batch_of_one_is_that_of_the_digit():
    _, output, y = outputs(batch=1)
    each = PonderLoss(nn.CrossEntropyLoss(reduction="none"), 0.2, 5, 0.1)
    mean = reading.of_the_batch(0.2, 5, 0.1, "p||p_G")
    torch.testing.assert_close(tuple(mean(output, y)), tuple(each(output, y)))


def test_the_losses_have_the_names_of_the_settings():
    _, output, y = outputs()
    for loss in {setting["loss"] for name in rotation.EXPERIMENTS for setting in settings(name)}:
        terms = reading.loss_of(loss, 0.2, 5, 0.1)(output, y)
        assert terms.total.isfinite()
    assert reading.of_the_last_step(output, y).total == nn.functional.cross_entropy(output.y_hat[-1], y)


def test_nothing_is_gained_by_halting_that_looks_at_nothing():
    row = {"by_step": [0.1, 0.5, 0.9], "rules": {"quantile": [2.5, 0.7], "sample": [1.0, 0.0]}}
    assert rotation.gains([row, {"rules": {}}], "quantile") == [pytest.approx(0)]
    assert rotation.gains([row], "sample") == [pytest.approx(-0.1)]
    assert rotation.gains([row | {"by_step_within": [0.0, 0.0, 0.0]}], "quantile") == [0.7]
    exact = {"steps_within": [2.0, 9], "accuracy_within": [0.6, 9]}
    assert rotation.gains([row | exact], "sample") == [pytest.approx(0.1)]


def test_runs_are_chosen_by_their_variant_whatever_their_seed():
    rows = settings("class")
    for variant in (*rotation.VARIANTS.values(), rotation.fixed("CNN", 4)):
        assert [row["seed"] for row in rotation.of_variant(rows, variant, "class")] == [*range(5)]
    assert len(rotation.of_variant(rotation.short("class"), ("conv", {}), "class", smoke=True)) == 1
    assert rotation.of_variant(rows, ("conv", {}), "paper") == []


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ([1.0, 1.1, 1.2], "more"),
        ([-1.0, -1.1, -1.2], "fewer"),
        ([-1.0, 0.0, 1.5], "undecided"),
        ([1.0, 1.1], "too few runs"),
        ([], "too few runs"),
    ],
)
def test_a_verdict_needs_an_interval_on_one_side(changes, found):
    assert verdicts.verdict(changes).startswith(f"{found}: ")


def test_paper_runs_watch_all_digits_and_stop_early():
    plan = reading.plan("paper", "CNN", 8600, 1280)
    assert (plan["patience"], plan["log_every"]) == (6, 10)
    watched = reading.watch(DIGITS, "paper", last=True)(network())
    assert 0 <= watched["accuracy"] <= 1
    assert 1 <= watched["steps"] <= 4
