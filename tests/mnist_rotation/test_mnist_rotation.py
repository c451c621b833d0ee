"""What lesson 04 measures."""

import math

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

from ponder_course.common.digits import DigitSet, Split, load_digits
from ponder_course.mnist_rotation import experiment as rotation
from ponder_course.mnist_rotation.experiment import BUDGETS
from ponder_course.mnist_rotation.task import rotated_by, rotated_within
from ponder_evidence.mnist_rotation import experiment as research
from ponder_evidence.mnist_rotation.experiment import FixedDepthNet
from ponder_utils.evaluation import class_correct, evaluate
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps

ALL = load_digits("digits")
PARTS = (ALL.train, 300), (ALL.validation, 20), (ALL.test, 40)
DIGITS = DigitSet(ALL.name, *(Split(split.x[:n], split.y[:n]) for split, n in PARTS))


def network(kind="conv", N=4, seed=0, make=PonderNet):
    torch.manual_seed(seed)
    return make(research.STEPS[kind](), N).eval()


def test_measures_are_of_the_angles_in_their_order():
    model, (x, y) = network(), DIGITS.test
    row = rotation.measure(model, x, y)
    assert torch.equal(rotation.at_home(x, 45), rotated_within(x, 45, torch.Generator().manual_seed(2)))
    for i, degrees in enumerate(rotation.ANGLES):
        score = evaluate(model, rotated_by(x, degrees), y, class_correct)
        assert (row["accuracy"][i], row["steps"][i]) == (round(score.accuracy, 4), round(score.steps, 4))
    for i, within in enumerate(rotation.RANGES):
        score = evaluate(model, rotation.at_home(x, within), y, class_correct)
        assert (row["accuracy_within"][i], row["steps_within"][i]) == (round(score.accuracy, 4), round(score.steps, 4))
    assert [*row["rules"]] == ["sample", "quantile", "most_probable", "expectation"]
    assert row["rules"]["expectation"][0] == 4
    taken = halting_steps(model(rotation.at_home(x)), "quantile").float().mean().item()
    assert row["rules"]["quantile"][0] == pytest.approx(taken, abs=1e-4)  # no step is computed that is not needed
    assert research.measure(network(make=FixedDepthNet), DIGITS, len(y))["rules"] == {}


def test_nothing_is_gained_by_halting_that_looks_at_nothing():
    row = {"by_step": [0.1, 0.5, 0.9], "rules": {"quantile": [2.5, 0.7], "sample": [1.0, 0.0]}}
    assert rotation.gains([row], "quantile") == [pytest.approx(0)]
    assert rotation.gains([row], "sample") == [pytest.approx(-0.1)]
    assert rotation.gains([row | {"by_step_within": [0.0, 0.0, 0.0]}], "quantile") == [0.7]
    exact = {"steps_within": [2.0, 9], "accuracy_within": [0.6, 9]}
    assert rotation.gains([row | exact], "sample") == [pytest.approx(0.1)]


def test_changes_are_the_later_less_the_earlier():
    angles = len(rotation.ANGLES)
    row = {
        "steps": [float(2 * i) for i in range(angles)],
        "steps_within": [1.0, 2.0, 3.0, 5.5],
        "right": [float(i) for i in range(angles)],
        "wrong": [float(3 * i) for i in range(angles)],
    }
    assert rotation.turning_adds([row]) == [2 * 6]
    assert rotation.turning_adds([row], degrees=180) == [2 * 12]
    assert rotation.range_adds([row]) == [4.5]
    assert research.error_adds([row], 90) == [2 * 6]
    assert research.error_adds([row, row | {"wrong": [math.nan] * angles}], 15) == [2]


def test_paper_runs_evaluate_every_epoch_on_all_digits_and_stop_early():
    paper, short = BUDGETS["paper"], BUDGETS["class"]
    long_cnn, long_conv = paper.options("CNN", 8600, 1280), paper.options("conv", 8600, 1280)
    assert (long_cnn["patience"], long_cnn["log_every"], long_conv["log_every"]) == (6, 10, 20)
    assert [short.options("CNN", n_updates, 1280)["log_every"] for n_updates in (1100, 5)] == [110, 1]
    assert "patience" not in short.options("CNN", 1100, 1280)
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    plateau = long_cnn["schedule"](optimizer)
    assert isinstance(plateau, ReduceLROnPlateau)
    assert (plateau.mode, plateau.patience, plateau.factor) == ("max", 2, 0.1)
    many = DIGITS._replace(validation=load_digits("digits").train)
    model, evaluated = network("CNN"), []
    model.register_forward_hook(lambda module, inputs, output: evaluated.append(len(inputs[0])))
    for budget in ("class", "paper"):
        found = rotation.validation(many, budget)(model)
        assert 0 <= found["accuracy"] <= 1
        assert 1 <= found["steps"] <= 4
    assert evaluated == [1000, len(many.validation.y)]
