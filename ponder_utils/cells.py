"""Recurrent cells, x, h -> h': how a state moves in one update.

A cell is anything that is called like the cells of torch, `cell(x, state=None) -> state`, and has their `input_size`
and `hidden_size`. A state is a tensor [batch, hidden_size], or a tuple or list of which the first is read by what comes
after (h and c of `nn.LSTMCell`); None stands for zeros. `nn.RNNCell`, `nn.GRUCell` and `nn.LSTMCell` are cells.

A cell may also have a method `start(x)`: the part of the work that depends on x alone, done once for an input that is
looked at many times. What it returns, in this file a `Begun`, the cell takes in place of x.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int


class Begun(NamedTuple):
    """What an input adds to every update, W_x x and the biases: for the gates of a cell that has some, and the rest."""

    candidate: Tensor  # [batch, hidden_size]
    gates: Tensor | None = None  # [batch, gates * hidden_size]


class _FromState(nn.Module):
    """h W + b, a linear layer whose weight lies as the product reads it, [in, out], and is not turned at every update.

    Initialised as `nn.Linear` is.
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        layer = nn.Linear(in_features, out_features)
        self.weight = nn.Parameter(layer.weight.detach().t().contiguous())
        self.bias = layer.bias

    def forward(self, h: Tensor) -> Tensor:
        return torch.addmm(self.bias, h, self.weight)

    def added_to(self, z: Any, h: Tensor | None) -> Tensor:
        """z + h W, in one call; the bias is in z already. No h is zeros."""
        return z if h is None else torch.addmm(z, h, self.weight)


class _Cell(nn.Module):
    """The layers that a cell of this file has: from_x reads the input, for every gate, and from_h the state.

    from_x is initialised for its own fan-in, as any `nn.Linear` is. Torch's recurrent cells scale it by
    1 / sqrt(hidden_size) instead, which leaves the units in their linear range when the input is short. An input's
    dimensions are multiplied for its size.
    """

    n_gates = 1

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.input_size = check_int("input_size", input_size, 1)
        self.hidden_size = check_int("hidden_size", hidden_size, 1)
        self.from_x = nn.Linear(input_size, self.n_gates * hidden_size)
        self.from_h = _FromState(hidden_size, hidden_size)

    def start(self, x: Tensor | Begun) -> Begun:
        """x: [batch, ...], flattened after the batch -> all of an update that does not depend on h.
        ValueError if x has not input_size numbers per sample.
        """
        return x if isinstance(x, Begun) else Begun(self.read(x) + self.from_h.bias)

    def read(self, x: Tensor) -> Tensor:
        """x: [batch, ...] -> W_x x + b_x, [batch, n_gates * hidden_size]."""
        x = x.flatten(1)
        if x.shape[1] != self.input_size:
            raise ValueError(f"x must have input_size = {self.input_size} numbers per sample; got {x.shape[1]}")
        return self.from_x(x)


class RNNCell(_Cell):
    """h' = tanh(W_x x + b_x + W_h h + b_h), the cell of both papers' parity experiments (128 units)."""

    def forward(self, x: Tensor | Begun, h: Tensor | None = None) -> Tensor:
        """x: [batch, ...], or from `start`; h: [batch, hidden_size] -> the next h."""
        return torch.tanh(self.from_h.added_to(self.start(x).candidate, h))


class GRUCell(_Cell):
    """A gated recurrent unit (Cho et al. 2014), in the form of `torch.nn.GRUCell`: gates reset, update, candidate.

    from_h reads the state for the candidate, gates_from_h for the other two gates.
    """

    n_gates = 3

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__(input_size, hidden_size)
        self.gates_from_h = _FromState(hidden_size, 2 * hidden_size)

    def start(self, x: Tensor | Begun) -> Begun:
        """As in the other cells; the candidate's b_h is not in it, since the reset gate weakens that, too."""
        if isinstance(x, Begun):
            return x
        gates, candidate = self.read(x).split([2 * self.hidden_size, self.hidden_size], dim=1)
        return Begun(candidate, gates + self.gates_from_h.bias.to(gates.dtype))  # one dtype, also in an autocast

    def forward(self, x: Tensor | Begun, h: Tensor | None = None) -> Tensor:
        """x: [batch, ...], or from `start`; h: [batch, hidden_size] -> the next h."""
        candidate, gates = self.start(x)
        reset, update = torch.sigmoid(self.gates_from_h.added_to(gates, h)).chunk(2, dim=1)
        from_h = self.from_h.bias.to(candidate.dtype) if h is None else self.from_h(h)
        candidate = torch.tanh(torch.addcmul(candidate, reset, from_h))
        # (1 - update) * candidate + update * h
        return candidate - update * candidate if h is None else torch.lerp(candidate, h, update)


class MLPCell(_Cell):
    """h' = relu(W_2 relu(W_x x + b_x + W_h h + b_h) + b_2): two layers, of which the first reads input and state.

    Args:
        input_size, hidden_size: as for the other cells; the layer between has hidden_size units too.
        dropout: share of that layer's units that training sets to 0, drawn anew at every update.
    """

    def __init__(self, input_size: int, hidden_size: int, dropout: float = 0.0) -> None:
        super().__init__(input_size, hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.to_h = nn.Linear(hidden_size, hidden_size)

    def forward(self, x: Tensor | Begun, h: Tensor | None = None) -> Tensor:
        """x: [batch, ...], or from `start`; h: [batch, hidden_size] -> the next h."""
        between = torch.relu(self.from_h.added_to(self.start(x).candidate, h))
        return torch.relu(self.to_h(self.dropout(between)))


def begin(cell: Any, x: Tensor) -> Any:
    """What the cell takes in place of x at every update: `cell.start(x)`, or x itself if it has no such method."""
    return cell.start(x) if hasattr(cell, "start") else x


def hidden(state: Any) -> Tensor:
    """The part of a state that is read by what comes after: h, also of (h, c)."""
    return state[0] if isinstance(state, tuple | list) else state


def each(change: Callable[..., Tensor], *states: Any) -> Any:
    """A state of which every tensor is changed, given the tensors in its place in all these states; None stays None.

    A state is a tensor, None, or a tuple, list or dict of states.
    """
    first = states[0]
    if isinstance(first, dict):
        return type(first)((key, each(change, *(state[key] for state in states))) for key in first)
    if isinstance(first, tuple | list):
        parts = [each(change, *parts) for parts in zip(*states, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    return None if first is None else change(*states)


def select(state: Any, rows: Tensor) -> Any:
    """These rows of a state."""
    return each(lambda part: part.index_select(0, rows), state)
