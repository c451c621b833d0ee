"""Step functions s(x, h_n) -> y_hat_n, h_{n+1}, a_n: what a network does in one step of thinking.

A step function is any callable with this signature: from what it knows of the input and its state, it gives an
answer y_hat_n, the next state and the logit a_n of its halting probability lambda_n = sigmoid(a_n) (PonderNet,
Sec. 2.2). The first state h_1 it is given is None, unless it also has a method

    start(x) -> z, h_1

which is called once per input: z is the part of the work that depends on x alone, and stands in for x at every
step; h_1 is the first state. States may be tensors or tuples of tensors, each with the batch in dimension 0.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int


class _RecurrentStep(nn.Module):
    """A recurrent cell, and one linear layer that reads both the answer and the halting logit from its state.

    The input is flattened after the batch dimension. Its contribution to the cell, W_x x + b_x, does not change from
    step to step: `start` computes it once. Step 1 starts from h_1 = 0 and sees x.

    W_x is initialised for its own fan-in, as any `nn.Linear` is; torch's recurrent cells scale it by 1 / sqrt(n_hidden)
    instead, which leaves the units in their linear range when the input is short, and parity waiting.

    Args:
        n_inputs: size of one input, all its dimensions multiplied.
        n_hidden: size of the state h.
        n_outputs: size of one answer; 1 gives y_hat_n of shape [batch], more give [batch, n_outputs].
    """

    n_gates: int

    def __init__(self, n_inputs: int, n_hidden: int, n_outputs: int = 1) -> None:
        super().__init__()
        self.n_inputs = check_int("n_inputs", n_inputs, 1)
        self.n_hidden = check_int("n_hidden", n_hidden, 1)
        self.n_outputs = check_int("n_outputs", n_outputs, 1)
        self.from_x = nn.Linear(n_inputs, self.n_gates * n_hidden)
        self.from_h = nn.Linear(n_hidden, self.n_gates * n_hidden)
        self.heads = nn.Linear(n_hidden, n_outputs + 1)

    def start(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x: [batch, ...] -> the input's part of every step [batch, n_gates * n_hidden], h_1 = 0 [batch, n_hidden]."""
        x = x.flatten(1)
        if x.shape[1] != self.n_inputs:
            raise ValueError(f"x must have n_inputs = {self.n_inputs} numbers per sample; got {x.shape[1]}")
        z = self.from_x(x)
        return z, z.new_zeros(len(x), self.n_hidden)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """h: [batch, n_hidden] -> y_hat_n [batch] or [batch, n_outputs], halting logit a_n [batch]."""
        out = self.heads(h)
        y_hat = out[:, 0] if self.n_outputs == 1 else out[:, :-1]
        return y_hat, out[:, -1]


class RNNStep(_RecurrentStep):
    """h_{n+1} = tanh(W_x x + b_x + W_h h_n + b_h), the cell of the paper's parity experiments (App. B.1: 128 units)."""

    n_gates = 1

    def forward(self, z: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """z from `start`, h: [batch, n_hidden] -> y_hat_n, h_{n+1}, halting logit a_n."""
        h = torch.tanh(z + self.from_h(h))
        y_hat, halt_logit = self.read(h)
        return y_hat, h, halt_logit


class GRUStep(_RecurrentStep):
    """A gated recurrent unit (Cho et al. 2014), in the form of `torch.nn.GRUCell`: gates reset, update, candidate."""

    n_gates = 3

    def forward(self, z: Tensor, h: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """z from `start`, h: [batch, n_hidden] -> y_hat_n, h_{n+1}, halting logit a_n."""
        gates, from_h = 2 * self.n_hidden, self.from_h(h)
        reset, update = torch.sigmoid(z[:, :gates] + from_h[:, :gates]).chunk(2, dim=1)
        candidate = torch.tanh(z[:, gates:] + reset * from_h[:, gates:])
        h = candidate + update * (h - candidate)
        y_hat, halt_logit = self.read(h)
        return y_hat, h, halt_logit
