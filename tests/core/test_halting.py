import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import geometric, halting, kl

from ponder_utils.halting import (
    DIRECTIONS,
    PonderOutput,
    expected_steps,
    geometric_log_prior,
    halting_log_probs,
    kl_divergence,
    make_log_prior,
)

HALVES = (torch.float16, torch.bfloat16)
PRECISIONS = (*HALVES, torch.float32, torch.float64)
logits = st.lists(st.floats(-30, 30), min_size=1, max_size=25)
wild_logits = st.lists(st.sampled_from([-1e4, -100.0, 0.0, 100.0, 1e4]) | st.floats(-1e4, 1e4), min_size=1, max_size=25)
lambda_ps = st.floats(0.01, 0.99)


@given(logits)
def test_halting_distribution_and_expected_steps_equal_the_definition(a):
    log_p, wanted = halting_log_probs(torch.tensor(a, dtype=torch.float64)), halting(a)
    assert log_p.exp().tolist() == pytest.approx(wanted, rel=1e-12, abs=1e-300)
    assert expected_steps(log_p).item() == pytest.approx(sum(n * p for n, p in enumerate(wanted, start=1)))


@pytest.mark.parametrize("dtype", PRECISIONS)
@given(a=wild_logits)
def test_any_logit_in_any_precision(dtype, a):
    a = torch.tensor(a, dtype=dtype)[:, None, None].expand(-1, 3, 2).clone().requires_grad_()  # and of any shape
    log_p = halting_log_probs(a)
    assert log_p.isfinite().all()
    torch.testing.assert_close(log_p.exp().sum(0), torch.ones(3, 2, dtype=log_p.dtype), rtol=0, atol=2e-6)
    log_prior = geometric_log_prior(0.2, len(a))
    for direction in DIRECTIONS:
        divergence = kl_divergence(log_p, log_prior, direction)
        assert divergence.shape == (3, 2)
        assert divergence.isfinite().all()
        assert (divergence > -1e-5).all()
        (gradient,) = torch.autograd.grad(divergence.sum(), a, retain_graph=True)
        assert gradient.isfinite().all()
    (gradient,) = torch.autograd.grad(expected_steps(log_p).sum(), a)
    assert gradient.isfinite().all()


def test_prior_that_halts_at_once_keeps_the_divergence_finite():
    log_prior = geometric_log_prior(1.0, 20)
    assert log_prior.isfinite().all()
    always_go_on = halting_log_probs(torch.full((20,), -1e4))
    assert kl_divergence(always_go_on, log_prior).item() == pytest.approx(19 * 24 * math.log(2), rel=1e-4)


@given(logits, lambda_ps)
def test_prior_and_kl_in_both_directions_equal_the_definition(a, lambda_p):
    log_p = halting_log_probs(torch.tensor(a, dtype=torch.float64))
    log_prior = geometric_log_prior(lambda_p, len(a))
    p, prior = halting(a), geometric(lambda_p, len(a))
    assert log_prior.exp().tolist() == pytest.approx(prior, rel=1e-9, abs=1e-15)
    assert log_prior.exp().sum().item() == pytest.approx(1, abs=1e-12)
    assert kl_divergence(log_p, log_prior).item() == pytest.approx(kl(p, prior), rel=1e-7, abs=1e-9)
    if min(p) > 0:
        reverse = kl_divergence(log_p, log_prior, "p_G||p")
        assert reverse.item() == pytest.approx(kl(prior, p), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_gradients_against_finite_differences(direction):
    a = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    log_prior = geometric_log_prior(0.3, 6)
    assert torch.autograd.gradcheck(halting_log_probs, a)
    assert torch.autograd.gradcheck(lambda a: expected_steps(halting_log_probs(a)), a)
    assert torch.autograd.gradcheck(lambda a: kl_divergence(halting_log_probs(a), log_prior, direction), a)


@given(wild_logits, st.sampled_from(PRECISIONS))
def test_survival_is_what_is_left_after_each_step(a, dtype):
    a = torch.tensor(a, dtype=dtype)[:, None]
    output = PonderOutput(a, a, halting_log_probs(a))
    assert output.log_survival.dtype == output.log_p.dtype
    assert output.log_survival.isfinite().all()
    assert (output.log_survival.diff(dim=0) <= 0).all()
    left = 1 - output.log_p.exp().cumsum(0)[:-1]
    torch.testing.assert_close(output.log_survival[:-1].exp(), left, rtol=0, atol=3e-6)
    if len(a) > 1:  # the last step takes what is left
        torch.testing.assert_close(output.log_p[-1], output.log_survival[-2])


@given(st.lists(st.sampled_from([-math.inf, -3.0, 0.0, 2.0, math.inf]), min_size=1, max_size=6))
def test_steps_that_cannot_be_taken_cost_nothing_in_the_divergence(logits):
    a, prior = torch.tensor(logits).requires_grad_(), geometric_log_prior(0.4, len(logits))
    log_p = halting_log_probs(a)
    found = kl_divergence(log_p, prior)
    assert found.item() == pytest.approx(kl(log_p.exp().tolist(), prior.exp().tolist()), rel=1e-4, abs=1e-5)
    assert torch.autograd.grad(found, a)[0].isfinite().all()


OUTPUT = PonderOutput(torch.arange(6.0).view(3, 2), torch.zeros(3, 2), halting_log_probs(torch.zeros(3, 2)))


def test_an_output_at_a_mask_is_that_of_the_samples_where_it_is_true():
    assert OUTPUT.at(torch.tensor([False, True])).y_hat.tolist() == [[1.0], [3.0], [5.0]]


@pytest.mark.parametrize(
    ("function", "arguments", "error", "message"),
    [
        (halting_log_probs, (torch.tensor([1]),), TypeError, "halt_logits .*int64"),
        (make_log_prior, (torch.ones(3) / 3, 5), ValueError, r"prior .*\[5\].*\[3\]"),
        (make_log_prior, (torch.tensor([0.0, 1.0]), 2), ValueError, "prior .*0.0"),
        (kl_divergence, (torch.zeros(3, 2), torch.zeros(4)), ValueError, r"log_prior .*\[3\].*\[4\]"),
        (OUTPUT.at, (torch.tensor([0, 1]),), TypeError, "mask .*int64"),  # it would pick samples by their number
    ],
)
def test_wrong_arguments_are_named(function, arguments, error, message):
    with pytest.raises(error, match=message):
        function(*arguments)
