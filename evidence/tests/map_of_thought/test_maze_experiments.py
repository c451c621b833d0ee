"""What is measured of networks on mazes is what they do; without the mask, news goes through walls."""

import numpy as np
import pytest
import torch
from drawn import lines_of

from ponder_course.common.style import HALTING
from ponder_course.map_of_thought.lesson import MazeStep
from ponder_course.map_of_thought.task import MazeTask
from ponder_evidence.map_of_thought import experiment as mazes
from ponder_evidence.map_of_thought import figures as draw
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import Step


class Oracle(Step):
    """Knows the answer of each place `late` steps after its need, and halts then."""

    def __init__(self, late):
        super().__init__()
        self.late = late

    def encode(self, x):
        y, needed = MazeTask.answers(x), MazeTask.needed_steps(x)
        return (y, needed + self.late), torch.zeros(len(x), 1)

    def forward(self, z, h):
        y, stop = z
        h = h + 1
        knows = h[..., None] >= stop
        return torch.where(knows, 2 * y - 1, 1 - 2 * y), h, torch.where(knows, 30.0, -30.0)


@pytest.mark.parametrize("late", [-1, 0, 2])
def test_an_oracle_is_measured_as_what_it_does(late):
    x, _ = MazeTask(3).batch(40, torch.Generator().manual_seed(5))
    found = mazes.measure(PonderNet(Oracle(late), 30), x, 30)
    asked = MazeTask.answers(x) >= 0
    needed = MazeTask.needed_steps(x)[asked]
    steps = (needed + late).clamp(min=1)
    assert found["early"] == pytest.approx((steps < needed).float().mean().item())
    assert found["steps"] == pytest.approx(steps.float().mean().item())
    assert found["needed"] == pytest.approx(needed.float().mean().item())
    assert found["by_need"] == {n: [(needed == n).sum(), max(1, n + late)] for n in needed.unique().tolist()}
    known = [(needed + late <= n).float().mean().item() for n in range(1, 31)]
    assert found["by_step"]["places"] == pytest.approx(known)
    assert found["by_step"]["mazes"][-1] == 1
    if late >= 0:
        assert found["places"] == found["mazes"] == 1
        assert found["correlation"] == pytest.approx(1)


def test_news_goes_through_walls_that_are_only_a_part_of_the_input():
    x, _ = MazeTask(4).batch(4, torch.Generator().manual_seed(0))
    masked, through_walls = MazeStep(6).eval(), mazes.ThroughWalls(6).eval()
    masked.load_state_dict(through_walls.state_dict())
    z, h = through_walls.encode(x)
    state, is_open = through_walls.move(z, h)
    assert (state != 0).all()
    assert torch.equal(is_open, x[:, :1])
    assert torch.equal(masked.move(z, h)[0], state * is_open)


def test_steps_stand_against_need_and_below_what_they_are_too_many():
    above, below = draw.against_need([{1: 1.0, 2: 2.5, 30: 31.0}, {1: 1.5, 2: 2.1, 30: 12.0}], 21).axes
    steps = [[[1, 1], [2, 2.5], [30, 31]], [[1, 1.5], [2, 2.1], [30, 12]]]
    np.testing.assert_allclose(lines_of(above, HALTING), steps)
    too_many = [[[1, 0], [2, 0.5], [30, 1]], [[1, 0.5], [2, 0.1], [30, -18]]]
    np.testing.assert_allclose(lines_of(below, HALTING), too_many)
