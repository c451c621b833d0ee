"""What the exercises of lesson 05 are checked for; each assertion says what is wrong with an answer."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ponder_course.common.lines import LineParityTask
from ponder_course.common.local import light_cone
from ponder_course.common.notebook import check_on
from ponder_course.light_cone.experiment import changed
from ponder_course.light_cone.lesson import LocalStep
from ponder_utils.pondernet import PonderNet

check_steps_needed = check_on(
    ([1, 0, 0, 0], [1, 2, 3, 4]),
    ([1, 1, 1], [1, 1, 1]),
    ([1, 0, 1, 0, 0, 1], [1, 2, 1, 2, 3, 1]),
)


class Leaky(LocalStep):
    """A step at which each state also gets what `gossip` makes of all of them."""

    def __init__(self, channels: int, gossip: Callable[[Tensor], Tensor]) -> None:
        super().__init__(2, channels)
        self.gossip = gossip

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the next state."""
        h = super().move(z, h)
        return h + self.gossip(h)


def check_gossip(answer: Any) -> None:
    """An answer outside the light cone changes, and not by chance."""
    torch.manual_seed(0)
    model, x = PonderNet(Leaky(8, answer), 12).eval(), LineParityTask(12).batch(8)[0]
    assert torch.equal(model(x).y_hat, model(x).y_hat), "no nan and no chance, please"
    for place in (0, 6, 11):
        if changed(model, x, place)[~light_cone((place,), (12,), 12)].any():
            return
    raise AssertionError("nothing outside the cone has changed")


NEWS = {kernel: (1 + (~light_cone((0,), (21,), 25, kernel)).sum(0)).tolist() for kernel in (3, 5, 7)}  # by distance
check_step_of_news = check_on(
    *((far, kernel, step) for kernel, steps in NEWS.items() for far, step in enumerate(steps))
)
