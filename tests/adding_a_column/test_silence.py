"""Both needs of a sum, and who halts before the cone: against brute force and a machine made by hand."""

import pytest
import torch
from torch.nn.functional import pad

from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.research.adding_a_column import silence
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import Step


@pytest.mark.parametrize("width", [1, 4])
def test_before_its_cone_step_a_place_has_two_possible_digits_and_from_then_on_one(width):
    """All numbers, added to all running sums: what a place has not seen of the new number may be anything."""
    numbers = range(2**width)
    for total in numbers:
        for number in numbers:
            needed = silence.cone_steps(ColumnTask.digits([total, number], width))[1, 0]
            for place in range(width):
                for n in range(1, width + 2):
                    seen = sum(1 << i for i in range(width) if abs(i - place) <= n - 1)
                    possible = {(total + other) >> place & 1 for other in numbers if (other ^ number) & seen == 0}
                    assert (len(possible) == 1) == (n >= needed[place])


class Machine(Step):
    """Adds as one does by hand; each place votes to wait while it sends a carry on. Its state: digit, carry, digits."""

    def encode(self, x):
        return x, torch.zeros(len(x), 3, x.shape[2])

    def move(self, z, h):
        digit, is_new = z.unbind(1)
        total, carry, _ = h.unbind(1)
        add = torch.where(is_new > 0, digit, pad(carry[:, :-1], (1, 0)))
        carry = total * add
        goes_on = pad(carry[:, :-1], (0, 1))  # out of the last place nothing is carried
        return torch.stack([(total + add).remainder(2), carry, goes_on], 1)

    def heads(self, h):
        total, _, goes_on = h.unbind(1)
        return torch.stack([2 * total - 1, torch.where(goes_on > 0, -9.0, 9.0)], 2)

    def read(self, h):
        y_hat, vote = self.heads(h).unbind(2)
        return y_hat, vote.amin(1)


X, _ = ColumnTask(9, 6).batch(40, torch.Generator().manual_seed(1))


def test_a_machine_that_objects_while_it_carries_halts_before_the_cone_and_is_right():
    found = silence.beside_both_needs(PonderSequence(Machine(), 15), X, 15)
    carry, cone = ColumnTask.needed_steps(X)[1:], silence.cone_steps(X).amax(2)[1:]
    larger = cone > carry
    assert found["sums"] == found["right"] == carry.numel()
    assert found["steps"] == found["carry"] == pytest.approx(carry.double().mean().item())
    assert found["cone"] == pytest.approx(cone.double().mean().item())
    assert found["early"] == found["early, right"] == 0
    assert found["before the cone"] == found["before the cone, right"] == found["cone is larger"] == larger.sum() > 0
    assert found["gap"] == pytest.approx((cone - carry)[larger].double().mean().item())
    assert found["with carry"] == pytest.approx(1)
    assert found["with cone"] < 1
