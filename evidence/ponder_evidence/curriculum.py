"""A task that grows harder as a network learns it: a curriculum (Bengio et al. 2009)."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int, check_real


@dataclass(eq=False)
class Curriculum:
    """Draws batches of a task at level K, and raises K when a network is right on it often enough.

    Give it to `train` as `batches`, and its method `evaluate` as `evaluate`: K may rise at every logged update.
    TypeError or ValueError unless 1 <= first <= last, 0 < raise_at <= 1 and n_batches >= 1.
    """

    draw: Callable[[int, torch.Generator], tuple[Tensor, Tensor]]  # K, generator -> (x, y), a batch at level K
    accuracy: Callable[[nn.Module, Tensor, Tensor], float]  # network, x, y -> the fraction of right answers
    last: int  # the highest level
    _: KW_ONLY
    first: int = 1  # the level it begins with
    raise_at: float = 0.85  # the accuracy at which K rises by one
    n_batches: int = 4  # on how many the accuracy is measured

    def __post_init__(self) -> None:
        self.last = check_int("last", self.last, 1)
        self.K = check_int("first", self.first, 1, self.last)
        check_real("raise_at", self.raise_at, 0, 1, open_low=True)
        check_int("n_batches", self.n_batches, 1)
        self.n_evaluations = 0

    def __call__(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw a batch at the present level."""
        return self.draw(self.K, generator)

    def evaluate(self, model: nn.Module) -> dict[str, Any]:
        """Return K and the accuracy there, on batches whose seed is the evaluation's number; then K may rise."""
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
