"""The cells of notebooks/11_judges.ipynb that are tagged `source`: change them there, then `make sources`."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, logsigmoid, one_hot

import ponder_utils as pu
from ponder_course.judges.task import SumTask


class SumLine(nn.Module):
    def __init__(self, n_values: int) -> None:
        super().__init__()
        self.n_values = n_values  # K
        self.from_x = nn.Conv1d(n_values + 1, 32, 1)  # W_x: an input for each value, and the reset
        self.from_h = nn.Conv1d(32, 32, 3, padding=1)  # W_h: with both neighbours
        self.answer = nn.Conv1d(32, n_values, 1)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:  # values and resets [lines, 2, places]
        values = one_hot(x[:, 0].long(), self.n_values).mT
        z = self.from_x(torch.cat([values, x[:, 1:]], dim=1))  # W_x x + b
        return z, torch.zeros_like(z)  # and h_0: [lines, 32, places] each

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        h = torch.tanh(self.from_h(h) + z)
        return h + 0.1 * torch.randn_like(h) if self.training else h


class Recipe(NamedTuple):
    updates: int
    N: int = 20  # steps of thought at most
    slots: int = 128
    lr: float = 4e-3  # of Adam; it falls to 0 in the second half of the updates


def wants_to_halt(q: Tensor) -> Tensor:  # logits [n_q, lines] -> [lines]
    return q[0] > 0 if len(q) == 1 else q[0] > q[1]  # one judge; or HRM's two values, section 4


def who_leaves(q: Tensor, n: Tensor, N: int) -> Tensor:  # n: steps taken [lines]
    explores = torch.rand(n.shape) < 0.1
    at_least = torch.where(explores, torch.randint(2, N + 1, n.shape), 0)
    return wants_to_halt(q) & (n >= at_least) | (n == N)


def learn(
    loss_of: Callable, step: "JudgedLine", task: SumTask, how: Recipe, refill: bool = True
) -> "JudgedLine":
    optimizer = torch.optim.Adam(step.parameters(), lr=how.lr, fused=True)
    schedule = pu.cool_down(how.updates)(optimizer)
    (x, y), n = task.batch(how.slots), torch.zeros(how.slots)
    h = torch.zeros(how.slots, 32, task.n_places)
    for _ in range(how.updates):
        z, _ = step.encode(x)
        h, n = step.move(z, h), n + 1  # one step of thought
        loss, q = loss_of(step, h=h, y=y, z=z, at_N=n == how.N)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(step.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        leaves = who_leaves(q, n, how.N) if refill else n == how.N
        x[leaves], y[leaves] = (new[leaves] for new in task.batch(how.slots))
        h, n = h.detach().masked_fill(leaves[:, None, None], 0), n.masked_fill(leaves, 0)
    return step.eval()


class JudgedLine(SumLine):
    def __init__(self, n_values: int, n_q: int = 1) -> None:
        super().__init__(n_values)
        self.judge = nn.Conv1d(32, n_q, 1)
        for weight in self.judge.parameters():
            nn.init.zeros_(weight)  # at first each place says one half

    def q_logits(self, h: Tensor) -> Tensor:  # states [lines, 32, places] -> [n_q, lines]
        # Kept below 0, so that 1 - Q is above 0:
        log_q = logsigmoid(self.judge(h)).sum(2).clamp(max=-1e-30)  # (1)
        return (log_q - torch.log(-torch.expm1(log_q))).T  # the logit of Q


def trm_loss(step: JudgedLine, h: Tensor, y: Tensor, **_: object) -> tuple[Tensor, Tensor]:
    y_hat, q = step.answer(h).mT, step.q_logits(h)  # [lines, places, K], [n_q, lines]
    is_right = (y_hat.argmax(2) == y).all(1).float()
    loss = cross_entropy(y_hat.flatten(0, 1), y.flatten())  # the mean over places
    return loss + 0.5 * binary_cross_entropy_with_logits(q[0], is_right), q


def hrm_loss(
    step: JudgedLine, h: Tensor, y: Tensor, z: Tensor, at_N: Tensor, gamma: float, price: float = 0
) -> tuple[Tensor, Tensor]:
    loss, q = trm_loss(step, h, y)  # q: [2, lines], of halting and of going on
    with torch.no_grad():
        next_q = step.q_logits(step.move(z, h))  # one step more; z = W_x x + b
        best = torch.where(at_N, next_q[0], next_q.amax(0)).sigmoid()  # must halt at N
        target = (gamma * best - price).clamp(min=0)  # (2)
    return loss + 0.5 * binary_cross_entropy_with_logits(q[1], target), q


def halting_steps(q: Tensor) -> Tensor:  # logits [N, n_q, lines] -> [lines], from 1
    halts = torch.stack([wants_to_halt(q_n) for q_n in q])
    halts[-1] = True
    return halts.int().argmax(0) + 1
