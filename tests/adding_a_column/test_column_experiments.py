"""What is measured of networks that add columns is what they do."""

import pytest
import torch

from ponder_course.adding_a_column import experiment as columns
from ponder_course.adding_a_column.task import ColumnTask
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import Step

WIDTH, T = 10, 6


class Adder(Step):
    """Adds as one does by hand, and halts so many steps late.

    The state of a place: digit of the sum, carry on the move, digits that are to be added still.
    """

    def __init__(self, late):
        super().__init__()
        self.late = late

    def encode(self, x):
        digit, flag = x.unbind(1)
        return (digit, flag), torch.zeros(len(x), 3, x.shape[2])

    def forward(self, z, h):
        digit, flag = z
        total, carry, since = h.unbind(1)
        new = flag > 0
        moved = torch.cat([torch.zeros_like(carry[:, :1]), carry[:, :-1]], 1)
        add = torch.where(new, digit, moved)
        carry, total = total * add, (total + add).remainder(2)
        arrives = torch.cat([carry[:, :-1], torch.zeros_like(carry[:, :1])], 1).any(1, keepdim=True)
        since = torch.where(arrives, torch.zeros_like(since), torch.where(new, 0 * since, since) + 1)
        halts = since.amin(1) > self.late
        return 2 * total - 1, torch.stack([total, carry, since], 1), torch.where(halts, 9.0, -9.0)


@pytest.mark.parametrize("late", [0, 2])
def test_an_adder_by_hand_is_measured_as_what_it_does(late):
    x, _ = ColumnTask(WIDTH, T).batch(30, torch.Generator().manual_seed(0))
    found = columns.measure(PonderSequence(Adder(late), WIDTH + 10), x, WIDTH + 10, q=0.5)
    assert found["right"] == [1.0] * T
    assert found["sums"] == found["columns"] == 1
    assert found["steps"] == pytest.approx(found["needed"] + late)
    assert found["correlation"] == pytest.approx(1)
    assert found["early"] == 0
    need = ColumnTask.needed_steps(x)[1:]
    for n, (count, steps, right) in found["by_need"].items():
        assert (count, steps, right) == (int((need == n).sum()), n + late, 1)
