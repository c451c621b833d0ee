"""What a problem sheet of lesson 07 asks to be written, and is run."""

from typing import Any

import torch
from torch import Tensor

from ponder_course.common.training import fit
from ponder_course.map_of_thought.lesson import loss_of_places
from ponder_course.map_of_thought.task import MazeTask, distances
from ponder_utils.pondernet import PonderNet

N = 8


@torch.no_grad()
def check_news(step: Any) -> None:
    """News of a star goes one move a step, through open places alone."""
    x, _ = MazeTask(4, max_stars=1).batch(5, torch.Generator().manual_seed(2))
    model, x = PonderNet(step.double().eval(), N), x.double()
    output = model(x)
    for name, part in (("answers", output.y_hat), ("halting logits", output.halt_logits)):
        got = [*part.shape[1:]]
        assert got == [5, 7, 7], f"for 5 mazes of 7 x 7 places the {name} should be [5, 7, 7], not {got}"
    other_colour = x[:, [0, 2, 1]]
    changed = model(other_colour).y_hat != output.y_hat  # [N, mazes, height, width]
    is_open = x[:, 0] > 0
    far = distances(x[:, 0], x[:, 1:].amax(1))
    for n in range(1, N + 1):
        felt, reached = changed[n - 1] & is_open, (far < n) & is_open
        beyond = "its news is too fast, or goes through walls"
        assert not (felt & ~reached).any(), f"step {n} feels a star at more than {n - 1} moves: {beyond}"
        assert not (reached & ~felt).any(), f"step {n} does not feel a star that is at most {n - 1} moves away"


def check_maze_step(kind: Any) -> str:
    """A step whose news goes round walls learns on mazes of 3 x 3 cells, and is tested on 6 x 6."""
    torch.manual_seed(0)
    check_news(kind(8))

    class Noisy(kind):
        def move(self, z: Any, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            noise = 0.1 * torch.randn_like(state[0]) if self.training else 0
            return super().move(z, (state[0] + noise * state[1], state[1]))

    task = MazeTask(3)
    model, _ = fit(PonderNet(Noisy(32), N), loss_of_places, lambda g: task.batch(32, g), 300, lr=5e-3)
    x, y = MazeTask(6).batch(50, torch.Generator().manual_seed(1))
    asked = y >= 0
    output = model.predict(x, "threshold", q=0.5, max_steps=40)
    right = ((output.y_hat > 0) == (y > 0.5))[asked].float().mean().item()
    early = (output.steps < MazeTask.needed_steps(x))[asked].float().mean().item()
    learnt = f"of places in mazes of 6 x 6 cells {right:.1%} are right, and {early:.1%} halt before their need"
    assert right > 0.9, f"trained on mazes of 3 x 3 cells it does not learn: {learnt}"
    return f"Trained on mazes of 3 x 3 cells, your step does this: {learnt}."
