"""Stored runs of lesson 09: how its networks were trained and measured."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from ponder_course.adding_a_column.experiment import TESTS, measure, two_sums
from ponder_course.adding_a_column.lesson import learn
from ponder_course.common.lines import AdditionTask
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.light_cone.lesson import LocalStep
from ponder_evidence.runs import grid


class MeanVote(LocalStep):
    """A `LocalStep` whose halting logit is the mean vote: one place that objects is outvoted."""

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [sums, places], and a_n [sums]."""
        y_hat, votes = self.heads(h).unbind(1)
        return y_hat, votes.mean(1)


class TravellingVote(LocalStep):
    """A `LocalStep` that halts when its last place says so; an objection reaches that place by one place a step.

    The last place takes the least of the votes that reach it: that of a place i places away is i steps old.
    """

    def encode(self, x: Tensor) -> tuple[Tensor, Any]:
        """Return z and the first state: (h, the least vote that has come into each place)."""
        z, h = super().encode(x)
        return z, (h, torch.full_like(h[:, 0], torch.inf))

    def move(self, z: Tensor, h: Any) -> Any:
        """Return the next state."""
        state = super().move(z, h[0])
        from_the_right = pad(h[1][:, :-1], (1, 0), value=torch.inf)
        return state, torch.minimum(self.heads(state)[:, 1], from_the_right)

    def read(self, h: Any) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [sums, places], and a_n [sums]."""
        return self.heads(h[0])[:, 0], h[1][:, -1]


STEPS = {"least": LocalStep, "mean": MeanVote, "travelling": TravellingVote}


def run(seed: int, vote: str = "least", updates: int = 1000, n_sums: int = 1000) -> Row:
    """Train a network by the lesson's recipe, its halting logit the least vote, the mean, or one that travels.

    {places of the test: what `measure` found, and "pair": see `two_sums`}.
    """
    torch.manual_seed(seed)
    model = learn(STEPS[vote](2, 32, noise=0.1), AdditionTask(16, rate=None), 20, updates, seed)
    tests = {places: measure(model, places, n_sums) | {"pair": two_sums(model, places)} for places in TESTS}
    return rounded({"tests": tests})


SHORT: Row = {"updates": 6, "n_sums": 20}
CONTROLS = seeded([{"vote": "travelling"}], 5) + seeded([{"vote": "mean"}], 5)
EXPERIMENTS = {  # settings were chosen with seeds from 100 on
    "sums": grid("09_columns_sums", run, seeded([{"vote": "least"}], 10), SHORT),
    "votes": grid("09_columns_votes", run, CONTROLS, SHORT, n_short=2),
}
