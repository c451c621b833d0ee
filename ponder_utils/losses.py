"""The losses that the networks minimise: PonderNet's and ACT's.

PonderNet: L = sum_n p_n loss(y, y_hat_n) + beta KL(p || p_G) (Banino, Balaguer & Blundell 2021, Eq. 3).
ACT: L(x, y) + tau P(x) (Graves 2016, Eq. 12).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils._check import check_choice, check_real
from ponder_utils.act import ACTOutput
from ponder_utils.halting import DIRECTIONS, PonderOutput, kl_divergence, make_log_prior

Criterion = Callable[[Tensor, Tensor], Tensor]  # (y_hat [n, ...], y [n, ...]) -> one loss per sample, [n]


class CriterionLoss(nn.Module):
    """Base of the losses that are built on a criterion, which returns one loss for each answer it is given."""

    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        if not callable(criterion):
            raise TypeError(f"criterion must be callable as criterion(y_hat, y); got {criterion!r}")
        self.criterion = criterion

    def loss_by_step(self, y_hat: Tensor, y: Tensor) -> Tensor:
        """Return the loss of the answer after each step: y_hat [N, batch, ...], y [batch, ...] -> [N, batch].

        ValueError if y has not one target per sample, or the criterion does not return one loss per answer.
        """
        if y.shape[:1] != y_hat.shape[1:2]:
            raise ValueError(f"y must have one target per sample, shape [{y_hat.shape[1]}, ...]; got {list(y.shape)}")
        return self.losses(y_hat, y.expand(len(y_hat), *y.shape))

    def losses(self, y_hat: Tensor, y: Tensor) -> Tensor:
        """Return the loss of each answer, by one call of the criterion: [steps, batch, ...] twice -> [steps, batch]."""
        n_steps, batch_size = y_hat.shape[:2]
        answer, target = y_hat.shape[2:], y.shape[2:]
        if answer != target and answer.numel() == target.numel():
            came = f"{list(target)} and answers {list(answer)}"
            raise ValueError(f"a target y must have the shape of an answer, or they would be broadcast; got {came}")
        loss = self.criterion(y_hat.flatten(0, 1), y.flatten(0, 1))
        if loss.shape != (n_steps * batch_size,):
            raise ValueError(
                f"criterion must return one loss per answer, shape [{n_steps * batch_size}] for {n_steps} steps of "
                f"{batch_size} samples; got shape {list(loss.shape)}. A loss that is averaged over the batch gives the "
                "p_n of all samples the same gradient, and no network can learn to ponder per input. Use "
                'reduction="none", and reduce all dimensions but the first.'
            )
        return loss.view(n_steps, batch_size)


class ReconstructionLoss(CriterionLoss):
    """sum_n p_n loss(y, y_hat_n), averaged over the batch last of all.

    criterion: (y_hat, y) -> one loss per sample, such as `nn.BCEWithLogitsLoss(reduction="none")`.
    """

    def forward(self, output: PonderOutput, y: Tensor) -> Tensor:
        """y: [batch, ...] -> scalar, in the unit of the criterion. For errors see `loss_by_step`."""
        return (output.log_p.exp() * self.loss_by_step(output.y_hat, y)).sum(0).mean()


class RegularizationLoss(nn.Module):
    """KL divergence between the halting distribution and its prior, averaged over the batch.

    Args:
        prior, repair: as for `make_log_prior`, whose max_steps is the N of the output.
        direction: "p||p_G" (the paper's) or "p_G||p": see `kl_divergence`.
    TypeError or ValueError if an argument is not as above.
    """

    def __init__(self, prior: float | str | Tensor, *, repair: str = "renormalise", direction: str = "p||p_G") -> None:
        super().__init__()
        self.prior = prior
        self.repair = repair
        self.direction = check_choice("direction", direction, DIRECTIONS)
        n_values = len(prior) if isinstance(prior, Tensor) and prior.ndim else 1
        self._log_prior = make_log_prior(prior, n_values, repair)  # until an output tells N

    def forward(self, output: PonderOutput) -> Tensor:
        """Return a scalar, in nats. ValueError if the prior is a tensor of another length than N."""
        n_steps = len(output.log_p)
        if len(self._log_prior) != n_steps:
            self._log_prior = make_log_prior(self.prior, n_steps, self.repair)
        return kl_divergence(output.log_p, self._log_prior, self.direction).mean()


class LossTerms(NamedTuple):
    """The loss, term by term: total = reconstruction + beta * regularization."""

    total: Tensor
    reconstruction: Tensor
    regularization: Tensor  # not yet multiplied by beta


class PonderLoss(nn.Module):
    """ReconstructionLoss + beta * RegularizationLoss. Those two describe the other arguments.

    beta: weight of the KL term, >= 0 (0.01 in the paper's parity experiments).
    """

    def __init__(
        self, criterion: Criterion, prior: float | str | Tensor, beta: float = 0.01, *,
        repair: str = "renormalise", direction: str = "p||p_G",
    ) -> None:  # fmt: skip
        super().__init__()
        self.beta = check_real("beta", beta, 0, open_low=False)
        self.reconstruction = ReconstructionLoss(criterion)
        self.regularization = RegularizationLoss(prior, repair=repair, direction=direction)

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars."""
        reconstruction = self.reconstruction(output, y)
        regularization = self.regularization(output)
        return LossTerms(reconstruction + self.beta * regularization, reconstruction, regularization)


class FixedDepthLoss(CriterionLoss):
    """The loss of the last step's answer, or, with `every_step`, the mean over the answers of every step.

    For the criterion see `ReconstructionLoss`. TypeError unless every_step is True or False.
    """

    def __init__(self, criterion: Criterion, every_step: bool) -> None:
        super().__init__(criterion)
        if not isinstance(every_step, bool):
            raise TypeError(f"every_step must be True or False; got {every_step!r} ({type(every_step).__name__})")
        self.every_step = every_step

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars; there is no regularization."""
        y_hat = output.y_hat if self.every_step else output.y_hat[-1:]
        loss = self.loss_by_step(y_hat, y).mean()
        return LossTerms(loss, loss, torch.zeros_like(loss))


ACT_COSTS = ("ponder", "accumulated")


class ACTLossTerms(NamedTuple):
    """The loss of ACT, term by term: total = reconstruction + tau * cost."""

    total: Tensor
    reconstruction: Tensor
    cost: Tensor  # not yet multiplied by tau


class ACTLoss(CriterionLoss):
    """L(x, y) + tau * P(x), averaged over the batch (Graves 2016, Eq. 12).

    The ponder cost is P = sum_t N(t) + R(t) (Eqs. 10-11). N(t) is a whole number, constant almost everywhere, so only
    R(t) has a gradient: dP/dh_n = -1 for n < N(t), and 0 for the last step (Eq. 14).

    Args:
        criterion: (y_hat, y) -> one loss per answer, such as `nn.BCEWithLogitsLoss(reduction="none")`. It is given the
            answers of all time steps and samples in one dimension; their losses are summed over time.
        tau: the time penalty, >= 0.
        cost: "ponder" (the paper's), or "accumulated", -sum_t sum_{n<N(t)} h_n, which some implementations minimise. It
            differs from the paper's by sum_t N(t) + 1, and so not in its gradient.
    """

    def __init__(self, criterion: Criterion, tau: float, cost: str = "ponder") -> None:
        super().__init__(criterion)
        self.tau = check_real("tau", tau, 0, open_low=False)
        self.cost = check_choice("cost", cost, ACT_COSTS)

    def forward(self, output: ACTOutput, y: Tensor) -> ACTLossTerms:
        """y: [T, batch, ...], a target for each time step -> three scalars.

        Where only the last time step is to be answered, give `output._replace(y_hat=output.y_hat[-1:])` and one target.
        ValueError if y is not as above, or the criterion does not return one loss for each time step and sample.
        """
        if y.shape[:2] != output.y_hat.shape[:2]:
            wanted = f"one target per time step and sample, as y_hat: {list(output.y_hat.shape[:2])} and more"
            raise ValueError(f"y must have {wanted}; got {list(y.shape)}")
        cost_by_time = output.steps + output.remainder if self.cost == "ponder" else output.remainder - 1
        reconstruction = self.losses(output.y_hat, y).sum(0).mean()
        cost = cost_by_time.sum(0).mean()
        return ACTLossTerms(reconstruction + self.tau * cost, reconstruction, cost)
