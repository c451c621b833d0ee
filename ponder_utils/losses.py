"""What the networks minimise: the losses of PonderNet and of ACT.

PonderNet: L = sum_n p_n loss(y, y_hat_n) + beta KL(p || p_G) (Banino, Balaguer & Blundell 2021, Eq. 3).
ACT: L(x, y) + tau P(x) (Graves 2016, Eq. 12).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils._check import check_choice, check_real
from ponder_utils.act import ACTOutput
from ponder_utils.halting import DIRECTIONS, kl_divergence, log_prior_of
from ponder_utils.pondernet import PonderOutput

Criterion = Callable[[Tensor, Tensor], Tensor]  # (y_hat, y) -> loss


class LossOfEach(nn.Module):
    """What has a criterion that returns a loss for each row that it is given."""

    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        if not callable(criterion):
            raise TypeError(f"criterion must be callable as criterion(y_hat, y); got {criterion!r}")
        self.criterion = criterion

    def of_each(self, y_hat: Tensor, y: Tensor, row: str, steps: str, advice: str) -> Tensor:
        """The criterion's loss for each step and sample. y_hat, y: [steps, batch, ...] -> [steps, batch].

        The error, if it returns something else, speaks of a row and of steps by these names, and ends with the advice.
        """
        n_steps, batch_size = y_hat.shape[:2]
        loss = self.criterion(y_hat.flatten(0, 1), y.flatten(0, 1))
        if loss.shape != (n_steps * batch_size,):
            wanted = f"one loss per {row}, shape [{n_steps * batch_size}] for {n_steps} {steps} of {batch_size} samples"
            raise ValueError(f"criterion must return {wanted}; got shape {list(loss.shape)}. {advice}")
        return loss.view(n_steps, batch_size)

    def by_step(self, y_hat: Tensor, y: Tensor) -> Tensor:
        """The loss of the answer after each step: y_hat [N, batch, ...], y [batch, ...] -> [N, batch]."""
        advice = (
            "PonderNet weights the loss of each sample by that sample's own p_n. With a loss that is already averaged "
            "over the batch, every sample's p_n gets the same gradient, and no network can learn to ponder per input. "
            'Use reduction="none", and reduce all dimensions but the first.'
        )
        return self.of_each(y_hat, y.expand(len(y_hat), *y.shape), "sample", "steps", advice)


class ReconstructionLoss(LossOfEach):
    """sum_n p_n loss(y, y_hat_n), averaged over the batch last of all.

    The criterion returns one loss per sample, (y_hat, y) -> [batch], such as `nn.BCEWithLogitsLoss(reduction="none")`.
    """

    def forward(self, output: PonderOutput, y: Tensor) -> Tensor:
        """y: [batch, ...] -> scalar, in the unit of the criterion; ValueError unless it gives one value per sample."""
        return (output.log_p.exp() * self.by_step(output.y_hat, y)).sum(0).mean()


class RegularizationLoss(nn.Module):
    """KL divergence between the halting distribution and its prior, averaged over the batch.

    prior: lambda_p of the truncated geometric one, which is its probability to halt at each step, "uniform", or the
    p_G(n) themselves, [N]; max_steps: N, as in the network. For these and `repair` see `log_prior_of`, for the
    direction `kl_divergence`.
    """

    log_prior: Tensor  # [N]

    def __init__(
        self, prior: float | str | Tensor, max_steps: int, repair: str = "renormalise", direction: str = "p||p_G"
    ) -> None:
        super().__init__()
        self.direction = check_choice("direction", direction, DIRECTIONS)
        self.register_buffer("log_prior", log_prior_of(prior, max_steps, repair).float(), persistent=False)

    def extra_repr(self) -> str:
        """For print."""
        first = "".join(f"{p:.3g}, " for p in self.log_prior[:3].exp().tolist())
        return f"p_G=[{first}...], max_steps={len(self.log_prior)}, direction={self.direction!r}"

    def forward(self, output: PonderOutput) -> Tensor:
        """Scalar, in nats."""
        return kl_divergence(output.log_p, self.log_prior, self.direction).mean()


class LossTerms(NamedTuple):
    """The loss, term by term: total = reconstruction + beta * regularization."""

    total: Tensor
    reconstruction: Tensor
    regularization: Tensor  # not yet multiplied by beta


class PonderLoss(nn.Module):
    """ReconstructionLoss + beta * RegularizationLoss, which say what the other arguments are.

    The weight of the KL term is beta >= 0 (0.01 in the paper's parity experiments).
    """

    beta: Tensor  # scalar

    def __init__(
        self, criterion: Criterion, prior: float | str | Tensor, max_steps: int, beta: float = 0.01,
        repair: str = "renormalise", direction: str = "p||p_G",
    ) -> None:  # fmt: skip
        super().__init__()
        # A buffer, as the prior is: what networks that are trained together may differ in.
        self.register_buffer("beta", torch.tensor(check_real("beta", beta, 0, open_low=False)), persistent=False)
        self.reconstruction = ReconstructionLoss(criterion)
        self.regularization = RegularizationLoss(prior, max_steps, repair, direction)

    def extra_repr(self) -> str:
        """For print."""
        return f"beta={self.beta:.6g}"

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars."""
        reconstruction = self.reconstruction(output, y)
        regularization = self.regularization(output)
        return LossTerms(reconstruction + self.beta * regularization, reconstruction, regularization)


ACT_COSTS = ("ponder", "accumulated")


class ACTLossTerms(NamedTuple):
    """The loss of ACT, term by term: total = reconstruction + tau * cost."""

    total: Tensor
    reconstruction: Tensor
    cost: Tensor  # not yet multiplied by tau


class ACTLoss(LossOfEach):
    """L(x, y) + tau * P(x), averaged over the batch (Graves 2016, Eq. 12).

    The ponder cost is P = sum_t N(t) + R(t) (Eqs. 10-11). N(t) is a whole number, constant almost everywhere, so only
    R(t) has a gradient: dP/dh_n = -1 for n < N(t), and 0 for the last update (Eq. 14).

    Args:
        criterion: (y_hat, y) -> one loss per row, such as `nn.BCEWithLogitsLoss(reduction="none")`. It is given the
            answers of all time steps and samples in one dimension; their losses are summed over time.
        tau: the time penalty, >= 0.
        cost: "ponder" (the paper's), or "accumulated", -sum_t sum_{n<N(t)} h_n, which some implementations minimise. It
            differs from the paper's by sum_t N(t) + 1, and so not in its gradient.
    """

    def __init__(self, criterion: Criterion, tau: float, cost: str = "ponder") -> None:
        super().__init__(criterion)
        self.tau = check_real("tau", tau, 0, open_low=False)
        self.cost = check_choice("cost", cost, ACT_COSTS)

    def extra_repr(self) -> str:
        """For print."""
        return f"tau={self.tau}, cost={self.cost!r}"

    def forward(self, output: ACTOutput, y: Tensor) -> ACTLossTerms:
        """y: [T, batch, ...], a target for each time step -> three scalars.

        Where only the last time step is to be answered, give `output._replace(y_hat=output.y_hat[-1:])` and one target.
        ValueError if y is not as above, or the criterion does not return one loss for each time step and sample.
        """
        n_times, batch_size = output.y_hat.shape[:2]
        if y.shape[:2] != (n_times, batch_size):
            wanted = f"[T, batch, ...], here [{n_times}, {batch_size}, ...], as y_hat has"
            raise ValueError(f"y must have shape {wanted}; got {list(y.shape)}")
        loss = self.of_each(output.y_hat, y, "row", "time steps", 'Use reduction="none".')
        per_step = output.n_updates + output.remainder if self.cost == "ponder" else output.remainder - 1
        reconstruction, cost = loss.sum(0).mean(), per_step.sum(0).mean()
        return ACTLossTerms(reconstruction + self.tau * cost, reconstruction, cost)
