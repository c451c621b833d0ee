"""What the evidence of lesson 02 trains: closed forms, bounds, and dead steps."""

import math

import pytest
import torch

import ponder_utils as pu
from ponder_evidence.pondernet_theory import descent
from ponder_evidence.pondernet_theory.descent import PAPERS, REVERSED

LOSSES = torch.tensor([[0.7, 0.7, 0.1, 0.2], [0.05] * 4], dtype=torch.float64).T  # [N, cases]
LOG_PRIOR = pu.geometric_log_prior(0.4, 4)


@pytest.mark.parametrize("direction", [PAPERS, REVERSED])
@pytest.mark.parametrize("beta", [0.01, 0.1, 1.0])
def test_at_the_closed_form_the_gradient_vanishes_and_where_waiting_costs_nothing_it_is_the_prior(direction, beta):
    p = descent.closed_form(LOSSES, LOG_PRIOR, beta, direction)
    torch.testing.assert_close(p.sum(0), torch.ones(2, dtype=torch.float64))
    torch.testing.assert_close(p[:, 1], LOG_PRIOR.exp())
    a = p.log().requires_grad_()
    log_p = a.log_softmax(0)
    loss = (log_p.exp() * LOSSES).sum() + beta * pu.kl_divergence(log_p, LOG_PRIOR, direction).sum()
    assert torch.autograd.grad(loss, a)[0].abs().max() < 1e-9


def test_the_loss_is_that_of_the_package_and_bounds_the_mixture():
    p, losses = torch.tensor([0.2, 0.5, 0.2, 0.1]).double(), LOSSES[:, 0]
    for direction in (PAPERS, REVERSED):
        loss_fn = pu.PonderLoss(lambda y_hat, _: y_hat, LOG_PRIOR.exp(), 0.3, direction=direction)
        output = pu.PonderOutput(losses[:, None], torch.zeros(4, 1), p.log()[:, None])
        total = loss_fn(output, torch.zeros(1)).total
        torch.testing.assert_close(descent.loss_of_each(p.log(), losses, LOG_PRIOR, 0.3, direction), total)
    mixture = -math.log(sum(w * math.exp(-loss) for w, loss in zip(p.tolist(), losses.tolist(), strict=True)))
    assert descent.surprise(p.log(), losses).item() == pytest.approx(mixture)
    assert descent.loss_of_each(p.log(), losses, LOG_PRIOR, 0).item() > mixture


def test_by_gradient_descent_only_the_reversed_form_revives_a_dead_step():
    took = [descent.revive_logits(direction, "gradient descent", 710) for direction in (PAPERS, REVERSED)]
    assert took[0] is None
    assert 0 < took[1] < 710
