"""The judges of 2025 with their controls, and what is measured of them. How they learn stands in `lesson`.

HRM (Wang et al. 2025, arXiv:2506.21734) learns two values, Q of halting now and Q of going on; TRM (Jolicoeur-Martineau
2025, arXiv:2510.04871) the first alone. Theirs are transformers on puzzles: a segment of many layers is one step here.
Theirs read Q from one token, which hears all others; here it is P(all places are right), a product over places.
"""

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ponder_course.common.measures import at_step, halting_report, mean
from ponder_course.common.store import Row
from ponder_course.judges import lesson
from ponder_course.judges.lesson import JudgedLine, Recipe, halting_steps, hrm_loss, trm_loss
from ponder_course.judges.task import SumTask, lines_right
from ponder_utils._check import check_choice

MAX_OPEN = 4  # open places for which Q of halting is kept


class MeanLine(JudgedLine):
    """Reads the values of a whole line from the mean of all states. At first nobody halts: the bias is theirs, -5."""

    def __init__(self, n_values: int, n_q: int) -> None:
        super().__init__(n_values, n_q)
        for bias in list(self.judge.parameters())[1:]:
            nn.init.constant_(bias, -5.0)

    def q_logits(self, h: Tensor) -> Tensor:
        """Return the logits of Q of halting and, if it is learnt, of going on: [n_q, batch]."""
        return self.judge(h).mean(2).T


HEADS = {"product": JudgedLine, "mean": MeanLine}


def learn(
    judge: str, n_values: int, discount: float, price: float, seed: int, recipe: Row, head: str, refill: bool
) -> JudgedLine:
    """Train a step with the judge of "TRM" or "HRM" and one of HEADS, on lines of recipe["size"] places.

    refill: a line that halts makes room for a fresh one; otherwise all lines take N steps.
    """
    torch.manual_seed(seed)
    step = HEADS[check_choice("head", head, tuple(HEADS))](n_values, 2 if judge == "HRM" else 1)
    task = SumTask(recipe["size"], n_values=n_values)
    how = Recipe(recipe["updates"], recipe["N"], recipe["batch"], recipe["lr"])
    loss_of = partial(hrm_loss, gamma=discount, price=price) if judge == "HRM" else trm_loss
    return lesson.learn(loss_of, step, task, how, refill)


class Thought(NamedTuple):
    """What a step says of some lines at each of N steps."""

    right: Tensor  # [N, lines] bool: all places of the line are right
    q_logits: Tensor  # [N, n_q, lines]


@torch.no_grad()
def think(step: JudgedLine, x: Tensor, y: Tensor, N: int) -> Thought:
    """Let lines x [lines, 2, places] think for N steps."""
    z, h = step.encode(x)
    right, q_logits = [], []
    for _ in range(N):
        h = step.move(z, h)
        right.append(lines_right(step.answer(h).mT, y))
        q_logits.append(step.q_logits(h))
    return Thought(torch.stack(right), torch.stack(q_logits))


def measure(step: JudgedLine, x: Tensor, y: Tensor, N: int) -> Row:
    """Return when lines halt by the step's own rule, and whether they are right.

    Of lines: "steps", "needed", "early" and "correlation" as in `halting_report`; "on_time", at the very step; "right",
    when they halt; "right_early", of the early ones (None: there is none); "at_need" and "at_N", right if all halted at
    their need, or at N. "yes": the mean Q of halting, over lines and steps with 0 to MAX_OPEN open places, which have
    not heard the start of their segment. "ahead": the median of Q of halting less Q of going on from the need on (None
    where one Q is learnt).
    """
    thought = think(step, x, y, N)
    steps = halting_steps(thought.q_logits)
    by_place = SumTask.needed_steps(x)
    need, n = by_place.amax(1), torch.arange(1, N + 1)[:, None]
    q, n_open = thought.q_logits.movedim(1, 0).sigmoid(), (by_place > n[..., None]).sum(2)  # [n_q, N, lines], ...
    halted_right, early = at_step(thought.right, steps), steps < need
    return halting_report(steps, need) | {
        "right": mean(halted_right),
        "on_time": mean(steps == need),
        "right_early": mean(halted_right[early]) if early.any() else None,
        "at_need": mean(at_step(thought.right, need)),
        "at_N": mean(thought.right[-1]),
        "yes": [mean(q[0][n_open == k]) for k in range(MAX_OPEN + 1)],
        "ahead": (q[0] - q[1])[n >= need].median().item() if len(q) == 2 else None,
    }
