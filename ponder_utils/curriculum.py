"""A task that grows harder as a network learns it: a curriculum (Bengio et al. 2009)."""

from collections.abc import Callable
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int, check_real


class Curriculum:
    """Draws batches of a task at level K, and raises K when a network is right on it often enough.

    Give it to `train` twice: as `batches`, and its method `evaluate` as `evaluate`, so that K may rise at every logged
    update. The table has a column K, and checkpoints hold it.

    Args:
        draw: K, generator -> (x, y), a batch at level K.
        accuracy: network, x, y -> the fraction of right answers, in [0, 1].
        last: the highest level.
        first: the level it begins with.
        raise_at: the accuracy at which K rises by one.
        n_batches: on how many batches the accuracy is measured: with few of them K rises by luck.
    TypeError or ValueError unless 1 <= first <= last, 0 < raise_at <= 1 and n_batches >= 1.
    """

    def __init__(
        self, draw: Callable[[int, torch.Generator], tuple[Tensor, Tensor]],
        accuracy: Callable[[nn.Module, Tensor, Tensor], float], last: int, *, first: int = 1, raise_at: float = 0.85,
        n_batches: int = 4,
    ) -> None:  # fmt: skip
        self.draw, self.accuracy = draw, accuracy
        self.last = check_int("last", last, 1)
        self.K = check_int("first", first, 1, self.last)
        self.raise_at = check_real("raise_at", raise_at, 0, 1, open_low=True)
        self.n_batches = check_int("n_batches", n_batches, 1)
        self.n_evaluations = 0

    def __call__(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw a batch at the present level."""
        return self.draw(self.K, generator)

    def evaluate(self, model: nn.Module) -> dict[str, Any]:
        """Return K and the accuracy there, on batches of this evaluation's own; afterwards K may rise."""
        generator = torch.Generator(next(model.parameters()).device).manual_seed(self.n_evaluations)
        self.n_evaluations += 1
        batches = [self.draw(self.K, generator) for _ in range(self.n_batches)]
        row = {"K": self.K, "accuracy": fmean(self.accuracy(model, x, y) for x, y in batches)}
        if row["accuracy"] >= self.raise_at:
            self.K = min(self.K + 1, self.last)
        return row

    def state_dict(self) -> dict[str, int]:
        """For a checkpoint."""
        return {"K": self.K, "n_evaluations": self.n_evaluations}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """From a checkpoint."""
        self.K, self.n_evaluations = state["K"], state["n_evaluations"]
