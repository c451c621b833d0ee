"""Halting rules: when a network that is asked for an answer stops thinking.

A rule is made once for a batch and asked after every few steps, c >= 1 of them. It is told which samples are still
thinking, and sees for each of the c steps and of these rows log p_n and the log of the probability to go on,
log prod_{j<=n} (1 - lambda_j) (-inf at the last step), [c, rows] each, and the answers, [c, rows, ...]. It returns, for
every row, which of the c steps it takes the answer from, 0 to c - 1, or c where it takes none of these; and whether the
row goes on.

The first rules listen to the halting head. Those from `confidence` on look at the answers alone, and need no head. An
answer is the logit of a yes, or one of each of several places, all of which the rule asks; or, with `classes`, the
logits of several classes.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ponder_utils._check import check_int, check_real

HaltingRule = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
RuleMaker = Callable[[int, torch.device], HaltingRule]  # batch size, device -> rule


def _first(stops: Tensor) -> tuple[Tensor, Tensor]:
    """Take the first of the steps at which a row stops. stops: [c, rows]."""
    take = (~stops).cumprod(0).sum(0)
    return take, take == len(stops)


def _first_passage(log_v: Tensor) -> HaltingRule:
    """Stop at the first step whose survival probability is at most v: where the CDF reaches 1 - v."""

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor, y_hat: Tensor) -> tuple[Tensor, Tensor]:
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

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor, y_hat: Tensor) -> tuple[Tensor, Tensor]:
        return _first(~(log_p - log_survival < lowest))  # the logit a_n, up to rounding; +inf at the last step

    return rule


def most_probable(batch_size: int, device: torch.device) -> HaltingRule:
    """Answer from the step with the largest p_n (the first of equals).

    No later p_n can exceed the probability to go on, so thinking stops once that is no larger than the best p_n.
    """
    best = torch.full((batch_size,), -math.inf, device=device, dtype=torch.float32)

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor, y_hat: Tensor) -> tuple[Tensor, Tensor]:
        earlier, highest = best.index_select(0, rows), log_p.amax(0)
        first = (log_p < highest).cumprod(0).sum(0)  # of equals; of all, where a number is missing
        take = torch.where(earlier >= highest, len(log_p), first)
        highest = torch.maximum(highest, earlier)
        best[rows] = highest
        return take, highest < log_survival[-1]

    return rule


def at_the_end(rows: Tensor, log_p: Tensor, log_survival: Tensor, y_hat: Tensor) -> tuple[Tensor, Tensor]:
    """Take the answer of the last of these steps, and stop there."""
    return torch.full_like(rows, len(log_p) - 1), torch.zeros_like(rows, dtype=torch.bool)


def confidence(batch_size: int, device: torch.device, q: float = 0.9, classes: bool = False) -> HaltingRule:
    """Halt at the first step whose likeliest answer has a probability of q or more, 0 < q <= 1, or at the last.

    Of two classes this is CALM's softmax gap (Schuster et al. 2022, arXiv:2207.07061), of 2 q - 1.
    """
    log_q = math.log(check_real("q", q, 0, 1, open_low=True))

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor, y_hat: Tensor) -> tuple[Tensor, Tensor]:
        sure = _log_chances(y_hat, classes).amax(-1) >= log_q
        return _first(_all_places(sure) | log_survival.isneginf())

    return rule


def entropy(batch_size: int, device: torch.device, most: float = 0.3, classes: bool = False) -> HaltingRule:
    """Halt at the first step whose answer has an entropy of at most so many nats, >= 0, or at the last one."""
    most = check_real("most", most, 0, open_low=False)

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor, y_hat: Tensor) -> tuple[Tensor, Tensor]:
        chances = _log_chances(y_hat, classes)
        sure = -(chances.exp() * chances).sum(-1) <= most
        return _first(_all_places(sure) | log_survival.isneginf())

    return rule


def unchanged(batch_size: int, device: torch.device, t: int = 3, classes: bool = False) -> HaltingRule:
    """Halt once the likeliest answer has stayed the same for t >= 1 steps in a row, or at the last step.

    This is the patience of PABEE (Zhou et al. 2020, arXiv:2006.04152).
    """
    check_int("t", t, 1)
    kept, last = torch.zeros(batch_size, dtype=torch.long, device=device), _Memory(batch_size)

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor, y_hat: Tensor) -> tuple[Tensor, Tensor]:
        before, now = last.exchange(rows, _log_chances(y_hat, classes).argmax(-1))
        same, stops = _all_places(before == now), torch.zeros_like(log_p, dtype=torch.bool)
        for n, its in enumerate(same):
            kept[rows] = torch.where(its, kept[rows] + 1, 0)
            stops[n] = kept[rows] >= t
        return _first(stops | log_survival.isneginf())

    return rule


def settled(batch_size: int, device: torch.device, most: float = 5e-4, classes: bool = False) -> HaltingRule:
    """Halt once an answer has moved by at most so many nats, >= 0, in one step, or at the last step.

    The distance is KL(answer at n || answer at n - 1), the output's criterion of Geiping et al. 2025
    (arXiv:2502.05171), who stop below 5e-4.
    """
    most, last = check_real("most", most, 0, open_low=False), _Memory(batch_size)

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor, y_hat: Tensor) -> tuple[Tensor, Tensor]:
        before, now = last.exchange(rows, _log_chances(y_hat, classes))
        moved = (now.exp() * (now - before)).sum(-1)
        return _first(_all_places(moved <= most) | log_survival.isneginf())

    return rule


def either(batch_size: int, device: torch.device, makers: Sequence[RuleMaker] = (confidence, settled)) -> HaltingRule:
    """Halt as soon as one of several rules does. Each of them must stop where it takes its answer."""
    its = [make(batch_size, device) for make in makers]

    def rule(rows: Tensor, log_p: Tensor, log_survival: Tensor, y_hat: Tensor) -> tuple[Tensor, Tensor]:
        takes, goes_on = zip(*(one(rows, log_p, log_survival, y_hat) for one in its), strict=True)
        return torch.stack(takes).amin(0), torch.stack(goes_on).all(0)

    return rule


class _Memory:
    """What was seen last of each sample; before the first step, nothing that anything is equal or near to."""

    def __init__(self, batch_size: int) -> None:
        self.batch_size, self.last = batch_size, torch.empty(0)

    def exchange(self, rows: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """What stood before each of these steps, and what stands at it: twice the shape of `seen`, [c, rows, ...]."""
        if not self.last.numel():
            none = -torch.inf if seen.is_floating_point() else -1
            self.last = seen.new_full((self.batch_size, *seen.shape[2:]), none)
        before = torch.cat([self.last[None, rows], seen[:-1]])
        self.last[rows] = seen[-1]
        return before, seen


def _log_chances(y_hat: Tensor, classes: bool) -> Tensor:
    """The log-probability of each class: [..., classes], or, of logits of a yes, [..., 2]."""
    y_hat = y_hat if y_hat.dtype == torch.float64 else y_hat.float()
    return y_hat.log_softmax(-1) if classes else torch.stack([logsigmoid(-y_hat), logsigmoid(y_hat)], -1)


def _all_places(its: Tensor) -> Tensor:
    """Does it hold at each place of an answer? [c, rows, ...] -> [c, rows]."""
    return its.flatten(2).all(2) if its.ndim > 2 else its
