"""What the judge of lesson 06 learns, in place of a prior or a price: whether the answer is right by now."""

from collections.abc import Callable

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from ponder_utils._check import check_real
from ponder_utils.evaluation import binary_correct
from ponder_utils.halting import PonderOutput
from ponder_utils.losses import Criterion, CriterionLoss, LossTerms


class JudgeLoss(CriterionLoss):
    """A loss at every step, and a halting head that learns to judge whether the answer is right by now.

    The total is the mean over steps of the criterion's loss plus `weight` times the cross-entropy of the halting logit
    a_n, whose target is 1 where the answer after step n is right (Jolicoeur-Martineau 2025, arXiv:2510.04871: 0.5).

    correct: (y_hat [N, batch, ...], y, expanded alike) -> bool [N, batch], as for `evaluate`.
    """

    def __init__(
        self, criterion: Criterion, correct: Callable[[Tensor, Tensor], Tensor] = binary_correct, weight: float = 0.5
    ) -> None:
        super().__init__(criterion)
        if not callable(correct):
            raise TypeError(f"correct must be callable as correct(y_hat, y); got {correct!r}")
        self.correct = correct
        self.weight = check_real("weight", weight, 0, open_low=False)

    def forward(self, output: PonderOutput, y: Tensor) -> LossTerms:
        """y: [batch, ...] -> three scalars; the head's cross-entropy stands for the regularization."""
        loss = self.loss_by_step(output.y_hat, y).mean()
        a = output.halt_logits
        right = self.correct(output.y_hat, y.expand(len(a), *y.shape))
        if right.shape != a.shape:
            wanted = f"one value per step and sample, shape {list(a.shape)}"
            raise ValueError(f"correct must return {wanted}; got {list(right.shape)}")
        judged = binary_cross_entropy_with_logits(a, right.to(a.dtype))
        return LossTerms(loss + self.weight * judged, loss, judged)
