"""The experiments on parity: settings, what a run measures, and what is read from runs."""

import pytest
import torch

from ponder_course.common.parity import inputs_by_k, measure, score
from ponder_course.parity import experiment as parity
from ponder_utils import ACT, PonderNet, RNNCell, RNNStep, evaluate


def test_tested_inputs_have_exactly_k_and_are_the_same_every_time():
    sets = zip(parity.tested_k(5), inputs_by_k(5), inputs_by_k(5), strict=True)
    for k, (x, y), (again, _) in sets:
        assert (x.abs().sum(1) == k).all()
        assert torch.equal(y, (x == 1).sum(1).remainder(2).float())
        assert torch.equal(x, again)
    assert parity.tested_k(64) == list(range(1, 65, 4))


def test_what_is_measured_of_a_network_and_of_act():
    torch.manual_seed(0)
    model, act, inputs = PonderNet(RNNStep(4, 6), 5).train(), ACT(RNNCell(5, 6), max_steps=3), inputs_by_k(4)
    scores = [evaluate(model, x, y) for x, y in inputs]
    assert measure(model, inputs) == {"accuracy": [s.accuracy for s in scores], "steps": [s.steps for s in scores]}
    fixed = measure(model, inputs, fixed=True)
    assert fixed == {"accuracy": [s.accuracy_by_step[-1] for s in scores], "steps": [5.0] * 4}
    assert model.training
    measured = measure(act, inputs)
    for k, (x, y) in enumerate(inputs):
        with torch.no_grad():
            output = act(x[None])
        right = ((output.y_hat[0] > 0) == (y > 0.5)).float().mean().item()
        assert score(act, x[None], y[None]) == {name: values[k] for name, values in measured.items()}
        assert measured["accuracy"][k] == pytest.approx(right)
        assert measured["steps"][k] == pytest.approx(output.steps.float().mean().item())


def test_learnt_means_finished_and_right_on_the_k_that_it_was_trained_on():
    row = {"elements": 4, "k_max": 2, "accuracy": [1.0, 0.98, 0.1, 0.1], "steps": [3.0, 4.0, 6.0, 5.5], "stopped": 0}
    bad, crashed = row | {"accuracy": [1.0, 0.9, 1.0, 1.0]}, row | {"stopped": 7}
    assert [parity.has_learnt(each) for each in (row, bad, crashed)] == [True, False, False]
