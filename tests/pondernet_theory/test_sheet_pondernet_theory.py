"""What the problem sheet of lesson 02 asks to derive, computed in another way; and what its checks refuse."""

import math

import pytest
import torch
from sheets import solution

from ponder_utils import expected_steps, geometric_log_prior, kl_divergence


def test_means_and_smallest_losses():
    answers = solution("02_pondernet_theory")
    priors = [geometric_log_prior(0.05, 30, repair) for repair in ("renormalise", "remainder")]
    assert [expected_steps(prior).item() for prior in priors] == pytest.approx(answers["means"])
    prior, beta = geometric_log_prior(0.4, 5), torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    losses = torch.tensor([0.7, 0.7, 0.1, 0.2, 0.4], dtype=torch.float64, requires_grad=True)
    smallest = -beta * (prior - losses / beta).logsumexp(0)
    best = (prior - losses / beta).softmax(0)
    divergence = kl_divergence(best.log(), prior)
    assert smallest.item() == pytest.approx(((best * losses).sum() + beta * divergence).item())
    assert smallest.item() == pytest.approx(answers["smallest"])
    slopes = torch.autograd.grad(smallest, (losses, beta))
    torch.testing.assert_close(slopes, (best, divergence))
    twelve, step = geometric_log_prior(0.4, 12), torch.arange(1, 13)
    guesses = (twelve - torch.where(step < 4, math.log(2), 0.05) / answers["largest_beta"]).softmax(0)[:3].sum()
    assert guesses.item() == pytest.approx(0.01, rel=1e-5)
    found = []
    for k in range(1, 7):
        losses = torch.where(step < k, math.log(2), 0.05).double()
        best = (twelve - losses / 0.05).softmax(0)
        found.append((best * losses).sum() + 0.05 * kl_divergence(best.log(), twelve))
    assert torch.stack(found).mean().item() == pytest.approx(answers["best_mean_loss"], rel=1e-6)
