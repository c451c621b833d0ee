"""What the evidence of lesson 03 reads from its runs, and draws of them."""

import numpy as np
import pytest
import torch

from ponder_evidence.parity import experiment
from ponder_utils import ParityTask, PonderNet, RNNStep, evaluate
from ponder_utils.steps import Step


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
    found = experiment.steps_by_ones(PonderNet(Counts(count), 8), 5)
    for name, fraction in (("k", k), ("ones", ones)):
        if fraction is None:
            assert 0.2 < found["explained"][name] < 0.8
        else:
            assert found["explained"][name] == pytest.approx(fraction, abs=1e-6)
    if ones:
        assert found["by_ones"] == pytest.approx([1, 2, 3, 4, 5, 6], abs=1e-4)


def test_the_map_has_inputs_by_their_most_probable_step_and_where_they_are_right():
    torch.manual_seed(0)
    model, (x, y) = PonderNet(RNNStep(4, 6), 5), ParityTask(4).batch(50, torch.Generator().manual_seed(0))
    halts, right = experiment.map_of_answers(model, x, y)
    steps = model(x).log_p.argmax(0) + 1
    assert halts == sorted(steps.tolist())
    for n in range(5):
        assert np.mean([row[n] for row in right]) == pytest.approx(evaluate(model, x, y).accuracy_by_step[n])
    first = steps.tolist().index(halts[0])
    assert right[0] == [int((y_hat > 0) == (y[first] > 0.5)) for y_hat in model(x).y_hat[:, first]]


def test_the_rise_is_from_the_first_k_to_the_last():
    assert experiment.rise({"elements": 4, "steps": [3.0, 4.0, 6.0, 5.5]}) == 2.5
