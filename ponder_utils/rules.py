"""Halting rules: when a network that is asked for an answer stops thinking.

A rule is made once for a batch and asked after every few steps, c >= 1 of them. It sees the rows of the batch that are
still thinking, and for each step and row log p_n and log prod_{j<=n} (1 - lambda_j), the log of the probability to go
on (-inf at the last step): [c, rows] each. For every row it returns two counts of steps, 0 to c: how many come before
the one whose answer is taken (c: none of these), and how many before the one at which it stops (c: it thinks on).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ponder_utils._check import check_real

HaltingRule = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def _first_passage(log_v: Tensor) -> HaltingRule:
    """Stop at the first step whose survival probability is at most v: where the CDF reaches 1 - v."""

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        before = (log_survival > log_v.index_select(0, rows)).sum(0)
        return before, before

    return rule


def sample(batch_size: int, device: torch.device, generator: torch.Generator | None = None) -> HaltingRule:
    """Halt at step n with probability p_n: the paper's rule (Sec. 2.5).

    The paper tosses a coin with bias lambda_n at every step. Here one number v ~ U(0, 1) is drawn for each sample,
    which halts where its survival probability falls to v. The distribution is the same (inverse transform
    sampling), and whether a sample halts does not depend on which others are still in the batch.
    """
    source = device if generator is None else generator.device
    v = torch.rand(batch_size, device=source, generator=generator)
    return _first_passage(v.to(device).log())


def quantile(batch_size: int, device: torch.device, q: float = 0.5) -> HaltingRule:
    """Halt at the first step where the CDF of p_n reaches q, 0 < q <= 1: deterministic (q = 0.5 is the median)."""
    q = check_real("q", q, 0, 1, open_low=True)
    log_v = -math.inf if q == 1 else math.log1p(-q)
    return _first_passage(torch.full((batch_size,), log_v, device=device))


def most_probable(batch_size: int, device: torch.device) -> HaltingRule:
    """Answer from the step with the largest p_n (the first of equals).

    No later p_n can exceed the probability to go on, so thinking stops once that is no larger than the best p_n.
    """
    best = torch.full((batch_size,), -math.inf, device=device)

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        earlier = best.index_select(0, rows)
        best_so_far = torch.maximum(log_p, earlier).cummax(0).values
        best[rows] = best_so_far[-1]
        before = (log_p < best_so_far[-1]).cumprod(0).sum(0)  # the first of equals
        better = best_so_far[-1] > earlier
        return torch.where(better, before, len(log_p)), (best_so_far < log_survival).sum(0)

    return rule
