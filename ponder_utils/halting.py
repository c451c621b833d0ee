"""The halting distribution p_n, its geometric prior p_G, and the KL divergence between them.

Symbols are those of PonderNet (Banino, Balaguer & Blundell 2021, arXiv:2107.05407). Steps are counted from 1 to
N = max_steps and stand in dimension 0 of every tensor; what follows it (the batch) is free. Everything is computed in
log space: a product of the (1 - lambda_j) underflows where a network is sure of itself.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid
from torch.utils import _pytree

from ponder_utils._check import check_choice, check_int, check_mask, check_real, described

DIRECTIONS = ("p||p_G", "p_G||p")
Prior = float | str | Tensor  # lambda_p, "uniform", or p_G(n) step by step: [N]

LARGEST_LAMBDA_P = 1 - 2**-24  # in float32; at 1 the prior forbids a second step, and KL(p || p_G) is infinite


class PonderOutput(NamedTuple):
    """What a network computes in its steps: all N of them, or, while it still thinks, the steps so far."""

    y_hat: Tensor  # [N, batch, ...] the answer after each step
    halt_logits: Tensor  # [N, batch] a_n, with lambda_n = sigmoid(a_n); [N, batch, *places] if places halt alone
    log_p: Tensor  # log of the halting distribution, in the shape of halt_logits

    @property
    def log_survival(self) -> Tensor:
        """log prod_{j<=n} (1 - lambda_j), the log-probability of continuing after each step: [N, batch]."""
        return logsigmoid(-at_least_float32(self.halt_logits)).cumsum(0)

    def at(self, mask: Tensor) -> "PonderOutput":
        """Return the output where the mask, bool [batch, *places], is true: each such place is a sample now."""
        check_mask("mask", mask, self.halt_logits.shape[1:])
        return PonderOutput(*(part[:, mask] for part in self))


# So that a network that torch.export has taken apart can be saved.
_pytree._register_namedtuple(PonderOutput, serialized_type_name="ponder_utils.PonderOutput")


def at_least_float32(x: Tensor) -> Tensor:
    """Return x in float64 if it is, else in float32."""
    return x if x.dtype == torch.float64 else x.float()


def halting_log_probs(halt_logits: Tensor, remainder: bool = True) -> Tensor:
    """Return log p_n, [N, ...], for halting logits a_n, [N, ...]: lambda_n = sigmoid(a_n) = P(halt at n | not before).

    p_n = lambda_n * prod_{j<n} (1 - lambda_j) (Eq. 2), but the last step takes what remains, prod_{j<N} (1 - lambda_j)
    (Sec. 2.3), unless remainder=False, since more steps will follow. In float64 if the logits are, else in float32.
    """
    if not isinstance(halt_logits, Tensor) or not halt_logits.is_floating_point():
        raise TypeError(f"halt_logits must be a floating-point tensor [N, ...]; got {described(halt_logits)}")
    a = at_least_float32(halt_logits)
    zero = torch.zeros_like(a[:1])
    log_lambda = torch.cat([logsigmoid(a[:-1]), zero]) if remainder else logsigmoid(a)  # lambda_N = 1
    log_survival = torch.cat([zero, logsigmoid(-a[:-1]).cumsum(0)])  # log prod_{j<n} (1 - lambda_j)
    return log_lambda + log_survival  # [N, ...]


def average(weight: Tensor, y_hat: Tensor) -> Tensor:
    """Return the sum over steps of weight [N, batch], such as p_n, times answer [N, batch, ...]: [batch, ...]."""
    # Not a product of matrices, which an autocast would round to half precision.
    return (weight.view(*weight.shape, *[1] * (y_hat.ndim - weight.ndim)) * y_hat).sum(0)


def expected_steps(log_p: Tensor) -> Tensor:
    """Return E[n] = sum_n n p_n (App. A), differentiable: log_p [N, ...] -> [...]."""
    n = torch.arange(1, len(log_p) + 1, dtype=log_p.dtype, device=log_p.device)
    return average(n, log_p.exp())


def geometric_log_prior(lambda_p: float, max_steps: int) -> Tensor:
    """Return log p_G(n), n = 1..N, of the geometric distribution lambda_p (1 - lambda_p)^(n-1): [N], float64.

    lambda_p is in (0, 1]; 1 is read as `LARGEST_LAMBDA_P`. Cut off at N = max_steps >= 1 and renormalised (Sec. 2.3).
    """
    lambda_p = min(check_real("lambda_p", lambda_p, 0, 1, open_low=True), LARGEST_LAMBDA_P)
    log_survival = torch.arange(check_int("max_steps", max_steps, 1), dtype=torch.float64) * math.log1p(-lambda_p)
    return log_survival.log_softmax(0)


def make_log_prior(prior: Prior, max_steps: int) -> Tensor:
    """Return log p_G(n), n = 1..N, of any prior: [N], float64, with N = max_steps >= 1.

    prior: a number is lambda_p, and p_G geometric. "uniform" favours no step: KL(p || p_G) is then log N minus the
    entropy of p (arXiv:2510.25741). A tensor [N] holds the p_G(n) themselves, which must be above 0 and sum to 1.
    """
    if isinstance(prior, str):
        check_choice("prior", prior, ("uniform",))
        return torch.full((max_steps,), -math.log(max_steps), dtype=torch.float64)
    if not isinstance(prior, Tensor):
        return geometric_log_prior(check_real("prior", prior, 0, 1, open_low=True), max_steps)
    p_G = prior.detach().cpu().double()  # not every device has float64
    if p_G.shape != (max_steps,):
        raise ValueError(f"prior must have one value per step, shape [{max_steps}]; got {list(p_G.shape)}")
    if not (p_G > 0).all() or abs(p_G.sum().item() - 1) > 1e-4:
        raise ValueError(f"prior must be above 0 at each step, and sum to 1; got {p_G.tolist()}, sum {p_G.sum():.6g}")
    return p_G.log().log_softmax(0)


def kl_divergence(log_p: Tensor, log_prior: Tensor, direction: str = "p||p_G") -> Tensor:
    """Return the KL divergence of the halting distribution, log_p [N, ...], and its prior, log_prior [N]: [...], nats.

    direction: "p||p_G" is the paper's regulariser (Eq. 3), sum_n p_n (log p_n - log p_G(n)). "p_G||p" is what much
    public code computes by `kl_div(p.log(), p_G)`; it forbids p_n from vanishing where the prior has mass.
    """
    check_choice("direction", direction, DIRECTIONS)
    if log_prior.shape != log_p.shape[:1]:
        raise ValueError(f"log_prior must have one value per step, {[*log_p.shape[:1]]}; got {[*log_prior.shape]}")
    log_g = log_prior.to(log_p.dtype).to(log_p.device).view(-1, *[1] * (log_p.ndim - 1))
    log_a, log_b = (log_p, log_g) if direction == "p||p_G" else (log_g, log_p)
    mass = log_a.exp()
    return (mass * (log_a - log_b).masked_fill(mass == 0, 0.0)).sum(0)  # 0 log 0 = 0, and so is its gradient
