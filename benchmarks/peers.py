"""What we compare with: the loops that one writes by hand, and what gives two networks the same weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils import ACT, GRUCell, Heads, RNNCell, Step, geometric_log_prior

bce = nn.BCEWithLogitsLoss(reduction="none")


class TextbookPonderNet(nn.Module):
    """PonderNet as a tutorial writes it: torch's cell on x at every step, products of lambda, then their logarithm."""

    prior: Tensor  # [N]

    def __init__(self, cell: nn.RNNCellBase, n_hidden: int, max_steps: int) -> None:
        super().__init__()
        self.cell = cell
        self.n_hidden = n_hidden
        self.max_steps = max_steps
        self.answer = nn.Linear(n_hidden, 1)
        self.halt = nn.Linear(n_hidden, 1)
        self.register_buffer("prior", geometric_log_prior(0.2, max_steps).exp().float())

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the loss of inputs x [batch, ...] with targets y [batch], a scalar."""
        h = x.new_zeros(len(x), self.n_hidden)
        survival = x.new_ones(len(x))
        p_of_steps, losses_of_steps = [], []
        for n in range(1, self.max_steps + 1):
            h = self.cell(x, h)
            lambda_n = torch.sigmoid(self.halt(h)).squeeze(1) if n < self.max_steps else torch.ones_like(survival)
            p_of_steps.append(survival * lambda_n)
            survival = survival * (1 - lambda_n)
            losses_of_steps.append(bce(self.answer(h).squeeze(1), y))
        p = torch.stack(p_of_steps)
        losses = torch.stack(losses_of_steps)
        divergence = (p * (p.log() - self.prior.log()[:, None])).sum(0)
        return ((p * losses).sum(0) + 0.01 * divergence).mean()


class TextbookACT(nn.Module):
    """ACT on one time step, as a tutorial writes it: the whole batch goes on, masked, until its last sample halts."""

    def __init__(self, cell: nn.RNNCellBase, n_hidden: int, epsilon: float = 0.01, max_steps: int = 100) -> None:
        super().__init__()
        self.cell = cell
        self.n_hidden = n_hidden
        self.epsilon = epsilon
        self.max_steps = max_steps
        self.answer = nn.Linear(n_hidden, 1)
        self.halt = nn.Linear(n_hidden, 1)
        nn.init.ones_(self.halt.bias)

    def loss(self, x: Tensor, y: Tensor, tau: float) -> Tensor:
        """Return the loss of inputs x [batch, ...] with targets y [batch], a scalar."""
        h = x.new_zeros(len(x), self.n_hidden)
        mean = torch.zeros_like(h)
        cost = x.new_zeros(len(x))
        left = x.new_ones(len(x))
        thinking = torch.ones(len(x), dtype=torch.bool)
        for n in range(1, self.max_steps + 1):
            flag = x.new_full((len(x), 1), float(n == 1))
            h = self.cell(torch.cat([x, flag], dim=1), h)
            halt = torch.sigmoid(self.halt(h)).squeeze(1)
            stops = thinking & ((left - halt <= self.epsilon) | (n == self.max_steps))
            weight = torch.where(stops, left, halt) * thinking
            mean = mean + weight[:, None] * h
            cost = cost + thinking + stops * left
            left = left - halt * thinking
            thinking = thinking & ~stops
            if not thinking.any():
                break
        return (bce(self.answer(mean).squeeze(1), y) + tau * cost).mean()


@torch.no_grad()
def halt_by_hand(step: Step, x: Tensor, max_steps: int, rule: str, q: float) -> tuple[Tensor, Tensor]:
    """Halt as one writes it after reading the paper: the whole batch goes on until the last sample, or place, halts.

    rule: "quantile" or "threshold". Returns the answers, and the steps that they come from.
    """
    z, h = step.encode(x)
    survival: Any = 1.0
    answer: Any = 0.0
    steps: Any = 0
    for n in range(1, max_steps + 1):
        y_hat, h, halt_logit = step(z, h)
        lambda_n = torch.sigmoid(halt_logit) if n < max_steps else torch.ones_like(halt_logit)
        survival = survival * (1 - lambda_n)
        halts = lambda_n >= q if rule == "threshold" else survival <= 1 - q
        halts = halts & (steps == 0)
        answer = torch.where(halts, y_hat, answer)
        steps = torch.where(halts, n, steps)
        if (steps > 0).all():
            break
    return answer, steps


@torch.no_grad()
def copy_cell(ours: RNNCell | GRUCell, theirs: nn.RNNCellBase) -> None:
    """Give torch's cell the weights of ours; its `weight_hh` has the gates' rows before the candidate's."""
    layers = [ours.gates_from_h, ours.from_h] if isinstance(ours, GRUCell) else [ours.from_h]
    theirs.weight_ih.copy_(ours.from_x.weight)
    theirs.bias_ih.copy_(ours.from_x.bias)
    theirs.weight_hh.copy_(torch.cat([layer.weight.t() for layer in layers]))
    theirs.bias_hh.copy_(torch.cat([layer.bias for layer in layers]))


@torch.no_grad()
def copy_heads(ours: Heads, answer: nn.Linear, halt: nn.Linear) -> None:
    """Give two layers, of an answer and of a halting logit, the weights of our one."""
    for number, layer in enumerate((answer, halt)):
        layer.weight.copy_(ours.weight[[number]])
        layer.bias.copy_(ours.bias[[number]])


def copy_act(ours: ACT, textbook: TextbookACT) -> None:
    """Give the textbook's ACT the weights of ours."""
    copy_cell(ours.cell, textbook.cell)
    textbook.answer.load_state_dict(ours.output.state_dict())
    textbook.halt.load_state_dict(ours.halting.state_dict())
