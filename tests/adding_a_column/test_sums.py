"""Sums of two numbers: the need against Python's own integers, and the lesson's machine against the package's."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.adding_a_column import experiment as sums
from ponder_course.adding_a_column.lesson import halts_at, loss_of_sums, think
from ponder_course.common.lines import AdditionTask
from ponder_course.light_cone.lesson import LocalStep, loss_of_line
from ponder_utils import PonderLoss, PonderNet


@given(st.integers(1, 20), st.integers(0, 2**20 - 1), st.integers(0, 2**20 - 1))
def test_the_need_is_that_of_carries_which_walk_one_place_a_step(places, a, b):
    a, b = a % 2**places, b % 2**places
    x = sums.binary(a, b, places)
    steps, carries = 1, a & b
    while carries := (carries << 1) % 2**places:
        steps, a, b = steps + 1, a ^ b, carries
        carries = a & b
    assert sums.needed_steps(x) == steps
    total = sum(int(digit) << place for place, digit in enumerate(AdditionTask.answers(x)[0]))
    assert total == (a ^ b) % 2**places


def test_the_machine_in_the_lesson_answers_and_halts_as_the_package_does():
    torch.manual_seed(0)
    model = PonderNet(LocalStep(2, 8), 9).eval()
    x, y = AdditionTask(6).batch(50)
    model.step.heads.bias.data[1] -= model(x).halt_logits.quantile(0.8)  # so that sums halt at different steps
    answers, votes = think(model.step, x, 9)
    output = model(x)
    assert torch.equal(answers, output.y_hat > 0)
    found = model.predict(x, "threshold", q=0.5)
    assert len(found.steps.unique()) > 2
    assert torch.equal(halts_at(votes), found.steps)
    assert torch.isclose(loss_of_sums(output, y, 0.4, 0.03), PonderLoss(loss_of_line, 0.4, 0.03)(output, y).total)


class ByHand(LocalStep):
    """Adds as one does by hand, and halts when the last carry has come. The state: digit of the sum, carry to walk."""

    def encode(self, x):
        return x, x.new_zeros(len(x), 3, x.shape[2])

    def move(self, z, h):
        total, carry, begun = h.unbind(1)
        moved = torch.cat([torch.zeros_like(carry[:, :1]), carry[:, :-1]], 1)
        first = begun == 0
        total, carry = torch.where(first, z[:, 0], total), torch.where(first, z[:, 1], moved)
        return torch.stack([(total + carry).remainder(2), total * carry, torch.ones_like(begun)], 1)

    def read(self, h):
        walks = h[:, 1].clone()
        walks[:, -1] = 0  # a carry that leaves the last place is lost
        return 2 * h[:, 0] - 1, 5 - 10 * walks.amax(1)


def test_a_machine_by_hand_is_measured_as_what_it_does():
    model = PonderNet(ByHand(2, 3), 20)
    found = sums.measure(model, 16, 300)
    assert found["right"] == found["sums"] == 300
    assert found["steps"] == found["needed"]
    assert found["early"] == found["of these wrong"] == 0
    assert found["before the cone"] == found["cone"] > 0
    assert sums.two_sums(model, 16) == {"steps": [1, 16], "right": [True, True]}
