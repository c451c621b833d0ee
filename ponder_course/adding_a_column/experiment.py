"""What is measured of networks that add a column of numbers, on longer and wider columns."""

from typing import Any

import torch
from torch import Tensor

from ponder_course.adding_a_column.lesson import ColumnStep
from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.common.measures import by_group, halting_report, mean
from ponder_course.common.store import Row
from ponder_utils.halting import PonderOutput
from ponder_utils.pondernet import Prediction
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import Step

WIDTH, WIDE = 16, 64  # the widest in training, and four times that
LENGTH = 8  # numbers in a column, at most, in training


def halt(
    model: PonderSequence, x: Tensor, N: int, rule: str = "threshold", **parameters: Any
) -> tuple[Prediction, Tensor]:
    """Return what a network answers to columns x, and which of its whole sums are right: bool [T, batch]."""
    answer = model.eval().predict(x, rule, max_steps=N, **parameters)
    return answer, ((answer.y_hat > 0) == (ColumnTask.answers(x) > 0.5)).all(2)


def measure(model: PonderSequence, x: Tensor, N: int, rule: str = "threshold", **parameters: Any) -> Row:
    """Return how right a network is on columns x [T, batch, 1, width], and in how many steps, by a halting rule.

    "right": the fraction of whole sums that are right, at each time step, [T]; "sums" is their mean, and "columns" the
    fraction of columns without a wrong sum. "steps", "needed", "early", "correlation" leave out the first number, which
    needs no carry; so does "by_need", {need: [sums, mean steps, fraction right]}.
    """
    needed = ColumnTask.needed_steps(x)
    answer, right = halt(model, x, N, rule, **parameters)
    steps, need = answer.steps[1:], needed[1:]
    by_need = by_group(need, steps=steps, right=right[1:])
    return {
        "right": right.double().mean(1).tolist(),
        "sums": mean(right),
        "columns": mean(right.all(0)),
        **halting_report(steps, need),
        "by_need": {n: [*row.values()] for n, row in by_need.items()},
    }


def draw_columns(width: int, numbers: int, n_columns: int, rate: float | None = None) -> Tensor:
    """Draw the columns of a test: x [numbers, n_columns, 1, width]."""
    return ColumnTask(width, numbers, rate).batch(n_columns, torch.Generator().manual_seed(100))[0]


class Votes(Step):
    """A `ColumnStep` that gives the vote of each place in place of the answers."""

    def __init__(self, step: ColumnStep) -> None:
        super().__init__()
        self.step = step

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """As the step does it."""
        return self.step.encode(x)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """As the step does it."""
        return self.step.move(z, h)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vote of each place, [batch, width], and a_n [batch], the least of them."""
        votes = self.step.heads(h)[:, :, 1]
        return votes, votes.amin(1)


@torch.no_grad()
def votes(model: PonderSequence, x: Tensor, N: int) -> PonderOutput:
    """Return what a network does at columns x in N steps at each number, with the votes of the places as answers."""
    return PonderSequence(Votes(model.step), N).eval()(x, "threshold", q=0.5)


def votes_at_the_last(model: PonderSequence, x: Tensor, N: int) -> list[Tensor]:
    """Return how the places vote at the last number of each of the columns x, until it halts: [steps, width] each."""
    steps = halt(model, x, N, q=0.5)[0].steps[-1].tolist()
    at_the_last = votes(model, x, N).y_hat[:, -len(steps) :]
    return [at_the_last[:n, column] for column, n in enumerate(steps)]


def has_learnt(row: Row) -> bool:
    """Return whether a network that was measured has 99 % of the sums right at the width and length of training."""
    return row["trained"]["right"][LENGTH - 1] >= 0.99
