"""How lesson 05 measures ACT on lines."""

import torch

from ponder_course.common.store import Row
from ponder_course.light_cone import experiment
from ponder_course.light_cone.task import LineParityTask
from ponder_utils.act import act_average
from ponder_utils.pondernet import PonderNet


def measure_act(model: PonderNet, task: LineParityTask, N: int, n_lines: int) -> Row:
    """Measure a network that learnt with ACT's loss on fresh lines, with N steps at most: by budget, and by the unit.

    "by_need" and the like have a value for each need from 1 on: mean steps (nan: no line), right lines, and lines.
    """
    device = next(model.parameters()).device
    x, y = (part.to(device) for part in experiment.fresh(task, n_lines))
    need = task.needed_steps(x).amax(1)  # [lines]
    output = experiment.think(model, x, N)
    act = act_average(output)
    steps, unit = act.steps[0].float(), output.halt_logits.sigmoid()  # [lines], [N, lines]
    right = experiment.whole_lines_right(act.y_hat[0], y)  # [lines]
    waiting = torch.arange(1, N + 1, device=device)[:, None] < need
    alone = model.predict(x, "threshold", q=0.5, max_steps=N)
    groups = [need == L for L in range(1, x.shape[2] + 1)]
    return {
        "by_need": [steps[group].mean().item() for group in groups],
        "right_by_need": [right[group].sum().item() for group in groups],
        "lines_by_need": [group.sum().item() for group in groups],
        "right": right.float().mean().item(),
        "unit while waiting": unit[waiting].median().item(),
        "right if stopped at a unit of 0.5": experiment.whole_lines_right(alone.y_hat, y).float().mean().item(),
    }
