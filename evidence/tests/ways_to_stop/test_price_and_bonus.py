"""A price and a bonus apart are the two halves of PonderNet's divergence, and two draws have the price's gradient."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_evidence.ways_to_stop.price_and_bonus import DrawnLoss, PricedLoss
from ponder_utils import PonderLoss, PonderOutput, halting_log_probs

BCE = nn.BCEWithLogitsLoss(reduction="none")


def outputs(seed, n_steps=4, batch=3):
    """Answers and halting logits that have a gradient, and what a network returns of them, with targets."""
    generator = torch.Generator().manual_seed(seed)
    y_hat, a = torch.randn(2, n_steps, batch, generator=generator, dtype=torch.float64).requires_grad_()
    return (y_hat, a), PonderOutput(y_hat, a, halting_log_probs(a)), torch.randint(2, (batch,), generator=generator)


def gradients(loss, leaves):
    return torch.autograd.grad(loss, leaves, retain_graph=True)


@given(st.integers(0, 1000), st.floats(0.001, 0.5), st.floats(0.01, 0.5))
def test_price_and_bonus_are_the_divergence_from_a_prior(seed, price, bonus):
    leaves, output, y = outputs(seed)
    y = y.double()
    prior = torch.softmax(-price / bonus * torch.arange(1.0, 5, dtype=torch.float64), 0)
    apart = gradients(PricedLoss(BCE, price, bonus)(output, y).total, leaves)
    together = gradients(PonderLoss(BCE, prior, bonus)(output, y).total, leaves)
    for one, other in zip(apart, together, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-7)


@given(st.integers(0, 1000), st.floats(0.0, 0.5))
def test_two_draws_have_in_the_mean_the_gradient_of_the_price(seed, price):
    leaves, output, y = outputs(seed, batch=1)
    y, p, loss = y.double(), output.log_p.detach().exp()[:, 0], DrawnLoss(BCE, price)
    mean = [torch.zeros_like(leaf) for leaf in leaves]
    value = 0.0
    for i, j in itertools.product(range(4), repeat=2):
        terms = loss.of_draws(output, y, torch.tensor([[i], [j]]))
        value += (p[i] * p[j] * terms.total).item()
        for total, one in zip(mean, gradients(terms.total, leaves), strict=True):
            total += p[i] * p[j] * one
    wanted = PricedLoss(BCE, price)(output, y).total
    assert value == pytest.approx(wanted.item())
    for one, other in zip(mean, gradients(wanted, leaves), strict=True):
        torch.testing.assert_close(one, other)


def test_draws_come_as_often_as_the_network_halts_there():
    _, output, y = outputs(5, batch=1)
    torch.manual_seed(0)
    many = PonderOutput(*(part.expand(4, 4000) for part in output))
    drawn = DrawnLoss(BCE, 1.0)(many, y.double().expand(4000))
    p = output.log_p.detach().exp()[:, 0]
    assert drawn.regularization.item() == pytest.approx((p * torch.arange(1.0, 5)).sum().item(), abs=0.05)


def test_a_bonus_that_ends_falls_in_a_line_to_nothing():
    _, output, y = outputs(3)
    y, loss = y.double(), PricedLoss(BCE, 0.01, 0.2, updates=4)
    plain = PricedLoss(BCE, 0.01)(output, y).total
    entropy = -(output.log_p.exp() * output.log_p).sum(0).mean()
    found = [(plain - loss(output, y).total) / entropy for _ in range(6)]
    torch.testing.assert_close(torch.stack(found), torch.tensor([0.2, 0.15, 0.1, 0.05, 0, 0], dtype=torch.float64))
