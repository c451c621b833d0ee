"""The problems of lesson 06's table: what is asked, of which network, and how it is trained and tested.

Two tasks are for the table alone, variants of `LineParityTask`: a teacher who errs, and one answer for the whole line.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_course.common.lines import LineParityTask
from ponder_course.light_cone.lesson import LocalStep, loss_of_line, whole_lines_right
from ponder_course.ways_to_stop.problems import LINE_TESTS, Inputs, UnanswerableTask
from ponder_utils._check import check_real
from ponder_utils.evaluation import binary_correct
from ponder_utils.steps import RNNStep
from ponder_utils.tasks import ParityTask


@dataclass(frozen=True)
class NoisyLineParityTask(LineParityTask):
    """Line parity with a teacher who errs: each target is flipped with probability u, where u ~ U(0, max_rate).

    Each line draws a u of its own, and x holds it at every place as a third channel, so that a network can know how far
    to trust the teacher. `answers` are without errors.
    TypeError or ValueError unless 0 <= max_rate <= 1.
    """

    max_rate: float = 0.4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("max_rate", self.max_rate, 0, 1, open_low=False)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw a batch as `LineParityTask.batch` does, but x: [batch_size, 3, n_places]."""
        x, y = super().batch(batch_size, generator)
        u = self.max_rate * torch.rand(batch_size, 1, generator=generator, dtype=x.dtype, device=x.device).expand_as(y)
        flipped = torch.rand(y.shape, generator=generator, device=x.device) < u
        return torch.cat([x, u[:, None]], dim=1), (y + flipped).remainder(2)


@dataclass(frozen=True)
class LastPlaceTask(LineParityTask):
    """Line parity with one answer for the whole line, that of its last place: y [batch_size]."""

    @staticmethod
    def answers(x: Tensor) -> Tensor:
        """Return the target of each line: x [batch, 2, n_places] -> [batch]."""
        return LineParityTask.answers(x)[:, -1]

    @staticmethod
    def needed_steps(x: Tensor) -> Tensor:
        """Return how many places the last segment has: [batch]."""
        return LineParityTask.needed_steps(x)[:, -1]

    @classmethod
    def best_probs(cls, x: Tensor, n_steps: int) -> Tensor:
        """Return the largest probability to be right after each step: [n_steps, batch]."""
        n = torch.arange(1, n_steps + 1, device=x.device)[:, None]
        return torch.where(n < cls.needed_steps(x), 0.5, 1.0)


class LastPlaceStep(LocalStep):
    """A `LocalStep` on a line whose last place alone answers and votes on halting."""

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch] and a_n [batch]."""
        y_hat, halt_logit = self.heads(h[..., -1:])[..., 0].unbind(1)
        return y_hat, halt_logit


class Vote(nn.Module):
    """A halting logit read from the states of all places, of which the smallest counts, or from that of the last."""

    def __init__(self, channels: int, last: bool = False) -> None:
        super().__init__()
        self.read = nn.Conv1d(channels, 1, 1)
        self.last = last

    def forward(self, h: Tensor) -> Tensor:
        """h: [batch, channels, places] -> [batch]."""
        votes = self.read(h)[:, 0]
        return votes[:, -1] if self.last else votes.amin(1)


class Problem(NamedTuple):
    """What is asked, of which step function, and how it is trained and tested."""

    task: Callable[[int], Any]  # size -> task
    step: Callable[[], nn.Module]
    judge: Callable[[], nn.Module]  # reads a halting logit from the state of such a step
    recipe: dict[str, Any]  # size and N in training, inputs in a batch, updates, learning rate, clip of the gradient
    tests: dict[str, Inputs]  # hyperparameters are chosen on "valid"
    further_tests: dict[str, Inputs]  # of networks that choose nothing
    criterion: Callable[[Tensor, Tensor], Tensor] = nn.BCEWithLogitsLoss(reduction="none")
    correct: Callable[[Tensor, Tensor], Tensor] = binary_correct


LINE_RECIPE = {"size": 16, "N": 20, "batch": 64, "updates": 1000, "lr": 5e-3, "clip": 1.0}
LATER_CAP = {"16 places, N = 40": Inputs(16, 40, 2000)}
KINDS = {"all with an answer": 0.0, "none with an answer": 1.0}
ONE_KIND = {
    f"16 places, {kind}, N = {N}": Inputs(16, N, 1000, {"fraction": fraction})
    for (kind, fraction), N in product(KINDS.items(), (20, 40))
}
LINES = Problem(
    LineParityTask,
    partial(LocalStep, 2, 32, noise=0.1),
    partial(Vote, 32),
    LINE_RECIPE,
    LINE_TESTS,
    LATER_CAP,
    loss_of_line,
    whole_lines_right,
)
ELEMENTS = Problem(
    ParityTask,
    partial(RNNStep, 8, 128),
    lambda: nn.Sequential(nn.Linear(128, 1), nn.Flatten(0)),
    {"size": 8, "N": 20, "batch": 128, "updates": 2000, "lr": 7e-3, "clip": 0.1},  # lesson 03's, made for PonderNet
    {"valid": Inputs(8, 20, 1000), "8 elements": Inputs(8, 20, 4000)},
    {},
)
THREE_CHANNELS = partial(LocalStep, 3, 32, noise=0.1)
PROBLEMS: dict[str, Problem] = {
    "lines": LINES,
    "no answer": LINES._replace(task=UnanswerableTask, step=THREE_CHANNELS, further_tests=ONE_KIND),
    "noisy teacher": LINES._replace(task=NoisyLineParityTask, step=THREE_CHANNELS),
    "one answer": Problem(
        LastPlaceTask,
        partial(LastPlaceStep, 2, 32, noise=0.1),
        partial(Vote, 32, last=True),
        LINE_RECIPE,
        LINE_TESTS,
        LATER_CAP,
    ),
    "8 elements": ELEMENTS,
    "8 elements gently": ELEMENTS._replace(recipe=ELEMENTS.recipe | {"lr": 2e-3, "clip": 1.0}),
    "8 elements clipped": ELEMENTS._replace(recipe=ELEMENTS.recipe | {"lr": 2e-3}),
    "8 elements slowly": ELEMENTS._replace(recipe=ELEMENTS.recipe | {"lr": 1e-3, "clip": 1.0}),
}
