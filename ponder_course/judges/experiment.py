"""The judges of 2025: halting heads that learn while lines halt by them, from one step of thought at a time.

HRM (Wang et al. 2025, arXiv:2506.21734) learns two values, Q of halting now and Q of going on; TRM (Jolicoeur-Martineau
2025, arXiv:2510.04871) the first alone. Both train as they will halt: after each step the state is detached and the
network learns from that step; a line that halts makes room for a fresh one; and with probability EXPLORE it may not
halt before a step that is drawn. Theirs are transformers on puzzles: a segment of many layers is one step here. Theirs
read Q from one token, which hears all others; here it is P(all places are right), a product over places.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, logsigmoid, one_hot

from ponder_course.common.measures import at_step, halting_report, mean
from ponder_course.common.store import Row
from ponder_course.judges.task import SumTask, lines_right
from ponder_utils._check import check_choice
from ponder_utils.steps import Step
from ponder_utils.training import cool_down

CHANNELS, NOISE = 32, 0.1  # lesson 05's
EXPLORE, WEIGHT = 0.1, 0.5  # theirs: how often a line must think for longer, and the weight of a head's loss
HEADS = ("product", "mean")
MAX_OPEN = 4  # open places for which Q of halting is kept
Lines = tuple[Tensor, Tensor]  # x [batch, 2, places], y [batch, places]


class JudgedLine(Step):
    """Lesson 05's step with an answer of `n_values` logits at each place, and `n_q` values of the whole line.

    head: a value is the "product" of a probability at each place; or it is read from the "mean" of all states. At first
    nobody halts: by the product a whole line is hardly ever right, and the mean's bias is HRM's and TRM's, -5.
    """

    def __init__(self, n_values: int, n_q: int, head: str = "product") -> None:
        super().__init__()
        self.from_x = nn.Conv1d(n_values + 1, CHANNELS, 1)
        self.from_h = nn.Conv1d(CHANNELS, CHANNELS, 3, padding=1)
        self.n_values = n_values
        self.head = check_choice("head", head, HEADS)
        self.answer = nn.Conv1d(CHANNELS, n_values, 1)
        self.judge = nn.Conv1d(CHANNELS, n_q, 1)
        for name, weight in self.judge.named_parameters():
            nn.init.constant_(weight, -5.0 if (head, name) == ("mean", "bias") else 0.0)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_x * x and a state of zeros for values and resets x [batch, 2, places]."""
        values = one_hot(x[:, 0].long(), self.n_values).movedim(2, 1)
        z = self.from_x(torch.cat([values, x[:, 1:]], dim=1))
        return z, torch.zeros_like(z)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the next state."""
        h = torch.tanh(self.from_h(h) + z)
        return h + NOISE * torch.randn_like(h) if self.training else h

    def q_logits(self, h: Tensor) -> Tensor:
        """Return the logits of Q of halting and, if it is learnt, of going on: [n_q, batch]."""
        if self.head == "mean":
            return self.judge(h).mean(2).T
        log_q = logsigmoid(self.judge(h)).sum(2).clamp(max=-1e-30)  # of a product over places: [batch, n_q]
        return (log_q - torch.log(-torch.expm1(log_q))).T

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, places, n_values], and a_n [batch]: see `wish_to_halt`."""
        return self.answer(h).mT, wish_to_halt(self.q_logits(h))


def wish_to_halt(q_logits: Tensor) -> Tensor:
    """Return a logit that is above 0 where a line halts: [n_q, batch] -> [batch].

    TRM halts where Q is above 1/2; HRM where Q of halting is above Q of going on.
    """
    return q_logits[0] if len(q_logits) == 1 else q_logits[0] - q_logits[1]


def value_of_going_on(next_q_logits: Tensor, is_last: Tensor, discount: float, price: float) -> Tensor:
    """Return HRM's target for Q of going on, [batch]: the larger Q after one more step, at the last step that of
    halting.

    next_q_logits: [2, batch]. HRM has a discount of 1 and a price of 0: a step costs nothing.
    """
    best = torch.where(is_last, next_q_logits[0], next_q_logits.amax(0)).sigmoid()
    return (discount * best - price).clamp(min=0)


