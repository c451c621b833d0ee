"""Broken on purpose: the plain loop with a head that always says the same. The row must show it."""

from torch import Tensor

from evidence.scorecard.plain_loop import Loop
from ponder_course.scorecard.tasks import Task


class Constant(Loop):
    """Halts at each loop with a probability of 0.2."""

    def forward(self, x: Tensor, n_loops: int) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """Return logits, and halting logits [n_loops, batch, places]."""
        logits = super().forward(x, n_loops)
        return logits, logits.new_full(logits.shape[:-1], -1.386)


def network(task: Task) -> Constant:
    """Return the network, untrained."""
    return Constant(task)
