"""The checks of lesson 02's exercises pass on right answers, and fail on the stubs and on plausible wrong ones."""

import torch
from exercises import test_of_answers
from torch import nn


def survivals(lambdas):
    """Of the steps before n."""
    return torch.cat([torch.ones_like(lambdas[:1]), (1 - lambdas[:-1]).cumprod(0)])


def halting_by_loop(lambdas):
    p, survival = [], 1.0
    for lambda_n in lambdas[:-1]:
        p.append(lambda_n * survival)
        survival = survival * (1 - lambda_n)
    return torch.stack([*p, survival])


EVEN, RISING = torch.full((3, 4), 1 / 3), torch.arange(12.0).square().view(3, 4)  # p_n, and losses: [N, batch]
UNEVEN = torch.tensor([[0.7, 0.2, 0.1, 0.4], [0.2, 0.2, 0.8, 0.3], [0.1, 0.6, 0.1, 0.3]])


WRONG = {
    "halting_probs": [
        lambda lambdas: lambdas * survivals(lambdas),  # the last step not forced
        lambda lambdas: lambdas * survivals(lambdas) / (lambdas * survivals(lambdas)).sum(0),  # renormalised instead
        lambda lambdas: lambdas * (1 - lambdas).cumprod(0) / (1 - lambdas),  # 0 / 0 at a sure step
        lambda lambdas: torch.cat([lambdas[:-1], 1 - lambdas[:-1].sum(0, keepdim=True)]),  # ACT's weights
    ],
    "divergence": [
        lambda log_p, g: nn.functional.kl_div(g[:, None].expand_as(log_p), log_p.exp(), reduction="none").sum(
            0
        ),  # nan gradient
        lambda log_p, g: nn.functional.kl_div(g[:, None].expand_as(log_p), log_p, log_target=True, reduction="sum"),
        lambda log_p, g: (log_p.exp() * (log_p.exp().log() - g[:, None])).sum(0),  # out of log space
        lambda log_p, g: (g.exp()[:, None] * (g[:, None] - log_p)).sum(0),  # reversed still
    ],
    "my_setting": [
        lambda: (0.01, 0.4),  # the easy input does not feel beta
        lambda: (1.0, 0.7),  # the prior, guesses and all
        lambda: (0.7, 0.05),  # the wrong way round
    ],
    "averages_too_early": [
        lambda loss: True,
        lambda loss: loss(EVEN, RISING).ndim == 0,  # they all give one number
        lambda loss: not torch.isclose(loss(EVEN, RISING), (EVEN * RISING).sum(0).mean()),  # and no sum, then
        lambda loss: torch.isclose(loss(EVEN, RISING), loss(EVEN.roll(1, 1), RISING)),  # all have the same p
        lambda loss: torch.isclose(loss(UNEVEN, RISING), loss(UNEVEN.roll(1, 1), RISING.roll(1, 1))),  # both dealt
        lambda loss: torch.isclose(loss(UNEVEN, RISING), loss(UNEVEN.roll(1, 0), RISING)),  # steps for samples
    ],
}
RIGHT = {
    "halting_probs": [
        halting_by_loop,
        lambda lambdas: halting_by_loop(lambdas).tolist(),
    ],
    "averages_too_early": [
        lambda loss: torch.isclose(loss(UNEVEN, RISING), loss(UNEVEN.roll(1, 1), RISING)),
        lambda loss: torch.func.grad(loss)(UNEVEN, RISING).std(1).max().item() < 1e-6,
    ],
}

test_answers = test_of_answers("02_pondernet_theory", WRONG, RIGHT)
