"""Solutions to the exercises of 02_pondernet_theory. Look only after you have tried."""

import math

import torch
from torch import Tensor, nn


def halting_probs(lambdas: Tensor) -> Tensor:
    """Step n is reached by surviving the steps before it, not n itself: the cumulative product, one step later."""
    survival = torch.cat([torch.ones_like(lambdas[:1]), (1 - lambdas[:-1]).cumprod(0)])
    return torch.cat([lambdas[:-1], torch.ones_like(lambdas[:1])]) * survival


def divergence(log_p: Tensor, log_prior: Tensor) -> Tensor:
    """kl_div's target stands first in the divergence: it must be p. In log space, so that p_n = 0 does no harm."""
    return nn.functional.kl_div(log_prior[:, None].expand_as(log_p), log_p, reduction="none", log_target=True).sum(0)


def uniform_divergence(log_p: Tensor) -> Tensor:
    """log N minus the entropy."""
    return math.log(len(log_p)) + (log_p.exp() * log_p).sum(0)
