"""The loss of a head that learns whether one more step helps, against its definition, worked by hand."""

import pytest
import torch
from test_ways_to_stop import bce, cross_entropy

from ponder_evidence.ways_to_stop.supervision import GainLoss
from ponder_utils.halting import PonderOutput, halting_log_probs


def test_whether_one_more_step_helps_is_measured_by_the_loss():
    a = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y_hat = torch.tensor([-2.0, 3.0, 3.0], dtype=torch.float64, requires_grad=True)
    output, y = PonderOutput(y_hat[:, None], a[:, None], halting_log_probs(a[:, None])), torch.tensor([1.0])
    terms = GainLoss(bce)(output, y)
    first, second, third = (cross_entropy(answer, 1.0) for answer in y_hat.tolist())
    targets = [torch.tensor(50 * (0.005 - gain)).sigmoid().item() for gain in (first - second, second - third)]
    assert targets[0] < 1e-9 < 0.5 < targets[1]
    expected = (cross_entropy(0.5, targets[0]) + cross_entropy(-1.0, targets[1])) / 2
    assert terms.total.item() == terms.regularization.item() == pytest.approx(expected)
    assert terms.reconstruction.item() == pytest.approx((first + second + third) / 3)
    to_a, to_y_hat = torch.autograd.grad(terms.total, (a, y_hat), allow_unused=True)
    assert to_y_hat is None
    torch.testing.assert_close(to_a[:2], (a[:2].sigmoid() - torch.tensor(targets)).detach() / 2)
    assert to_a[2] == 0