class Slots(NamedTuple):
    """A batch of lines that are thought about: each has its own state, and has taken its own number of steps."""

    x: Tensor  # [batch, 2, places]
    y: Tensor  # [batch, places]
    h: Tensor  # [batch, channels, places]
    n: Tensor  # [batch]


def filled(lines: Lines) -> Slots:
    """Return slots with these lines, which have not thought yet."""
    x, y = lines
    n = torch.zeros(len(x), dtype=torch.int64, device=x.device)
    return Slots(x, y, torch.zeros(len(x), CHANNELS, x.shape[2], device=x.device), n)


def refilled(slots: Slots, leaves: Tensor, lines: Lines) -> Slots:
    """Return the slots with fresh lines where one leaves: leaves [batch], bool."""
    parts = []
    for new, old in zip(filled(lines), slots, strict=True):
        parts.append(torch.where(leaves.view(-1, *[1] * (old.ndim - 1)), new, old))
    return Slots(*parts)


def who_leaves(q_logits: Tensor, n: Tensor, N: int) -> Tensor:
    """Return which lines halt, but for those that must explore, and which have taken N steps: [batch], bool."""
    explores = torch.rand(n.shape, device=n.device) < EXPLORE
    at_least = torch.where(explores, torch.randint(2, N + 1, n.shape, device=n.device), 0)
    return ((wish_to_halt(q_logits) > 0) & (n >= at_least)) | (n == N)


def learn(
    judge: str, n_values: int, discount: float, price: float, seed: int, recipe: Row, head: str, refill: bool
) -> JudgedLine:
    """Train a step with the judge of "TRM" or "HRM", an update for each step of thought of a batch of lines.

    refill: a line that halts makes room for a fresh one; otherwise all lines take N steps.
    """
    torch.manual_seed(seed)
    N, updates, task = recipe["N"], recipe["updates"], SumTask(recipe["size"], n_values=n_values)
    step = JudgedLine(n_values, 2 if judge == "HRM" else 1, head)
    optimizer = torch.optim.Adam(step.parameters(), lr=recipe["lr"], fused=True)
    schedule = cool_down(updates)(optimizer)
    slots = filled(task.batch(recipe["batch"]))
    for _ in range(updates):
        z, _ = step.encode(slots.x)
        slots = slots._replace(h=step.move(z, slots.h.detach()), n=slots.n + 1)
        y_hat, q_logits = step.answer(slots.h).mT, step.q_logits(slots.h)
        targets = [lines_right(y_hat, slots.y).float()]
        if judge == "HRM":
            with torch.no_grad():
                next_q_logits = step.q_logits(step.move(z, slots.h))
            targets.append(value_of_going_on(next_q_logits, slots.n == N, discount, price))
        loss = cross_entropy(y_hat.flatten(0, 1), slots.y.flatten())
        for q_logit, target in zip(q_logits, targets, strict=True):
            loss = loss + WEIGHT * binary_cross_entropy_with_logits(q_logit, target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(step.parameters(), recipe["clip"])
        optimizer.step()
        schedule.step()
        leaves = who_leaves(q_logits, slots.n, N) if refill else slots.n == N
        slots = refilled(slots, leaves, task.batch(recipe["batch"]))
    return step.eval()


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


def halting_steps(thought: Thought, rule: Callable[[Tensor], Tensor] = wish_to_halt) -> Tensor:
    """Return the first step at which the rule's logit is above 0, or N: [lines], from 1."""
    halts = torch.stack([rule(q_logits) > 0 for q_logits in thought.q_logits])
    halts[-1] = True
    return halts.int().argmax(0) + 1


def measure(step: JudgedLine, x: Tensor, y: Tensor, N: int) -> Row:
    """Return when lines halt by the step's own rule, and whether they are right.

    Of lines: "steps", "needed", "early" and "correlation" as in `halting_report`; "on_time", at the very step; "right",
    when they halt; "right_early", of the early ones (None: there is none); "at_need" and "at_N", right if all halted at
    their need, or at N. "yes": the mean Q of halting, over lines and steps with 0 to MAX_OPEN open places, which have
    not heard the start of their segment. "ahead": the median of Q of halting less Q of going on from the need on (None
    where one Q is learnt).
    """
    thought = think(step, x, y, N)
    steps = halting_steps(thought)
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
