"""The losses that the networks minimise: PonderNet's (arXiv:2107.05407, Eq. 3) and ACT's (arXiv:1603.08983, Eq. 12).

A criterion is (y_hat, y) -> one loss per answer, such as `nn.BCEWithLogitsLoss(reduction="none")`. Every loss takes a
mask, bool in the shape of a step's halting logits (of `steps` for ACT), true at the answers that count. What stands
elsewhere, in answers and targets alike, is never read. ValueError if it is true nowhere.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils._check import check_choice, check_mask, check_real, check_targets, check_type, described
from ponder_utils.act import ACTOutput
from ponder_utils.halting import DIRECTIONS, PonderOutput, Prior, kl_divergence, make_log_prior

Criterion = Callable[[Tensor, Tensor], Tensor]  # y_hat, y [n, ...] -> one loss per sample, [n]


def apply_mask(output: PonderOutput, y: Tensor, mask: Tensor | None) -> tuple[PonderOutput, Tensor]:
    """Return the output and the targets where the mask is true, each a sample of its own; all if there is no mask."""
    check_type("output", output, PonderOutput)
    if mask is None:
        check_targets(y, output.y_hat.shape[1:2])
        return output, y
    chosen = output.at(mask)
    check_targets(y, mask.shape, "value of mask")
    return chosen, y[mask]


class CriterionLoss(nn.Module):
    """Base of the losses that are built on a criterion."""

    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        self.criterion = check_type("criterion", criterion, Callable, "callable as criterion(y_hat, y)", but=type)

    def loss_by_step(self, y_hat: Tensor, y: Tensor) -> Tensor:
        """Return the loss of the answer after each step: y_hat [N, batch, ...], y [batch, ...] -> [N, batch]."""
        check_targets(y, y_hat.shape[1:2])
        return self.losses(y_hat, y.expand(len(y_hat), *y.shape))

    def losses(self, y_hat: Tensor, y: Tensor) -> Tensor:
        """Return the loss of each answer: y_hat and y [N, batch, ...] -> [N, batch]."""
        n_steps, batch_size = y_hat.shape[:2]
        answer, target = list(y_hat.shape[2:]), list(y.shape[2:])
        if answer != target and math.prod(answer) == math.prod(target):  # they would be broadcast
            raise ValueError(f"a target y must have the shape of an answer, {answer}; got {target}")
        try:
            loss = self.criterion(y_hat.flatten(0, 1), y.flatten(0, 1))
        except RuntimeError as error:
            raise ValueError(f"criterion fails for y_hat {described(y_hat)} and y {described(y)}: {error}") from error
        if not isinstance(loss, Tensor) or loss.shape != (n_steps * batch_size,):
            wanted = f'one loss per answer, [{n_steps * batch_size}], as with reduction="none"'
            raise ValueError(f"criterion must return {wanted}; got {described(loss)}")
        if not torch.compiler.is_compiling() and loss.numel() == 0:  # their mean would be NaN
            raise ValueError("a loss needs an answer; got an empty batch, or a mask that is true nowhere")
        return loss.view(n_steps, batch_size)


class ReconstructionLoss(CriterionLoss):
    """sum_n p_n loss(y, y_hat_n), averaged over the batch last of all."""

    def forward(self, output: PonderOutput, y: Tensor, mask: Tensor | None = None) -> Tensor:
        """y: [batch, ...] -> scalar, in the unit of the criterion."""
        output, y = apply_mask(output, y, mask)
        if output.log_p.ndim != 2:
            raise ValueError(f"output without mask must have log_p [N, batch]; got {list(output.log_p.shape)}")
        return (output.log_p.exp() * self.loss_by_step(output.y_hat, y)).sum(0).mean()


class RegularizationLoss(nn.Module):
    """The `kl_divergence` of halting distribution and prior (see `make_log_prior`), averaged over the batch."""

    def __init__(self, prior: Prior, *, direction: str = "p||p_G") -> None:
        super().__init__()
        log_prior = make_log_prior(prior, len(prior) if isinstance(prior, Tensor) and prior.ndim else 1)
        self.prior = prior
        if isinstance(prior, Tensor):
            self.log_prior = log_prior
        self.direction = check_choice("direction", direction, DIRECTIONS)

    def forward(self, output: PonderOutput, mask: Tensor | None = None) -> Tensor:
        """Return a scalar, in nats. ValueError if the prior is a tensor of another length than N."""
        check_type("output", output, PonderOutput)
        log_p = output.log_p if mask is None else output.at(mask).log_p
        log_prior = self.log_prior if isinstance(self.prior, Tensor) else make_log_prior(self.prior, len(log_p))
        return kl_divergence(log_p, log_prior, self.direction).mean()


class LossTerms(NamedTuple):
    """total = reconstruction + beta * regularization."""

    total: Tensor
    reconstruction: Tensor
    regularization: Tensor  # not yet multiplied by beta


class PonderLoss(nn.Module):
    """ReconstructionLoss + beta * RegularizationLoss, beta >= 0 (0.01 in the paper's parity experiments)."""

    def __init__(self, criterion: Criterion, prior: Prior, beta: float = 0.01, *, direction: str = "p||p_G") -> None:
        super().__init__()
        self.beta = check_real("beta", beta, 0, open_low=False)
        self.reconstruction = ReconstructionLoss(criterion)
        self.regularization = RegularizationLoss(prior, direction=direction)

    def forward(self, output: PonderOutput, y: Tensor, mask: Tensor | None = None) -> LossTerms:
        """y: [batch, ...] -> three scalars."""
        output, y = apply_mask(output, y, mask)
        reconstruction = self.reconstruction(output, y)
        regularization = self.regularization(output)
        return LossTerms(reconstruction + self.beta * regularization, reconstruction, regularization)


class FixedDepthLoss(CriterionLoss):
    """The loss of the last step's answer, or, with `every_step`, the mean over the answers of every step."""

    def __init__(self, criterion: Criterion, every_step: bool) -> None:
        super().__init__(criterion)
        self.every_step = check_type("every_step", every_step, bool)

    def forward(self, output: PonderOutput, y: Tensor, mask: Tensor | None = None) -> LossTerms:
        """y: [batch, ...] -> three scalars; there is no regularization."""
        output, y = apply_mask(output, y, mask)
        y_hat = output.y_hat if self.every_step else output.y_hat[-1:]
        loss = self.loss_by_step(y_hat, y).mean()
        return LossTerms(loss, loss, torch.zeros_like(loss))


class ACTLossTerms(NamedTuple):
    """total = reconstruction + tau * cost."""

    total: Tensor
    reconstruction: Tensor
    cost: Tensor  # not yet multiplied by tau


class ACTLoss(CriterionLoss):
    """L(x, y) + tau * P(x), averaged over the batch (Graves 2016, Eq. 12); L is summed over time.

    tau is the time penalty, >= 0. P = sum_t N(t) + R(t) (Eqs. 10-11), of which only R(t) has a gradient.
    """

    def __init__(self, criterion: Criterion, tau: float) -> None:
        super().__init__(criterion)
        self.tau = check_real("tau", tau, 0, open_low=False)

    def forward(self, output: ACTOutput, y: Tensor, mask: Tensor | None = None) -> ACTLossTerms:
        """y: [T, batch, ...], a target for each time step -> three scalars; what the mask leaves out costs nothing."""
        check_targets(y, check_type("output", output, ACTOutput).y_hat.shape[:2], "time step and sample")
        cost_by_time = output.steps + output.remainder
        if mask is None:
            reconstruction = self.losses(output.y_hat, y).sum(0).mean()
            cost = cost_by_time.sum(0).mean()
        else:
            check_targets(y, check_mask("mask", mask, output.steps.shape).shape, "value of mask")
            n_samples = mask.any(0).sum()
            reconstruction = self.losses(output.y_hat[mask][None], y[mask][None]).sum() / n_samples
            cost = cost_by_time[mask].sum() / n_samples
        return ACTLossTerms(reconstruction + self.tau * cost, reconstruction, cost)
