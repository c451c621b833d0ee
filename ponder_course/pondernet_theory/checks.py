"""What the exercises of lesson 02 are checked for; each assertion says what is wrong with an answer."""

from typing import Any

import torch

from ponder_utils.halting import geometric_log_prior


def check_halting_probs(answer: Any) -> None:
    """Three columns of halting probabilities, one by one, and in a batch."""
    lambdas = torch.tensor([[1.0, 0.5, 0.5], [0.5, 0.5, 0.25], [0.5, 0.1, 0.9]])  # a column each
    wanted: list[list[float]] = [[1, 0, 0], [0.5, 0.25, 0.25], [0.5, 0.125, 0.375]]
    for column, want in zip(lambdas.unbind(1), wanted, strict=True):
        got: Any = torch.as_tensor(answer(column)).tolist()
        near = len(got) == 3 and max(abs(a - b) for a, b in zip(got, want, strict=True)) < 1e-6
        assert near, f"the probabilities lambda {column.tolist()} give p = {want}, but yours gives {got}"
    assert torch.as_tensor(answer(lambdas)).shape == (3, 3), "not for a whole batch"


def check_my_setting(answer: Any) -> None:
    """Easy inputs halt early, and hard ones do not guess."""
    beta, lambda_p = answer()
    log_g, n = geometric_log_prior(float(lambda_p), 5), torch.arange(1, 6)
    hard = torch.tensor([0.7, 0.7, 0.05, 0.05, 0.05], dtype=torch.float64)
    easy_steps = (n * log_g.exp()).sum().item()  # equal losses: the best p is the prior
    guesses = (log_g - hard / beta).softmax(0)[:2].sum().item()
    assert easy_steps <= 1.6, f"the easy input takes {easy_steps:.2f} steps"
    assert guesses <= 0.02, f"the hard input guesses in {guesses:.1%} of cases"


def check_averages_too_early(answer: Any) -> None:
    """Two losses that are sound, and two that average first."""
    sound = {
        "a mean last": lambda p, losses: (p * losses).sum(0).mean(),
        "a sum last": lambda p, losses: torch.einsum("nb,nb->", p, losses),
    }
    faulty = {
        "a mean at each step": lambda p, losses: (p * losses.mean(1, keepdim=True)).sum(0).mean(),
        "one mean of all": lambda p, losses: (p * losses.mean()).sum(0).mean(),
    }
    for name, loss in (sound | faulty).items():
        assert bool(answer(loss)) is (name in faulty), f"wrong for {name}"


def check_divergence(answer: Any) -> None:
    """What certainty costs, and that the gradient stays finite where p_n underflows."""
    g = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64)
    for off in (-50.0, -1e4):
        log_p = torch.tensor([[0.0, off], [off, 0.0], [off, off]], dtype=torch.float64)
        certain = answer(log_p.requires_grad_(), g.log())
        assert certain.shape == (2,), f"one value per sample, shape [2], not {list(certain.shape)}"
        for price, want in zip(certain.tolist(), [0.6931, 1.3863], strict=True):
            assert abs(price - want) < 1e-3, f"certainty costs log(1/p_G) = {want}, not {price:.4f}"
        slope = torch.autograd.grad(certain.sum(), log_p)[0]
        assert slope.isfinite().all(), f"the gradient is not finite where log p_n = {off:.0f}"
