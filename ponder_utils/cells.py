"""Recurrent cells, x, h -> h': how a state moves in one step.

A cell is anything that is called like `nn.RNNCell` and `nn.LSTMCell`, `cell(x, state=None) -> state`, and has their
`input_size` and `hidden_size`. A state is a tensor [batch, hidden_size], or a tuple or list of which the next layer
reads the first; None stands for zeros. A `Cell` takes what its `encode(x)` returns, a `FromInput`, in place of x.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int, check_type


class FromInput(NamedTuple):
    """What an input adds at every step, W_x x and the biases: to the candidate state, and to the gates if any."""

    candidate: Tensor  # [batch, hidden_size]
    gates: Tensor | None = None  # [batch, gates * hidden_size]


class _FromState(nn.Module):
    """h W + b: `nn.Linear` with its weight stored as [in, out], so that no step has to transpose it."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        layer = nn.Linear(in_features, out_features)
        self.weight = nn.Parameter(layer.weight.detach().t().contiguous())
        self.bias = layer.bias

    def add_to(self, z: Any, h: Tensor | None) -> Tensor:
        """Return z + h W, for a z with the bias in it; h = None stands for zeros."""
        return z if h is None else torch.addmm(z, h, self.weight)


class Cell(nn.Module):
    """The layers of a cell: from_x reads the input, for every gate, and is initialised for it; from_h the state."""

    n_gates = 1

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input_size = check_int("input_size", input_size, 1)
        self.hidden_size = check_int("hidden_size", hidden_size, 1)
        self.from_x = nn.Linear(input_size, self.n_gates * hidden_size)
        self.from_h = _FromState(hidden_size, hidden_size)

    def encode(self, x: Tensor | FromInput) -> FromInput:
        """Return all of a step that does not depend on h. x: [batch, ...], input_size numbers per sample."""
        if isinstance(x, FromInput):
            return x
        numbers: Tensor = check_type("x", x, Tensor)[:, None].flatten(1)
        if numbers.shape[1] != self.input_size:
            raise ValueError(f"x must have input_size = {self.input_size} numbers per sample; got {numbers.shape[1]}")
        return self._with_biases(self.from_x(numbers))

    def _with_biases(self, from_x: Tensor) -> FromInput:
        return FromInput(from_x + self.from_h.bias)


class RNNCell(Cell):
    """h' = tanh(W_x x + b_x + W_h h + b_h), the cell of both papers' parity experiments (128 units)."""

    def forward(self, x: Tensor | FromInput, h: Tensor | None = None) -> Tensor:
        """Return the next h. x: [batch, ...], or from `encode`; h: [batch, hidden_size]."""
        return torch.tanh(self.from_h.add_to(self.encode(x).candidate, h))


class GRUCell(Cell):
    """A gated recurrent unit (Cho et al. 2014), in the form of `torch.nn.GRUCell`: gates reset, update, candidate."""

    n_gates = 3

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, hidden_size)
        self.gates_from_h = _FromState(hidden_size, 2 * hidden_size)  # of reset and update

    def _with_biases(self, from_x: Tensor) -> FromInput:  # not the candidate's, which reset multiplies
        gates, candidate = from_x.split([2 * self.hidden_size, self.hidden_size], dim=1)
        return FromInput(candidate, gates + self.gates_from_h.bias.to(gates.dtype))  # one dtype, also in an autocast

    def forward(self, x: Tensor | FromInput, h: Tensor | None = None) -> Tensor:
        """Return the next h. x: [batch, ...], or from `encode`; h: [batch, hidden_size]."""
        # reset, update = sigmoid(W_x x + b_x + W_h h + b_h), each with weights of its own
        # candidate = tanh(W_x x + b_x + reset * (W_h h + b_h))
        # h' = (1 - update) * candidate + update * h
        candidate, gates = x if isinstance(x, FromInput) else self.encode(x)
        reset, update = torch.sigmoid(self.gates_from_h.add_to(gates, h)).chunk(2, dim=1)
        from_h = self.from_h.add_to(self.from_h.bias, h).to(candidate.dtype)
        candidate = torch.tanh(torch.addcmul(candidate, reset, from_h))
        return candidate - update * candidate if h is None else torch.lerp(candidate, h, update)


def check_cell(cell: Any, *sizes: str) -> Any:
    """Return `cell` if it can be one, as no `nn.LSTM` can, and has these sizes; else raise TypeError."""
    is_cell = callable(cell) and not isinstance(cell, type | nn.RNNBase)
    if not is_cell or not all(hasattr(cell, size) for size in sizes):
        raise TypeError(f"cell must be called as cell(x, state) and have {' and '.join(sizes)}; got {cell!r}")
    return cell


def encode_input(cell: Any, x: Any) -> Any:
    """Return what the cell takes in place of x at every step: x, but for a `Cell` what its `encode` returns."""
    return cell.encode(x) if isinstance(cell, Cell) else x
