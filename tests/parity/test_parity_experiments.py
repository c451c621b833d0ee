"""The experiments on parity: settings, what a run measures, and what is read from runs."""

import numpy as np
import pytest
import torch

from ponder_course.common.parity import inputs_by_k, measure, score
from ponder_course.parity import experiment as parity
from ponder_utils import ACT, ParityTask, PonderNet, RNNCell, RNNStep, evaluate
from ponder_utils.steps import Step


def test_tested_inputs_have_exactly_k_and_are_the_same_every_time():
    sets = zip(parity.tested_k(5), inputs_by_k(5), inputs_by_k(5), strict=True)
    for k, (x, y), (again, _) in sets:
        assert (x.abs().sum(1) == k).all()
        assert torch.equal(y, (x == 1).sum(1).remainder(2).float())
        assert torch.equal(x, again)
    assert parity.tested_k(64) == list(range(1, 65, 4))


def test_the_map_has_inputs_by_their_most_probable_step_and_where_they_are_right():
    torch.manual_seed(0)
    model, (x, y) = PonderNet(RNNStep(4, 6), 5), ParityTask(4).batch(50, torch.Generator().manual_seed(0))
    halts, right = parity.map_of_answers(model, x, y)
    steps = model(x).log_p.argmax(0) + 1
    assert halts == sorted(steps.tolist())
    for n in range(5):
        assert np.mean([row[n] for row in right]) == pytest.approx(evaluate(model, x, y).accuracy_by_step[n])
    first = steps.tolist().index(halts[0])
    assert right[0] == [int((y_hat > 0) == (y[first] > 0.5)) for y_hat in model(x).y_hat[:, first]]


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


class Counts(Step):
    """A step that halts after as many steps as `count` gives for the input, and one more."""

    def __init__(self, count):
        super().__init__()
        self.count = count

    def encode(self, x):
        return self.count(x), torch.zeros(len(x))

    def forward(self, z, n):
        return torch.zeros(len(z)), n + 1, 40 * (n - z + 0.5)


@pytest.mark.parametrize(
    ("count", "k", "ones"),
    [
        (lambda x: (x == 1).sum(1).float(), None, 1),
        (lambda x: x.abs().sum(1), 1, None),
        (lambda x: torch.zeros(len(x)), 0, 0),
    ],
)
def test_what_steps_depend_on_is_found(count, k, ones):
    found = parity.steps_by_ones(PonderNet(Counts(count), 8), 5)
    for name, fraction in (("k", k), ("ones", ones)):
        if fraction is None:
            assert 0.2 < found["explained"][name] < 0.8
        else:
            assert found["explained"][name] == pytest.approx(fraction, abs=1e-6)
    if ones:
        assert found["by_ones"] == pytest.approx([1, 2, 3, 4, 5, 6], abs=1e-4)


def test_learnt_means_finished_and_right_on_the_k_that_it_was_trained_on():
    row = {"elements": 4, "k_max": 2, "accuracy": [1.0, 0.98, 0.1, 0.1], "steps": [3.0, 4.0, 6.0, 5.5], "stopped": 0}
    bad, crashed = row | {"accuracy": [1.0, 0.9, 1.0, 1.0]}, row | {"stopped": 7}
    assert [parity.has_learnt(each) for each in (row, bad, crashed)] == [True, False, False]
    assert parity.has_learnt(bad, 0.95)
    assert parity.rise(row) == 2.5


def test_on_the_way_easy_and_hard_inputs_have_their_own_halting():
    torch.manual_seed(0)
    model = PonderNet(RNNStep(4, 6), 5)
    sets = {name: ParityTask(4, *ks).batch(50) for name, ks in {"all": (1, 4), "easy": (1, 1), "hard": (4, 4)}.items()}
    row, scores = parity.on_the_way(model, sets), {name: evaluate(model, *batch) for name, batch in sets.items()}
    assert (row["accuracy"], row["steps"]) == (scores["all"].accuracy, scores["all"].steps)
    for name in ("easy", "hard"):
        assert (row[name], row[f"{name} right"]) == (scores[name].p, scores[name].accuracy)


def measured(network, steps_at_16, right, k_max=16):
    by_ones = [{"steps": [float(k)] * (k + 1), "accuracy": [1.0] * (k + 1)} for k in (8, 16, 32, 64)]
    accuracy, steps = [right] * k_max + [0.5] * 4, [9.0] * 15 + [steps_at_16] * 5
    return {"network": network, "k_max": k_max, "accuracy": accuracy, "steps": steps, "by_ones": by_ones}


def test_the_earliest_and_the_latest_are_found_and_reported_with_what_they_have_learnt():
    rows = [measured("PonderNet", 5.0, 0.97), measured("ACT", 4.0, 0.6), measured("PonderNet", 3.0, 0.8)]
    assert [parity.accuracy_within(row) for row in rows] == pytest.approx([0.97, 0.6, 0.8])
    assert parity.by_pace(rows) == [rows[2], rows[1], rows[0]]
    found = parity.earliest_and_latest(rows)
    accuracies = ["60%", "80%", "97%"]
    assert all(accuracy in title for title, accuracy in zip(found, accuracies, strict=True))
    assert all(by_ones == rows[0]["by_ones"][:3] for by_ones in found.values())
