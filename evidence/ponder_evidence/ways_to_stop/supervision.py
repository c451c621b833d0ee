"""What else the networks of lesson 06's table learn from.

The progressive loss teaches a step to be of use from wherever thinking stands. The gain teaches a halting head, on top
of answers that are learnt, whether one more step still helps. Losses are called as `PonderLoss` is, with the output of
a `PonderNet`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from ponder_utils._check import check_real
from ponder_utils.halting import PonderOutput
from ponder_utils.losses import Criterion, CriterionLoss, LossTerms
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import Step, encode


class ProgressiveOutput(NamedTuple):
    """The last answer, and one that only its own last steps learn from."""

    y_hat: Tensor  # [2, batch, ...]


class ProgressiveNet(PonderNet):
    """A PonderNet of a `Step` that is trained with `ProgressiveLoss`; in evaluation mode it is a plain PonderNet.

    In training it takes all N steps, and besides n steps without a gradient and k more with one, n uniform in 0..N - 1
    and k in 1..N - n, drawn for each batch (Bansal et al. 2022, arXiv:2202.05826, Sec. 3.2).
    """

    def forward(  # type: ignore[override]
        self, x: Any, max_steps: int | None = None
    ) -> PonderOutput | ProgressiveOutput:
        """x, max_steps: as for `PonderNet`. In training N is its own, and the result a `ProgressiveOutput`."""
        if not self.training:
            return super().forward(x, max_steps)
        n = int(torch.randint(self.max_steps, ()))
        k = int(torch.randint(1, self.max_steps - n + 1, ()))
        z, h = encode(self.step, x)
        full = self._answer(z, h, self.max_steps)
        if n > 0:
            with torch.no_grad():
                h = self._move(z, h, n)
        return ProgressiveOutput(torch.stack([full, self._answer(z, h, k)]))

    def _answer(self, z: Any, h: Any, n_steps: int) -> Tensor:
        return self.step.read(self._move(z, h, n_steps))[0]

    def _move(self, z: Any, h: Any, n_steps: int) -> Any:
        for _ in range(n_steps):
            h = self.step.move(z, h)
        return h


class ProgressiveLoss(CriterionLoss):
    """(1 - alpha) times the loss of the last answer, plus alpha times that of the progressive one; alpha in [0, 1]."""

    def __init__(self, criterion: Criterion, alpha: float = 0.5) -> None:
        super().__init__(criterion)
        self.alpha = check_real("alpha", alpha, 0, 1, open_low=False)

    def forward(self, output: ProgressiveOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars: total, of the last answer, of the progressive one."""
        last, progressive = self.loss_by_step(output.y_hat, y).mean(1)
        return LossTerms((1 - self.alpha) * last + self.alpha * progressive, last, progressive)


class GainLoss(CriterionLoss):
    """A loss for the halting head alone, which learns to judge whether one more step still lowers the loss.

    The target of lambda_n is 1 - sigmoid(sharpness (loss_n - loss_{n+1} - tolerance)): halt where the next step's
    answer is not better by at least the tolerance. After Zhu et al. 2025 (arXiv:2510.25741, second stage), who take 50
    and 0.005. The losses get no gradient: give it a network whose answers are learnt, behind a `JudgedStep`. The last
    step, which must halt, has no target; N must be at least 2.
    """

    def __init__(self, criterion: Criterion, sharpness: float = 50.0, tolerance: float = 0.005) -> None:
        super().__init__(criterion)
        self.sharpness = check_real("sharpness", sharpness, 0, open_low=True)
        self.tolerance = check_real("tolerance", tolerance, 0, open_low=False)

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars; the last, the head's cross-entropy, is also the total."""
        if len(output.y_hat) < 2:
            raise ValueError("N must be at least 2: with one step there is nothing to learn")
        with torch.no_grad():
            loss = self.loss_by_step(output.y_hat, y)
            gain = loss[:-1] - loss[1:]
            # 1 - sigmoid(z) = sigmoid(-z), without the loss of digits
            target = torch.sigmoid(-self.sharpness * (gain - self.tolerance))
        a = output.halt_logits[:-1]
        judged = binary_cross_entropy_with_logits(a, target.to(a.dtype))
        return LossTerms(judged, loss.mean(), judged)


class JudgedStep(Step):
    """A step function that has learnt to answer, and now only learns when to halt.

    Its weights are frozen, and the halting logit is read anew from its states.

    Args:
        step: a step function, a module whose state is a tensor.
        judge: the state h_n [batch, ...] -> the logit a_n [batch].
    """

    def __init__(self, step: nn.Module, judge: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        if not isinstance(step, nn.Module):
            raise TypeError(f"step must be an nn.Module, whose weights can be frozen; got {step!r}")
        self.step = step.requires_grad_(False)
        self.judge = judge

    def encode(self, x: Any) -> tuple[Any, Any]:
        """As the step does it."""
        return encode(self.step, x)

    def forward(self, z: Any, h: Any) -> tuple[Tensor, Any, Tensor]:
        """Take one step, with a_n from the judge."""
        y_hat, h, _ = self.step(z, h)
        return y_hat, h, self.judge(h)
