"""What the problem sheet of lesson 01 asks to derive, computed in another way; and what its checks refuse."""

import numpy as np
import pytest
import torch
from sheets import solution

from ponder_utils.act import act_average
from ponder_utils.halting import PonderOutput, halting_log_probs


def test_gradients_of_act():
    a = torch.tensor([0.3, 0.5, 0.6], dtype=torch.float64).logit().requires_grad_()
    states = torch.tensor([-1.0, 0.5, 2.0], dtype=torch.float64)

    def loss(tau):
        output = act_average(PonderOutput(states[:, None], a[:, None], halting_log_probs(a[:, None])), epsilon=0.1)
        cross_entropy = torch.nn.functional.softplus(-output.y_hat)  # the target is 1
        return (cross_entropy + tau * (output.steps + output.remainder)).sum()

    answers = solution("01_act_background")
    (slopes,) = torch.autograd.grad(loss(0.06), a)
    assert slopes.tolist() == pytest.approx(answers["gradients"], abs=5e-4)
    first = torch.autograd.grad(loss(answers["price"]), a)[0][0]
    assert abs(first) < 1e-4 < slopes[0]


def test_what_the_gradient_sees_of_the_cost():
    least = 0.02

    def steps(unit):
        return np.ceil(0.99 / unit - 1e-12)

    units = np.linspace(least, 0.99, 400_001)
    seen = ((steps(units[1:]) + steps(units[:-1])) / 2 - 1) @ np.diff(units)
    n = steps(least)
    fall = n + 1 - (n - 1) * least - 2
    assert seen / fall == pytest.approx(solution("01_act_background")["seen"], abs=1e-4)
