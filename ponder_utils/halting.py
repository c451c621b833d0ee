"""The halting distribution p_n, its geometric prior p_G, and the KL divergence between them.

Symbols are those of PonderNet (Banino, Balaguer & Blundell 2021, arXiv:2107.05407). Steps are counted
from 1 to N = max_steps and stand in dimension 0 of every tensor; what follows it (the batch) is free.

Everything is computed in log space. A network that is sure of itself drives lambda_n to 0 or 1, the product
of the (1 - lambda_j) underflows, and log(0) ends the training. A sum of log-sigmoids cannot underflow.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ponder_utils._check import check_choice, check_int, check_real

REPAIRS = ("renormalise", "remainder")
DIRECTIONS = ("p||p_G", "p_G||p")

# The largest float32 below 1. At lambda_p = 1 the prior forbids a second step, and KL(p || p_G) would be
# infinite for any p that float32 can hold short of (1, 0, ..., 0); with this value a second step costs 16.6 nats.
LARGEST_LAMBDA_P = 1 - 2**-24


def halting_log_probs(halt_logits: Tensor) -> Tensor:
    """log p_n, from the logits a_n of lambda_n = sigmoid(a_n) = P(halt at n | not halted before).

    p_n = lambda_n * prod_{j<n} (1 - lambda_j) for n < N (Eq. 2), and the last step takes what remains,
    p_N = prod_{j<N} (1 - lambda_j) (Sec. 2.3), so that the p_n sum to 1. The last logit a_N has no influence.

    Args:
        halt_logits: [N, ...], any floating dtype. Half precision is lifted to float32: 20 steps of -1e4 sum to
            more than float16 can hold.

    Returns:
        [N, ...], float64 if the logits are float64, else float32. Finite for finite logits.

    Raises:
        TypeError: if `halt_logits` is not a floating-point tensor.
        ValueError: if it has no dimension of steps, or no step.
    """
    if not isinstance(halt_logits, Tensor) or not halt_logits.is_floating_point():
        came = halt_logits.dtype if isinstance(halt_logits, Tensor) else type(halt_logits).__name__
        raise TypeError(f"halt_logits must be a floating-point tensor of shape [N, ...]; got {came}")
    if halt_logits.ndim == 0 or len(halt_logits) == 0:
        raise ValueError(f"halt_logits must have shape [N, ...] with N >= 1; got {list(halt_logits.shape)}")
    a = halt_logits if halt_logits.dtype == torch.float64 else halt_logits.float()
    zero = torch.zeros_like(a[:1])
    log_lambda = torch.cat([logsigmoid(a[:-1]), zero])  # lambda_N = 1: the last step takes the remainder
    log_survival = torch.cat([zero, logsigmoid(-a[:-1]).cumsum(0)])  # log prod_{j<n} (1 - lambda_j)
    return log_lambda + log_survival  # [N, ...]


def expected_steps(log_p: Tensor) -> Tensor:
    """E[n] = sum_n n p_n (App. A), differentiable. log_p: [N, ...] -> [...]."""
    n = torch.arange(1, len(log_p) + 1, dtype=log_p.dtype, device=log_p.device)
    # Not a product of matrices, which an autocast would round to half precision.
    return (n.view(-1, *[1] * (log_p.ndim - 1)) * log_p.exp()).sum(0)


def geometric_log_prior(lambda_p: float, max_steps: int, repair: str = "renormalise") -> Tensor:
    """log p_G(n), n = 1..N: the geometric distribution lambda_p (1 - lambda_p)^(n-1), truncated at N.

    Cut off at N, the geometric distribution has lost the mass (1 - lambda_p)^N. The paper allows two repairs
    (Sec. 2.3) and does not say which one it used. Either way the mean is below 1 / lambda_p.

    Args:
        lambda_p: in (0, 1]. 1 is read as `LARGEST_LAMBDA_P`, which keeps the KL divergence finite.
        max_steps: N >= 1.
        repair: "renormalise" divides by the mass that is left (conditions on n <= N);
            "remainder" gives the lost mass to the last step.

    Returns:
        [N], float64. Its exponential sums to 1.

    Raises:
        TypeError, ValueError: if an argument is not as above.
    """
    lambda_p = min(check_real("lambda_p", lambda_p, 0, 1, open_low=True), LARGEST_LAMBDA_P)
    max_steps = check_int("max_steps", max_steps, 1)
    check_choice("repair", repair, REPAIRS)
    n = torch.arange(1, max_steps + 1, dtype=torch.float64)
    log_prior = math.log(lambda_p) + (n - 1) * math.log1p(-lambda_p)
    if repair == "remainder":
        log_prior[-1] = (max_steps - 1) * math.log1p(-lambda_p)
        return log_prior
    return log_prior.log_softmax(0)


def kl_divergence(log_p: Tensor, log_prior: Tensor, direction: str = "p||p_G") -> Tensor:
    """KL divergence between the halting distribution and its prior, in nats.

    The paper's regulariser (Eq. 3) is KL(p || p_G) = sum_n p_n (log p_n - log p_G(n)). It lets p_n vanish.
    Much public code calls `kl_div(p.log(), p_G)`, which computes KL(p_G || p): it forbids p_n to vanish where
    the prior has mass, and is infinite as soon as one p_n underflows to 0.

    Args:
        log_p: [N, ...], as from `halting_log_probs`.
        log_prior: [N], as from `geometric_log_prior`.
        direction: "p||p_G" (the paper) or "p_G||p" (the reversed one).

    Returns:
        [...], in the dtype of `log_p`.

    Raises:
        ValueError: if the two have different N, or `direction` is unknown.
    """
    check_choice("direction", direction, DIRECTIONS)
    if log_prior.shape != log_p.shape[:1]:
        raise ValueError(
            f"log_prior must have shape [N] = {list(log_p.shape[:1])}, one value per step of log_p; "
            f"got {list(log_prior.shape)}"
        )
    log_g = log_prior.to(log_p).view(-1, *[1] * (log_p.ndim - 1))
    if direction == "p||p_G":
        return (log_p.exp() * (log_p - log_g)).sum(0)
    return (log_g.exp() * (log_g - log_p)).sum(0)
