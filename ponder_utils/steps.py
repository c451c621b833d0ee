"""Step functions s(x, h_n) -> y_hat_n, h_{n+1}, a_n: what a PonderNet does in one step of thinking.

A step function is any callable with this signature: from what it knows of the input and its state, it gives an
answer y_hat_n, the next state and the logit a_n of its halting probability lambda_n = sigmoid(a_n) (PonderNet,
Sec. 2.2). The first state h_1 it is given is None, unless it also has a method

    start(x) -> z, h_1

which is called once per input: z is the part of the work that depends on x alone, and stands in for x at every
step; h_1 is the first state. States may be tensors or tuples of tensors, each with the batch in dimension 0.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from ponder_utils._check import check_int
from ponder_utils.cells import GRUCell, RNNCell, begin, hidden


class RecurrentStep(nn.Module):
    """A recurrent cell, and one linear layer that reads both the answer and the halting logit from its state.

    Step 1 starts from h_1 = 0 and sees x.

    Args:
        cell: as described in `ponder_utils.cells`, such as `nn.LSTMCell(8, 64)`.
        n_outputs: size of one answer; 1 gives y_hat_n of shape [batch], more give [batch, n_outputs].
    """

    def __init__(self, cell: nn.Module, n_outputs: int = 1) -> None:
        super().__init__()
        self.cell = cell
        self.n_outputs = check_int("n_outputs", n_outputs, 1)
        self.heads = nn.Linear(cell.hidden_size, n_outputs + 1)

    def start(self, x: Tensor) -> tuple[Tensor, None]:
        """x: [batch, ...] -> the input's part of every step, and no state yet."""
        return begin(self.cell, x), None

    def forward(self, z: Tensor, h: Any) -> tuple[Tensor, Any, Tensor]:
        """z from `start` and the state -> y_hat_n [batch] or [batch, n_outputs], h_{n+1}, halting logit a_n [batch]."""
        h = self.cell(z, h)
        out = self.heads(hidden(h))
        y_hat = out[:, 0] if self.n_outputs == 1 else out[:, :-1]
        return y_hat, h, out[:, -1]


class RNNStep(RecurrentStep):
    """The step of the paper's parity experiments (App. B.1: 128 units): an `RNNCell` with its heads."""

    def __init__(self, input_size: int, hidden_size: int, n_outputs: int = 1) -> None:
        super().__init__(RNNCell(input_size, hidden_size), n_outputs)


class GRUStep(RecurrentStep):
    """A `GRUCell` with its heads, the step of much public code."""

    def __init__(self, input_size: int, hidden_size: int, n_outputs: int = 1) -> None:
        super().__init__(GRUCell(input_size, hidden_size), n_outputs)
