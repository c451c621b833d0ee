"""What is measured of networks that add columns is what they do."""

import pytest
import torch
from running import NOTEBOOKS

from ponder_course.adding_a_column import experiment as columns
from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.common.local import LocalStep
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import Step

WIDTH, T = 10, 6


class Adder(Step):
    """Adds as one does by hand, and halts so many steps late; from step `forgets` on it has lost the sum.

    The state of a place: digit of the sum, carry on the move, digits that are to be added still.
    """

    def __init__(self, late=0, forgets=99):
        super().__init__()
        self.late, self.forgets = late, forgets

    def encode(self, x):
        digit, flag = x.unbind(1)
        return (digit, flag), torch.zeros(len(x), 4, x.shape[2])

    def forward(self, z, h):
        digit, flag = z
        total, carry, n, since = h.unbind(1)
        new = flag > 0
        n = torch.where(new, torch.zeros_like(n), n) + 1
        moved = torch.cat([torch.zeros_like(carry[:, :1]), carry[:, :-1]], 1)
        add = torch.where(new, digit, moved)
        carry, total = total * add, (total + add).remainder(2)
        arrives = torch.cat([carry[:, :-1], torch.zeros_like(carry[:, :1])], 1).any(1, keepdim=True)
        since = torch.where(arrives, torch.zeros_like(since), torch.where(new, 0 * since, since) + 1)
        total = torch.where(n >= self.forgets, torch.zeros_like(total), total)
        halts = since.amin(1) > self.late
        return 2 * total - 1, torch.stack([total, carry, n, since], 1), torch.where(halts, 9.0, -9.0)


def columns_of(seed=0, n_columns=30):
    return ColumnTask(WIDTH, T).batch(n_columns, torch.Generator().manual_seed(seed))[0]


@pytest.mark.parametrize("late", [0, 2])
def test_an_adder_by_hand_is_measured_as_what_it_does(late):
    found = columns.measure(PonderSequence(Adder(late), WIDTH + 10), columns_of(), WIDTH + 10, q=0.5)
    assert found["right"] == [1.0] * T
    assert found["sums"] == found["columns"] == 1
    assert found["steps"] == pytest.approx(found["needed"] + late)
    assert found["correlation"] == pytest.approx(1)
    assert found["early"] == 0
    need = ColumnTask.needed_steps(columns_of())[1:]
    for n, (count, steps, right) in found["by_need"].items():
        assert (count, steps, right) == (int((need == n).sum()), n + late, 1)


def test_who_forgets_is_right_if_it_halts_and_wrong_if_it_takes_all_steps():
    model = PonderSequence(Adder(forgets=12), 20)
    assert columns.measure(model, columns_of(), 20, q=0.5)["columns"] == 1
    found = columns.measure(model, columns_of(), 20, "fixed", step=20)
    y, need = ColumnTask.answers(columns_of()), ColumnTask.needed_steps(columns_of())[1:]
    assert found["right"] == pytest.approx((y == 0).all(2).double().mean(1).tolist())
    assert found["correlation"] == 0
    assert found["steps"] == 20
    early = columns.measure(model, columns_of(), 20, "fixed", step=2)
    assert early["early"] == pytest.approx((need > 2).double().mean().item())
    assert early["sums"] < 1


def test_votes_are_those_of_each_place_until_the_least_of_them_halts_it():
    torch.manual_seed(0)
    model = PonderSequence(columns.ColumnStep(6), 9).eval()
    with torch.no_grad():
        model.step.heads.weight[1] *= 8  # so that columns differ
        model.step.heads.bias[1] = 3.0
    x = columns.draw_columns(5, 3, 20)
    votes, (answer, _) = columns.votes_at_the_last(model, x, 9), columns.halt(model, x, 9, q=0.5)
    output, _ = model.unroll(x, rule="threshold", q=0.5)
    for column, of_column in enumerate(votes):
        steps = int(answer.steps[-1, column])
        assert of_column.shape == (steps, 5)
        torch.testing.assert_close(of_column.amin(1), output.halt_logits[:steps, 2 * 20 + column])
    assert len({len(of_column) for of_column in votes}) > 1


def test_the_step_is_a_local_step_with_channels_last():
    torch.manual_seed(0)
    ours, local = columns.ColumnStep(6).double(), LocalStep(2, 6).double()
    with torch.no_grad():
        local.from_x.weight[:, :, 0] = ours.from_x.weight
        local.from_h.weight[:] = ours.from_h.weight.view(6, 3, 6).mT
        local.heads.weight[:, :, 0] = ours.heads.weight
        for name in ("from_x", "from_h", "heads"):
            getattr(local, name).bias[:] = getattr(ours, name).bias
    x = torch.randn(5, 2, 7, dtype=torch.float64)
    (z, h), (z_local, h_local) = ours.encode(x), local.encode(x)
    for _ in range(4):
        y_hat, h, a = ours(z, h)
        y_local, h_local, a_local = local(z_local, h_local)
        torch.testing.assert_close((y_hat, h, a), (y_local, h_local.mT, a_local))


def test_the_lesson_trains_the_networks_that_are_stored():
    """Phase by phase, with noise in each: a network that evaluates when the next phase begins would lose it."""
    phases = [[3, 4, 2, 6, 8, 3, 5e-3, 0.15, 0.1], [3, 5, 3, 7, 8, 3, 3e-3, 0.8, 0.03]]
    names = {"phases": phases, "channels": columns.CHANNELS, "device": "cpu", "columns": columns}
    for code in [cell.source for cell in NOTEBOOKS["09_adding_a_column"] if cell.cell_type == "code"]:
        if any(text in code for text in ("import ponder_utils", "class ColumnStep", "def train_phase")):
            exec(code, names)
        elif "def learn(" in code:
            exec(code.split("seeds = ")[0], names)
    of_the_lesson, stored = names["learn"](3), columns.learn(3, phases=phases)
    for ours, theirs in zip(of_the_lesson.parameters(), stored.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert not of_the_lesson.step.training
