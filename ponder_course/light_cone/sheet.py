"""What a problem sheet of lesson 05 asks to be written, and is run."""

from typing import Any

import torch
from torch import Tensor

from ponder_course.common.lines import LineParityTask
from ponder_course.common.training import fit
from ponder_course.light_cone.lesson import loss_of_line, whole_lines_right
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet

PLACES, N = 8, 10


@torch.no_grad()
def check_news(step: Any) -> None:
    """News goes one place to the right at every step, and never to the left; the least vote decides for the line."""
    model, x = PonderNet(step.double().eval(), N), LineParityTask(PLACES).batch(20)[0].double()
    output = model(x)
    for name, part, shape in (("answers", output.y_hat, [20, PLACES]), ("halting logits", output.halt_logits, [20])):
        got = [*part.shape[1:]]
        assert got == shape, f"for 20 lines of 8 places the {name} should be {shape}, not {got}"
    turned = x.clone()
    turned[:, 0, 2] = 1 - turned[:, 0, 2]
    changed = (model(turned).y_hat != output.y_hat).any(1).tolist()  # [N, places]
    for n, row in enumerate(changed, 1):
        reached = [place for place, differs in enumerate(row, 1) if differs]
        wanted = [*range(3, min(3 + n, PLACES + 1))]
        assert reached == wanted, (
            f"when the bit of place 3 flips, step {n} should feel it at {wanted}, not at {reached}"
        )
    for end in range(1, PLACES):
        shorter = model(x[:, :, :end]).halt_logits
        assert (output.halt_logits <= shorter + 1e-9).all(), "a longer line halts sooner: does its least vote decide?"


def check_left_step(kind: Any) -> str:
    """A step that hears from its left neighbour learns parity on lines of 8 places, and is tested on lines of 16."""
    torch.manual_seed(0)
    check_news(kind(8))

    class Noisy(kind):
        def move(self, z: Tensor, h: Tensor) -> Tensor:
            h = super().move(z, h)
            return h + 0.1 * torch.randn_like(h) if self.training else h

    task = LineParityTask(PLACES)
    loss = PonderLoss(loss_of_line, 0.4, 0.01)
    model, _ = fit(PonderNet(Noisy(32), N), loss, lambda g: task.batch(64, g), 500, lr=5e-3)
    x, y = LineParityTask(2 * PLACES).batch(300, torch.Generator().manual_seed(1))
    output = model.predict(x, "threshold", q=0.2, max_steps=3 * PLACES)
    right = whole_lines_right(output.y_hat, y).float().mean().item()
    early = (output.steps < LineParityTask.needed_steps(x).amax(1)).float().mean().item()
    learnt = f"of lines twice as long as in training {right:.0%} are right, and {early:.0%} halt before their need"
    assert right > 0.8, f"it does not learn: {learnt}"
    return f"Trained on your step, {learnt}."
