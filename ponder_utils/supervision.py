"""What a network may learn from if no halting distribution weighs its losses.

A fixed depth learns from the answer after the last step, or after every step, which also makes all of them fit to be
stopped at (deep supervision). The progressive loss teaches one step to be of use from wherever thinking stands. And two
losses teach a halting head what it should judge: whether the answer is right by now, or whether one more step still
helps. Losses are called as `PonderLoss` is, with what a `PonderNet` returns.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from ponder_utils._check import check_real
from ponder_utils.evaluation import binary_correct
from ponder_utils.losses import Criterion, LossOfEach, LossTerms
from ponder_utils.pondernet import PonderNet, PonderOutput
from ponder_utils.steps import start, unroll


class FixedDepthLoss(LossOfEach):
    """The loss of the last step's answer, or, with `every_step`, the mean over the answers of every step.

    For the criterion see `ReconstructionLoss`.
    """

    def __init__(self, criterion: Criterion, every_step: bool) -> None:
        super().__init__(criterion)
        self.first = 0 if every_step else -1

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars; there is no regularization."""
        loss = self.by_step(output.y_hat[self.first :], y).mean()
        return LossTerms(loss, loss, torch.zeros_like(loss))


class ProgressiveOutput(NamedTuple):
    """The last answer, and one that only its own last steps learn from."""

    y_hat: Tensor  # [2, batch, ...]


class ProgressiveNet(PonderNet):
    """A PonderNet that is trained with `ProgressiveLoss`, and elsewhere is one.

    In training it takes all N steps, and besides n steps without a gradient and k more with one, n uniform in 0..N - 1
    and k in 1..N - n, drawn for each batch (Bansal et al. 2022, arXiv:2202.05826, Sec. 3.2).
    """

    def forward(self, x: Tensor) -> PonderOutput | ProgressiveOutput:  # type: ignore[override]
        """x: [batch, ...]. In training a `ProgressiveOutput`."""
        if not self.training:
            return super().forward(x)
        n = int(torch.randint(self.max_steps, ()))
        k = int(torch.randint(1, self.max_steps - n + 1, ()))
        z, h = start(self.step, x)
        last = unroll(self.step, z, h, self.max_steps)[0][-1]
        if n:
            with torch.no_grad():
                _, h, _ = unroll(self.step, z, h, n)
        return ProgressiveOutput(torch.stack([last, unroll(self.step, z, h, k)[0][-1]]))


class ProgressiveLoss(LossOfEach):
    """(1 - alpha) times the loss of the last answer, plus alpha times that of the progressive one; alpha in [0, 1]."""

    def __init__(self, criterion: Criterion, alpha: float = 0.5) -> None:
        super().__init__(criterion)
        self.alpha = check_real("alpha", alpha, 0, 1, open_low=False)

    def forward(self, output: ProgressiveOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars: total, of the last answer, of the progressive one."""
        last, progressive = self.by_step(output.y_hat, y).mean(1)
        return LossTerms((1 - self.alpha) * last + self.alpha * progressive, last, progressive)


class JudgeLoss(LossOfEach):
    """A loss at every step, and a halting head that is taught to say whether the answer is right by now.

    The mean over steps of the criterion's loss plus `weight` times the cross-entropy of the halting logit a_n, whose
    target is 1 where the answer after step n is right (Jolicoeur-Martineau 2025, arXiv:2510.04871, with 0.5).

    correct: (y_hat [N, batch, ...], y, expanded alike) -> bool [N, batch], as for `evaluate`.
    """

    def __init__(
        self, criterion: Criterion, correct: Callable[[Tensor, Tensor], Tensor] = binary_correct, weight: float = 0.5
    ) -> None:
        super().__init__(criterion)
        self.correct, self.weight = correct, check_real("weight", weight, 0, open_low=False)

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars; the head's cross-entropy stands for the regularization."""
        loss = self.by_step(output.y_hat, y).mean()
        right = self.correct(output.y_hat, y.expand(len(output.y_hat), *y.shape)).to(output.halt_logits.dtype)
        judged = binary_cross_entropy_with_logits(output.halt_logits, right)
        return LossTerms(loss + self.weight * judged, loss, judged)


class GainLoss(LossOfEach):
    """A halting head alone, taught to say whether one more step still helps, as measured by the loss.

    The target of lambda_n is 1 - sigmoid(sharpness (loss_n - loss_{n+1} - least)): halt where the next step's answer is
    not better by at least so much. After Zhu et al. 2025 (arXiv:2510.25741, second stage), who take 50 and 0.005. The
    losses get no gradient: give it a network whose answers are learnt, behind a `JudgedStep`. The last step, which must
    halt, has no target; N must be at least 2.
    """

    def __init__(self, criterion: Criterion, sharpness: float = 50.0, least: float = 0.005) -> None:
        super().__init__(criterion)
        self.sharpness = check_real("sharpness", sharpness, 0, open_low=True)
        self.least = check_real("least", least, 0, open_low=False)

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars; the last, the head's cross-entropy, is also the total."""
        if len(output.y_hat) < 2:
            raise ValueError("N must be at least 2: with one step there is nothing to learn")
        with torch.no_grad():
            loss = self.by_step(output.y_hat, y)
            target = torch.sigmoid(-self.sharpness * (loss[:-1] - loss[1:] - self.least))
        judged = binary_cross_entropy_with_logits(output.halt_logits[:-1], target.to(output.halt_logits.dtype))
        return LossTerms(judged, loss.mean(), judged)
