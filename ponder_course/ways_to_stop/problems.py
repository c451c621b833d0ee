"""Lines of which some have no answer, and the inputs that lesson 06 tests networks on."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ponder_course.common.lines import LineParityTask
from ponder_utils._check import check_real


@dataclass(frozen=True)
class UnanswerableTask(LineParityTask):
    """Line parity in which a fraction of the lines has no answer: their targets are fair coins.

    x has a third channel, 1 at all places of such a line, so that one step is enough to know. `answers` are as if there
    were one.
    TypeError or ValueError unless 0 <= fraction <= 1.
    """

    fraction: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("fraction", self.fraction, 0, 1, open_low=False)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw a batch as `LineParityTask.batch` does, but x: [batch_size, 3, n_places]."""
        x, y = super().batch(batch_size, generator)
        chosen = torch.rand(batch_size, 1, generator=generator, device=x.device) < self.fraction
        coins = torch.rand(y.shape, generator=generator, device=x.device) < 0.5
        unanswerable = chosen.expand_as(y)
        x = torch.cat([x, unanswerable[:, None].float()], dim=1)
        return x, torch.where(unanswerable, coins.float(), y)

    @staticmethod
    def answerable(x: Tensor) -> Tensor:
        """Return which lines have an answer: x as from `batch` -> bool [batch]."""
        return x[:, 2, 0] == 0

    @staticmethod
    def needed_steps(x: Tensor) -> Tensor:
        """Return the steps that each place needs, [batch, n_places]: 1 where there is no answer to wait for."""
        return torch.where(x[:, 2] == 0, LineParityTask.needed_steps(x), 1)

    @classmethod
    def best_probs(cls, x: Tensor, n_steps: int) -> Tensor:
        """As for `LineParityTask`; for a line without an answer one half for each of its places, at every step."""
        return torch.where(cls.answerable(x), LineParityTask.best_probs(x, n_steps), 0.5 ** x.shape[2])


class Inputs(NamedTuple):
    """Inputs that networks are tested on, and the cap on steps there."""

    size: int
    N: int
    n_inputs: int
    arguments: dict[str, Any] | None = None  # of the task, beside the size


LINE_TESTS = {"valid": Inputs(16, 20, 1000), "16 places": Inputs(16, 20, 2000), "64 places": Inputs(64, 80, 500)}
