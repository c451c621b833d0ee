"""What the exercises of lesson 05 are checked for; each assertion says what is wrong with an answer."""

from typing import Any

import torch
from torch import Tensor

from ponder_course.common.lines import LineParityTask
from ponder_course.common.local import LocalStep, light_cone
from ponder_course.common.notebook import check_on
from ponder_course.light_cone.experiment import changed
from ponder_utils.pondernet import PonderNet

check_steps_needed = check_on(
    ([1, 0, 0, 0], [1, 2, 3, 4]),
    ([1, 1, 1], [1, 1, 1]),
    ([1, 0, 1, 0, 0, 1], [1, 2, 1, 2, 3, 1]),
)


def check_gossip(answer: Any) -> None:
    """An answer outside the light cone changes, and not by chance."""

    class Leaky(LocalStep):
        def move(self, z: Tensor, h: Tensor) -> Tensor:
            h = super().move(z, h)
            return h + answer(h)

    torch.manual_seed(0)
    model, x = PonderNet(Leaky(2, 8), 12).eval(), LineParityTask(12).batch(8)[0]
    assert torch.equal(model(x).y_hat, model(x).y_hat), "no nan and no chance, please"
    for place in (0, 6, 11):
        if changed(model, x, place)[~light_cone((place,), (12,), 12)].any():
            return
    raise AssertionError("nothing outside the cone has changed")


NEWS = {kernel: (1 + (~light_cone((0,), (21,), 25, kernel)).sum(0)).tolist() for kernel in (3, 5, 7)}  # by distance
check_step_of_news = check_on(
    *((far, kernel, step) for kernel, steps in NEWS.items() for far, step in enumerate(steps))
)


def check_oracle_accuracy(answer: Any) -> None:
    """Fifty lines, each at the step that it needs."""
    generator = torch.Generator().manual_seed(0)
    right = torch.rand(9, 50, generator=generator) < torch.arange(1, 10)[:, None] / 10
    need = torch.randint(1, 10, (50,), generator=generator)
    expected = right[need - 1, torch.arange(50)].double().mean().item()
    got = float(answer(right, need))
    assert abs(got - expected) < 1e-6, f"expected {expected:.3f}, got {got:.3f}"
