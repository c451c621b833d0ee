"""Lines whose halting step may carry a bit of their answer, and what stored networks make of it (lesson 05).

Lines that are one segment of `places` need L = places steps, and lines of lesson 05 as many as their longest segment.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ponder_course.common.lines import LineParityTask
from ponder_course.common.store import Row
from ponder_utils.local import LocalStep

LINES: dict[str, Callable[[int], LineParityTask]] = {
    "one segment": partial(LineParityTask, rate=0.0),
    "lesson 05": LineParityTask,
}


def fresh_lines(lines: str, places: int) -> Tensor:
    """Return all lines of one segment of at most 12 places, else 4,096 that are drawn: x."""
    if lines == "one segment" and places <= 12:
        bits = torch.arange(2**places)[:, None] >> torch.arange(places) & 1
        resets = torch.zeros_like(bits)
        resets[:, 0] = 1
        return torch.stack([bits, resets], dim=1).float()
    return LINES[lines](places).batch(4096, torch.Generator().manual_seed(0))[0]


def longest_segment(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the first place of each line's longest segment, the first of equals, and its length L: [lines] each."""
    length, end = LineParityTask.needed_steps(x).max(1)
    return end - length + 1, length


def first_bit_turned(x: Tensor) -> Tensor:
    """Return the lines with the bit at the first place of their longest segment turned."""
    start, _ = longest_segment(x)
    line, turned = torch.arange(len(x)), x.clone()
    turned[line, 0, start] = 1 - turned[line, 0, start]
    return turned


@torch.no_grad()
def votes(step: LocalStep, x: Tensor, n_steps: int) -> Tensor:
    """Return the halting logit at every place of a network with a shared vote: [n_steps, batch, places]."""
    z, h = step.encode(x)
    found = []
    for _ in range(n_steps):
        h = step.move(z, h)
        found.append(step.heads(h)[:, 1])
    return torch.stack(found)


def at_own_length(row: Row) -> Row:
    """Return what a run has measured on lines as long as those of its training."""
    return row["tests"][str(row["places"])]


def has_learnt(row: Row) -> bool:
    """Return whether a network is right on 95 % of the lines, stopped by its threshold or at its best fixed step."""
    found = at_own_length(row)
    return max(found["rules"]["threshold"]["right"], *found["by_step"]) >= 0.95


def speaks(row: Row) -> bool:
    """Return whether a network halts one line in ten before L or more, and is right on 95 % of those."""
    found = at_own_length(row)["rules"]["threshold"]
    return found["early"] >= 0.1 and found["right_early"] >= 0.95
