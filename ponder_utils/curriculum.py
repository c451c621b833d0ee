"""A task that grows harder as a network learns it: a curriculum (Bengio et al. 2009)."""

from collections.abc import Callable
from statistics import fmean

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int, check_real
from ponder_utils.training.run import Row


class Curriculum:
    """Draws batches of a task at level K, and raises K when a network is right on it often enough.

    It is given to `train` twice: as `draw_batch`, and its method `judge` as `evaluate`, so that K may go up at every
    logged update. The table has a column K, and checkpoints hold it.

    Args:
        draw: K, generator -> (x, y), a batch at level K.
        right: network, x, y -> the share of right answers, in [0, 1].
        last: the highest level.
        first: the level it begins with.
        raise_at: the share of right answers at which K goes up by one.
        n_batches: on how many batches that share is taken: with few of them K goes up by luck.
    TypeError or ValueError unless 1 <= first <= last, 0 < raise_at <= 1 and n_batches >= 1.
    """

    def __init__(
        self, draw: Callable[[int, torch.Generator], tuple[Tensor, Tensor]],
        right: Callable[[nn.Module, Tensor, Tensor], float], last: int, *, first: int = 1, raise_at: float = 0.85,
        n_batches: int = 4,
    ) -> None:  # fmt: skip
        self.draw, self.right, self.last = draw, right, check_int("last", last, 1)
        self.K = check_int("first", first, 1, self.last)
        self.raise_at = check_real("raise_at", raise_at, 0, 1, open_low=True)
        self.n_batches, self.judged = check_int("n_batches", n_batches, 1), 0

    def __call__(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """A batch at the present level."""
        return self.draw(self.K, generator)

    def judge(self, model: nn.Module) -> Row:
        """K, and the share of right answers there, on batches of its own for every judgement; afterwards K may rise."""
        generator = torch.Generator(next(model.parameters()).device).manual_seed(self.judged)
        self.judged += 1
        batches = [self.draw(self.K, generator) for _ in range(self.n_batches)]
        K, accuracy = self.K, fmean(self.right(model, x, y) for x, y in batches)
        if accuracy >= self.raise_at:
            self.K = min(self.K + 1, self.last)
        return {"K": K, "accuracy": accuracy}

    def state_dict(self) -> Row:
        """For a checkpoint."""
        return {"K": self.K, "judged": self.judged}

    def load_state_dict(self, state: Row) -> None:
        """From a checkpoint."""
        self.K, self.judged = state["K"], state["judged"]
