"""Halting rules: when a network that is asked for an answer stops thinking.

A rule is made once for a batch and asked after every few steps, c >= 1 of them. It is told which samples are still
thinking, and sees for each of the c steps and of these rows log p_n and the log of the probability to go on,
log prod_{j<=n} (1 - lambda_j) (-inf at the last step): [c, rows] each. It returns, for every row, which of the c steps
it takes the answer from, 0 to c - 1, or c where it takes none of these; and whether the row goes on.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ponder_utils._check import check_real

HaltingRule = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


def _first_passage(log_v: Tensor) -> HaltingRule:
    """Stop at the first step whose survival probability is at most v: where the CDF reaches 1 - v."""

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        goes_on = log_survival > log_v.index_select(0, rows)
        return goes_on.sum(0), goes_on[-1]

    return rule


def sample(batch_size: int, device: torch.device, generator: torch.Generator | None = None) -> HaltingRule:
    """Halt at step n with probability p_n: the paper's rule (Sec. 2.5).

    The paper tosses a coin with bias lambda_n at every step. Here one number v ~ U(0, 1) is drawn for each sample,
    which halts where its survival probability falls to v. The distribution is the same (inverse transform
    sampling), and whether a sample halts does not depend on which others are still in the batch.
    """
    source = device if generator is None else generator.device
    v = torch.rand(batch_size, device=source, generator=generator, dtype=torch.float32)
    return _first_passage(v.to(device).log())


def quantile(batch_size: int, device: torch.device, q: float = 0.5) -> HaltingRule:
    """Halt at the first step where the CDF of p_n reaches q, 0 < q <= 1: deterministic (q = 0.5 is the median)."""
    q = check_real("q", q, 0, 1, open_low=True)
    log_v = -math.inf if q == 1 else math.log1p(-q)
    return _first_passage(torch.full((batch_size,), log_v, device=device, dtype=torch.float32))


def threshold(batch_size: int, device: torch.device, q: float = 0.5) -> HaltingRule:
    """Halt at the first step with lambda_n >= q, 0 < q <= 1, or at the last one: no step is counted against another."""
    q = check_real("q", q, 0, 1, open_low=True)
    lowest = math.inf if q == 1 else math.log(q) - math.log1p(-q)

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        goes_on = log_p - log_survival < lowest  # the logit a_n, up to rounding; +inf at the last step
        first = goes_on.cumprod(0).sum(0)
        return first, first == len(log_p)

    return rule


def most_probable(batch_size: int, device: torch.device) -> HaltingRule:
    """Answer from the step with the largest p_n (the first of equals).

    No later p_n can exceed the probability to go on, so thinking stops once that is no larger than the best p_n.
    """
    best = torch.full((batch_size,), -math.inf, device=device, dtype=torch.float32)

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor) -> tuple[Tensor, Tensor]:
        earlier, highest = best.index_select(0, rows), log_p.amax(0)
        first = (log_p < highest).cumprod(0).sum(0)  # of equals; of all, where a number is missing
        take = torch.where(earlier >= highest, len(log_p), first)
        highest = torch.maximum(highest, earlier)
        best[rows] = highest
        return take, highest < log_survival[-1]

    return rule


def at_the_end(rows: Tensor, log_p: Tensor, log_survival: Tensor) -> tuple[Tensor, Tensor]:
    """Take the answer of the last of these steps, and stop there."""
    return torch.full_like(rows, len(log_p) - 1), torch.zeros_like(rows, dtype=torch.bool)
