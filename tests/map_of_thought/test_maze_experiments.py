"""What is measured of networks on mazes is what they do; news keeps to the open places, to the last bit."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ponder_course.map_of_thought import experiment as mazes
from ponder_course.map_of_thought.task import MazeTask
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


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([0.0, 0.4]))
def test_no_answer_and_no_halting_outruns_the_news(seed, n_cells, loops):
    x, _ = MazeTask(n_cells, loops=loops).batch(4, torch.Generator().manual_seed(seed))
    torch.manual_seed(seed)
    model, through_walls = PonderNet(mazes.MazeStep(6).eval(), 12), mazes.MazeStep(6, through_walls=True).eval()
    through_walls.load_state_dict(model.step.state_dict())
    turned = x.clone()
    turned[:, 1:] = x[:, 1:].flip(1)  # every star changes its colour
    with torch.no_grad():
        a, b = model(x), model(turned)
    differs = (a.y_hat != b.y_hat) | (a.halt_logits != b.halt_logits)
    heard = torch.arange(1, 13)[:, None, None, None] >= MazeTask.needed_steps(x)
    assert not differs[~heard].any()
    assert differs[heard & (x[:, 0] > 0)].any()
    z, h = through_walls.encode(x)
    assert (through_walls.move(z, h)[0] != 0).all()
    assert torch.equal(model.step.move(z, h)[0], through_walls.move(z, h)[0] * x[:, :1])
