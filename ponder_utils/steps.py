"""Step functions s(x, h_n) -> y_hat_n, h_{n+1}, a_n: what a PonderNet does in one step.

A step function is any callable with this signature: an answer y_hat_n, the next state and the logit a_n of the halting
probability lambda_n = sigmoid(a_n), from the input and the state (PonderNet, Sec. 2.2), both as described in
`ponder_utils.states`; the first state h_1 is None. A step may also have two methods:

    start(x) -> z, h_1
    unroll(z, h, n_steps) -> y_hat [n_steps, batch, ...], the state after them, a [n_steps, batch]

`start` is called once per input: z is the part of the work that depends on x alone, and stands in for x at every step.
`unroll` is a faster way to take n steps in a row. A subclass does not inherit it, because it may have changed
`forward`; where it has not, it says `unroll = Parent.unroll`.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int, check_type
from ponder_utils.cells import GRUCell, RNNCell, check_cell, start_cell
from ponder_utils.states import hidden_state


def check_step(step: Any) -> Any:
    """Return `step` if it can be a step function, else raise TypeError."""
    if not callable(step) or isinstance(step, type):
        raise TypeError(f"step must be callable as step(x, h) -> y_hat, h, halt_logit; got {step!r}")
    return step


def start(step: Any, x: Any) -> tuple[Any, Any]:
    """Return what the step takes in place of x, and its first state: x and None if it has no method `start`."""
    return _returned("step.start", step.start(x), 2, "two things, z and h") if hasattr(step, "start") else (x, None)


def unroll(step: Any, z: Any, h: Any, n_steps: int) -> tuple[Tensor, Any, Tensor]:
    """Take n steps: y_hat [n_steps, batch, ...], the state after them, halting logits [n_steps, batch]."""
    if _may_unroll(step):
        return step.unroll(z, h, n_steps)
    y_hats, halt_logits = [], []
    for _ in range(n_steps):
        y_hat, h, halt_logit = take_step(step, z, h)
        y_hats.append(y_hat)
        halt_logits.append(halt_logit)
    return torch.stack(y_hats), h, torch.stack(halt_logits)


def take_step(step: Any, z: Any, h: Any) -> Any:
    """Return y_hat, the next state and halt_logit, as step(z, h) does; TypeError if it returns anything else."""
    y_hat, h, halt_logit = _returned("step", step(z, h), 3, "three things, y_hat, h and halt_logit")
    return check_type("y_hat of step", y_hat, Tensor), h, check_type("halt_logit of step", halt_logit, Tensor)


def _returned(what: str, returned: Any, n: int, wanted: str) -> Any:
    """Return what a step returned if it has n parts, and is not a tensor that has as many rows."""
    if not isinstance(returned, tuple | list) or len(returned) != n:
        came = f"{len(returned)} of them" if isinstance(returned, tuple | list) else type(returned).__name__
        advice = "A recurrent cell becomes a step in RecurrentStep(cell)."
        raise TypeError(f"{what} must return {wanted}; got {came}. {advice}")
    return returned


def _may_unroll(step: Any) -> bool:
    """Report whether `step.unroll` exists and does all that calls of the step would do."""
    if "unroll" not in vars(type(step)):
        return False
    if not isinstance(step, nn.Module):
        return True
    hooks = step._forward_hooks or step._forward_pre_hooks or step._backward_hooks or step._backward_pre_hooks
    return not (hooks or step._compiled_call_impl or "forward" in vars(step))


class RecurrentStep(nn.Module):
    """A recurrent cell, and one linear layer that reads both the answer and the halting logit from its state.

    Args:
        cell: as described in `ponder_utils.cells`, such as `nn.LSTMCell(8, 64)`.
        n_outputs: size of one answer; 1 gives y_hat_n of shape [batch], more give [batch, n_outputs].
    """

    def __init__(self, cell: Any, n_outputs: int = 1) -> None:
        super().__init__()
        self.cell = check_cell(cell, "hidden_size")
        self.n_outputs = check_int("n_outputs", n_outputs, 1)
        self.heads = nn.Linear(cell.hidden_size, n_outputs + 1)

    def start(self, x: Tensor) -> tuple[Tensor, None]:
        """Return what the cell takes in place of x [batch, ...], and no state yet, which stands for zeros."""
        return start_cell(self.cell, x), None

    def forward(self, z: Any, h: Any) -> tuple[Tensor, Any, Tensor]:
        """Return y_hat_n [batch] or [batch, n_outputs], h_{n+1} and a_n [batch]. z: x, or from `start`."""
        h = self.cell(z, h)
        y_hat, halt_logit = self.read(hidden_state(h))
        return y_hat, h, halt_logit

    def unroll(self, z: Any, h: Any, n_steps: int) -> tuple[Tensor, Any, Tensor]:
        """Take n steps, and apply the heads to all states at once."""
        states = []
        for _ in range(n_steps):
            h = self.cell(z, h)
            states.append(hidden_state(h))
        y_hat, halt_logits = self.read(torch.stack(states))
        return y_hat, h, halt_logits

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat [...] or [..., n_outputs] and halting logits [...] for h [..., hidden_size]."""
        y_hat, halt_logit = self.heads(h).split([self.n_outputs, 1], dim=-1)
        return (y_hat.squeeze(-1) if self.n_outputs == 1 else y_hat), halt_logit.squeeze(-1)


class RNNStep(RecurrentStep):
    """The step of the paper's parity experiments (App. B.1: 128 units): an `RNNCell` with its heads."""

    unroll = RecurrentStep.unroll

    def __init__(self, input_size: int, hidden_size: int, n_outputs: int = 1) -> None:
        super().__init__(RNNCell(input_size, hidden_size), n_outputs)


class GRUStep(RecurrentStep):
    """A `GRUCell` with its heads, the step of much public code."""

    unroll = RecurrentStep.unroll

    def __init__(self, input_size: int, hidden_size: int, n_outputs: int = 1) -> None:
        super().__init__(GRUCell(input_size, hidden_size), n_outputs)


class EncodedStep(nn.Module):
    """A step function behind an encoder, x [batch, ...] -> the step's input, which is called once, before step 1."""

    def __init__(self, encoder: Callable[[Any], Any], step: Any) -> None:
        super().__init__()
        self.step = check_step(step)
        if not callable(encoder):
            raise TypeError(f"encoder must be callable as encoder(x); got {encoder!r}")
        self.encoder = encoder

    def start(self, x: Any) -> tuple[Any, Any]:
        """Encode x, and start the step."""
        return start(self.step, self.encoder(x))

    def forward(self, z: Any, h: Any) -> tuple[Tensor, Any, Tensor]:
        """Take one step."""
        return self.step(z, h)

    def unroll(self, z: Any, h: Any, n_steps: int) -> tuple[Tensor, Any, Tensor]:
        """Take n steps, in the step's own way."""
        return unroll(self.step, z, h, n_steps)
