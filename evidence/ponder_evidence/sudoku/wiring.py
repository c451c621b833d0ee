"""Other wirings for lesson 10: sums or means in place of maxima, and weights apart for each kind of group."""

from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.common.measures import think
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.sudoku.cover import Groups
from ponder_course.sudoku.experiment import learn, measure
from ponder_course.sudoku.lesson import CoverStep, others
from ponder_course.sudoku.task import sudoku_groups
from ponder_evidence.runs import grid
from ponder_evidence.sudoku.experiment import REPORTING, SHORT, SMALL, TESTS
from ponder_utils.pondernet import PonderNet


class SumStep(CoverStep):
    """Every place hears the sum of the others' states, in groups that all have as many places."""

    divides = False

    def message(self, h: Tensor) -> Tensor:
        """Return m, [batch, places, channels]."""
        members = self.groups.members
        grouped = h[:, members]  # [batch, groups, size, channels]
        of_others = (grouped.sum(2, keepdim=True) - grouped) / (members.shape[1] - 1 if self.divides else 1)
        heard = self.heard(of_others.flatten(1, 2)[:, self.groups.slots])
        return torch.relu(self.own(h)[:, :, None] + heard).amax(2)


class MeanStep(SumStep):
    """Every place hears the mean of the others' states."""

    divides = True


class ApartStep(CoverStep):
    """Each kind of group has weights of its own: the digits of a cell, and a digit in a row, a column, and a box."""

    def __init__(self, groups: Groups, channels: int, noise: float = 0.0) -> None:
        super().__init__(groups, channels, noise)
        kinds = groups.slots.shape[1]
        self.own, self.heard = nn.Linear(channels, kinds * channels), nn.Linear(channels, kinds * channels)

    def message(self, h: Tensor) -> Tensor:
        """Return m, [batch, places, channels]."""
        kinds = self.groups.slots.shape[1]
        heard = self.heard(others(h, self.groups)).unflatten(3, (kinds, -1))
        of_the_kind = heard.diagonal(dim1=2, dim2=3).movedim(3, 2)  # [batch, places, kinds, channels]
        own = self.own(h).unflatten(2, (kinds, -1))
        return torch.relu(own + of_the_kind).amax(2)


WIRINGS = {"maximum": CoverStep, "sum": SumStep, "mean": MeanStep, "weights apart": ApartStep}


def run(wiring: str, seed: int, tests: list[str], **setting: Any) -> Row:
    """Train a network of one of `WIRINGS` and measure it: {test: what `measure` returns}."""
    model, measures = learn(seed, step=WIRINGS[wiring], **setting), {}
    for name in tests:
        task, n_boards, N = TESTS[name]
        x, _ = task.batch(n_boards, torch.Generator().manual_seed(100))
        step = WIRINGS[wiring](sudoku_groups(task.box), 24)
        step.load_state_dict(model.step.state_dict())
        measures[name] = measure(think(PonderNet(step, N), x, N), x)
    return rounded(measures)


OTHERS: list[Row] = [SMALL | {"wiring": wiring} for wiring in WIRINGS if wiring != "maximum"]
EXPERIMENTS = {"wiring": grid("10_sudoku_wiring", run, seeded(OTHERS, REPORTING[:5]), SHORT, n_short=len(OTHERS))}
