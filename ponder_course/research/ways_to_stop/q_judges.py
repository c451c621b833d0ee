"""The judges of 2025: halting heads that learn while lines halt by them, from one step of thought at a time.

HRM (Wang et al. 2025, arXiv:2506.21734) learns two values, Q of halting now and Q of going on; TRM (Jolicoeur-Martineau
2025, arXiv:2510.04871) the first alone. Both train as they will halt: after each step the state is detached and the
network learns from that step; a line that halts makes room for a fresh one; and with probability EXPLORE it may not
halt before a step that is drawn. Theirs are transformers on puzzles: a segment of many layers is one step here. Theirs
read Q from one token, which hears all others; here it is P(all places are right), a product over places.
"""

import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, logsigmoid, one_hot

from ponder_course.common.lines import LineParityTask, last_barrier
from ponder_course.common.local import Neighbours
from ponder_course.common.measures import at_step, halting_report, mean
from ponder_course.common.runs import Experiment, rounded, seeded
from ponder_course.common.store import Row
from ponder_course.ways_to_stop.problems import LINE_TESTS
from ponder_utils._check import check_int
from ponder_utils.training import cool_down

CHANNELS, NOISE = 32, 0.1  # lesson 05's
EXPLORE, WEIGHT = 0.1, 0.5  # theirs: how often a line must think for longer, and the weight of a head's loss
TESTS = {test: LINE_TESTS[test] for test in ("16 places", "64 places")}
MAX_OPEN = 4  # open places for which the judge's yes is kept


@dataclass(frozen=True)
class SumTask(LineParityTask):
    """Sums along a line: the target is the sum of the values since the last reset, modulo `n_values`; 2 is parity.

    TypeError or ValueError unless n_values is a whole number of at least 2, and the rest as for `LineParityTask`.
    """

    n_values: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("n_values", self.n_values, 2)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x [batch_size, 2, n_places], values and resets, float32, and y [batch_size, n_places], int64."""
        _, resets = self.coins_and_barriers(batch_size, generator)
        resets[:, 0] = True
        values = torch.randint(self.n_values, resets.shape, generator=generator, device=resets.device)
        x = torch.stack([values, resets], dim=1).float()
        return x, self.answers(x)

    def answers(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """Return the targets of lines x [batch, 2, n_places]: int64 [batch, n_places]."""
        values, resets = x.long().unbind(1)
        total = values.cumsum(1)
        before_segment = (total - values).gather(1, last_barrier(resets > 0))
        return (total - before_segment).remainder(self.n_values)


def lines_right(y_hat: Tensor, y: Tensor) -> Tensor:
    """Return whether all places are right: y_hat [..., places, n_values], y [..., places] -> bool [...]."""
    return (y_hat.argmax(-1) == y).all(-1)


class JudgedLine(Neighbours):
    """Lesson 05's step with an answer of `n_values` logits at each place, and `n_q` values of the whole line."""

    def __init__(self, n_values: int, n_q: int) -> None:
        super().__init__(nn.Conv1d(n_values + 1, CHANNELS, 1), 3, residual=False, noise=NOISE)
        self.n_values = n_values
        self.answer = nn.Conv1d(CHANNELS, n_values, 1)
        self.judge = nn.Conv1d(CHANNELS, n_q, 1)
        for weight in self.judge.parameters():
            nn.init.zeros_(weight)  # as theirs: at first a whole line is not likely to be right, and nobody halts

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return W_x * x and a state of zeros for values and resets x [batch, 2, places]."""
        values = one_hot(x[:, 0].long(), self.n_values).movedim(2, 1)
        return super().encode(torch.cat([values, x[:, 1:]], dim=1))

    def q_logits(self, h: Tensor) -> Tensor:
        """Return the logits of Q of halting and, if it is learnt, of going on: [n_q, batch]."""
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


def learn(judge: str, n_values: int, discount: float, price: float, seed: int, recipe: Row) -> JudgedLine:
    """Train a step with the judge of "TRM" or "HRM", an update for each step of thought of a batch of lines."""
    torch.manual_seed(seed)
    N, updates, task = recipe["N"], recipe["updates"], SumTask(recipe["size"], n_values=n_values)
    step = JudgedLine(n_values, n_q=2 if judge == "HRM" else 1)
    optimizer = torch.optim.Adam(step.parameters(), lr=recipe["lr"], fused=True)
    schedule = cool_down(updates)(optimizer)
    x, y = task.batch(recipe["batch"])
    n, h = torch.zeros(len(x), dtype=torch.int64), torch.zeros(len(x), CHANNELS, recipe["size"])
    for _ in range(updates):
        n = n + 1
        z, _ = step.encode(x)
        h = step.move(z, h.detach())
        y_hat, q_logits = step.answer(h).mT, step.q_logits(h)
        targets = [lines_right(y_hat, y).float()]
        if judge == "HRM":
            with torch.no_grad():
                next_q_logits = step.q_logits(step.move(z, h))
            targets.append(value_of_going_on(next_q_logits, n == N, discount, price))
        loss = cross_entropy(y_hat.flatten(0, 1), y.flatten())
        for q_logit, target in zip(q_logits, targets, strict=True):
            loss = loss + WEIGHT * binary_cross_entropy_with_logits(q_logit, target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(step.parameters(), recipe["clip"])
        optimizer.step()
        schedule.step()
        # Who halts leaves, and fresh lines take their places.
        explores = torch.rand(len(x)) < EXPLORE
        at_least = torch.where(explores, torch.randint(2, N + 1, n.shape), 0)
        leaves = ((wish_to_halt(q_logits) > 0) & (n >= at_least)) | (n == N)
        fresh_x, fresh_y = task.batch(len(x))
        x = torch.where(leaves[:, None, None], fresh_x, x)
        y = torch.where(leaves[:, None], fresh_y, y)
        h = torch.where(leaves[:, None, None], 0.0, h)
        n = torch.where(leaves, 0, n)
    return step.eval()


@torch.no_grad()
def measure(step: JudgedLine) -> Row:
    """Return when the lines of each of TESTS halt by the step's own rule, and whether they are right.

    Of lines: "steps", "needed", "early" and "correlation" as in `halting_report`; "on_time", at the very step; "right",
    when they halt; "right_early", of the early ones (None: there is none); "at_need" and "at_N", right if all halted at
    their need, or at N. "yes": the mean Q of halting, over lines and steps with 0 to MAX_OPEN open places, which have
    not heard the start of their segment. "ahead": the median of Q of halting less Q of going on from the need on (None
    where one Q is learnt).
    """
    found: Row = {}
    for seed, (test, (size, N, n_lines, _)) in enumerate(TESTS.items(), start=101):
        task = SumTask(size, n_values=step.n_values)
        x, y = task.batch(n_lines, torch.Generator().manual_seed(seed))
        z, h = step.encode(x)
        right, q_logits = [], []
        for _ in range(N):
            h = step.move(z, h)
            right.append(lines_right(step.answer(h).mT, y))
            q_logits.append(step.q_logits(h))
        correct = torch.stack(right)  # [N, lines]
        halts = torch.stack([wish_to_halt(each) > 0 for each in q_logits])
        halts[-1] = True
        steps = halts.int().argmax(0) + 1  # the first
        by_place = task.needed_steps(x)
        need, n = by_place.amax(1), torch.arange(1, N + 1)[:, None]
        q, n_open = torch.stack(q_logits, dim=1).sigmoid(), (by_place > n[..., None]).sum(2)  # [n_q, N, lines], ...
        halted_right, early = at_step(correct, steps), steps < need
        found[test] = halting_report(steps, need) | {
            "right": mean(halted_right),
            "on_time": mean(steps == need),
            "right_early": mean(halted_right[early]) if early.any() else None,
            "at_need": mean(at_step(correct, need)),
            "at_N": mean(correct[-1]),
            "yes": [mean(q[0][n_open == k]) for k in range(MAX_OPEN + 1)],
            "ahead": (q[0] - q[1])[n >= need].median().item() if len(q) == 2 else None,
        }
    return found


def run(judge: str, n_values: int, discount: float, price: float, seed: int, **recipe: Any) -> Row:
    """Train a step and `measure` it: {"tests": what that returns, "cpu_seconds": of the training}."""
    start = time.process_time()
    step = learn(judge, n_values, discount, price, seed, recipe)
    seconds = time.process_time() - start
    return rounded({"tests": measure(step), "cpu_seconds": seconds})


JUDGES: dict[str, Row] = {
    "TRM": {"judge": "TRM", "discount": 1.0, "price": 0.0},
    "HRM": {"judge": "HRM", "discount": 1.0, "price": 0.0},
    "HRM, a discount": {"judge": "HRM", "discount": 0.95, "price": 0.0},
    "HRM, a price": {"judge": "HRM", "discount": 1.0, "price": 0.005},  # that of lesson 06's table
}
RECIPE: Row = {"size": 16, "N": 20, "batch": 128, "lr": 4e-3, "clip": 1.0}
UPDATES = {2: 3000, 5: 5000}  # by the values of a place
KINDS = [RECIPE | how | {"n_values": K, "updates": UPDATES[K]} for K in UPDATES for how in JUDGES.values()]
SETTINGS = seeded(KINDS, 10, seed_by_seed=True)
SHORT = [setting | {"updates": 5, "batch": 8} for setting in seeded(KINDS, 1)]
EXPERIMENTS = {"q judges": Experiment("06_q_judges", run, SETTINGS, SHORT)}
