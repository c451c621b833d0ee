"""Steps: what a PonderNet repeats.

A step is a `Step`, or any callable in the form of the paper's step function (PonderNet, Sec. 2.2), whose first state is
None: s(x, h_{n-1}) -> y_hat_n, h_n, a_n, with lambda_n = sigmoid(a_n). Inputs and states: `ponder_utils.states`.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int, check_real, check_type
from ponder_utils.cells import GRUCell, RNNCell, check_cell, encode_input
from ponder_utils.states import hidden_state, map_batched, map_states

Steps = tuple[Tensor, list[Any], Tensor]
Bias = float | None  # a first halting logit; None: what `nn.Linear` draws


class Step(nn.Module):
    """Base of steps. A subclass writes `move` and `read`, or `forward` if the answer needs z; `encode`, if it pays."""

    def encode(self, x: Any) -> tuple[Any, Any]:
        """Return z, the part of the work that depends on x alone, and the first state: once, before the first step."""
        return x, None

    def move(self, z: Any, h: Any) -> Any:
        """Return the next state h_n, for z and h_{n-1}."""
        raise NotImplementedError(f"{type(self).__name__} must have a method move(z, h) -> h")

    def read(self, h: Any) -> tuple[Tensor, Tensor]:
        """Return the answer y_hat_n [batch, ...] and the halting logit a_n [batch], or [batch, *places], of h_n."""
        raise NotImplementedError(f"{type(self).__name__} must have a method read(h) -> y_hat, halt_logit")

    def forward(self, z: Any, h: Any) -> tuple[Tensor, Any, Tensor]:
        """Take one step, in the paper's form: return y_hat_n, h_n and a_n."""
        h = self.move(z, h)
        y_hat, halt_logit = _checked("step.read", self.read(h), "y_hat", "halt_logit")
        return y_hat, h, halt_logit

    def unroll(self, z: Any, h: Any, n_steps: int, keep_states: bool = False) -> Steps:
        """Take n steps: return y_hat [n, batch, ...], a list of all states or of the last, and halting logits."""
        y_hats, kept, halt_logits = [], [], []
        for _ in range(n_steps):
            try:
                returned = self(z, h)
            except (TypeError, AttributeError) as error:
                if h is not None:
                    raise
                raise TypeError(f"step must begin from h = None, or have encode(x) -> z, h; got: {error}") from error
            y_hat, h, halt_logit = _checked("step", returned, "y_hat", "h", "halt_logit")
            y_hats.append(y_hat)
            halt_logits.append(halt_logit)
            if keep_states:
                kept.append(map_states(lambda part: part, h))  # which the next step may change
        return torch.stack(y_hats), kept or [h], torch.stack(halt_logits)


def check_step(step: Any) -> Any:
    """Return `step` if it can be a step, else raise TypeError."""
    return check_type("step", step, Callable, "a Step, or callable as step(x, h) -> y_hat, h, halt_logit", but=type)


def encode(step: Any, x: Any) -> tuple[Any, Any]:
    """Return z and the first state of a step of any kind: of a function x and None, but not of a compiled `Step`."""
    is_step = all(hasattr(step, name) for name in ("encode", "move", "read"))
    return _checked("step.encode", step.encode(x), "z", "h") if is_step else (x, None)


def unroll(step: Any, z: Any, h: Any, n_steps: int, keep_states: bool = False) -> Steps:
    """Take n steps of any kind, a function's one by one, and return what `Step.unroll` does."""
    if isinstance(step, Step):
        return step.unroll(z, h, n_steps, keep_states)
    return Step.unroll(step, z, h, n_steps, keep_states)


def _checked(what: str, returned: Any, *names: str) -> Any:
    """Return what a step returned if it has these parts; a tensor of as many rows does not."""
    if not isinstance(returned, tuple | list) or len(returned) != len(names):
        came = f"{len(returned)} of them" if isinstance(returned, tuple | list) else type(returned).__name__
        raise TypeError(f"{what} must return {len(names)} things, {', '.join(names)}; got {came}")
    return returned


class Heads(nn.Linear):
    """The layer that reads answers, [...] for n_outputs = 1 or else [..., n_outputs], and halting logits, [...].

    Before training lambda_n is about sigmoid(halting_bias). If a network halts at step 2 and never learns, try -2.
    """

    def __init__(self, size: int, n_outputs: int = 1, halting_bias: Bias = None) -> None:
        super().__init__(size, check_int("n_outputs", n_outputs, 1) + 1)
        self.n_outputs = n_outputs
        set_halting_bias(self, halting_bias)

    def forward(self, h: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """Return y_hat and the halting logits [...] for h [..., size]."""
        y_hat, halt_logit = super().forward(h).split([self.n_outputs, 1], dim=-1)
        return (y_hat.squeeze(-1) if self.n_outputs == 1 else y_hat), halt_logit.squeeze(-1)


def set_halting_bias(layer: Any, halting_bias: Bias) -> None:
    """Set the last bias of a layer whose last output is the halting logit; None leaves it as it is."""
    if halting_bias is not None:
        value = check_real("halting_bias", halting_bias, -math.inf, open_low=True)
        nn.init.constant_(layer.bias[-1], value)


class RecurrentStep(Step):
    """A recurrent cell, as described in `ponder_utils.cells`, such as `nn.LSTMCell(8, 64)`, with `Heads`."""

    def __init__(self, cell: Any, n_outputs: int = 1, halting_bias: Bias = None) -> None:
        super().__init__()
        self.cell = check_cell(cell, "hidden_size")
        self.heads = Heads(cell.hidden_size, n_outputs, halting_bias)

    def encode(self, x: Tensor) -> tuple[Any, None]:
        """Return what the cell takes in place of x [batch, ...], and None, which stands for a state of zeros."""
        return encode_input(self.cell, x), None

    def move(self, z: Any, h: Any) -> Any:
        """Return the cell's next state."""
        return self.cell(z, h)

    def read(self, h: Any) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch] or [batch, n_outputs], and a_n [batch]."""
        return self.heads(hidden_state(h))

    def unroll(self, z: Any, h: Any, n_steps: int, keep_states: bool = False) -> Steps:
        """Take n steps, and read all their states at once, as one larger batch, unless somebody looks at each step."""
        has_own_forward = type(self).forward is not Step.forward
        if has_own_forward or self._forward_hooks or self._forward_pre_hooks:
            return super().unroll(z, h, n_steps, keep_states)
        states = []
        for _ in range(n_steps):
            h = self.move(z, h)
            states.append(h)
        all_states = map_batched(lambda *parts: torch.cat(parts), *states)
        y_hat, halt_logit = _checked("step.read", self.read(all_states), "y_hat", "halt_logit")
        sizes = (n_steps, y_hat.shape[0] // n_steps)  # len(y_hat) would fix the batch of an export
        return y_hat.unflatten(0, sizes), states if keep_states else [h], halt_logit.unflatten(0, sizes)


class RNNStep(RecurrentStep):
    """The step of the paper's parity experiments (App. B.1: 128 units): an `RNNCell` with its heads."""

    def __init__(self, input_size: int, hidden_size: int, n_outputs: int = 1, halting_bias: Bias = None) -> None:
        super().__init__(RNNCell(input_size, hidden_size), n_outputs, halting_bias)


class GRUStep(RecurrentStep):
    """A `GRUCell` with its heads, the step of much public code."""

    def __init__(self, input_size: int, hidden_size: int, n_outputs: int = 1, halting_bias: Bias = None) -> None:
        super().__init__(GRUCell(input_size, hidden_size), n_outputs, halting_bias)


class EncodedStep(Step):
    """A step behind an encoder, x [batch, ...] -> the step's input, which is called once, before step 1."""

    def __init__(self, encoder: Callable[[Any], Any], step: Any) -> None:
        super().__init__()
        self.step = check_step(step)
        self.encoder = check_type("encoder", encoder, Callable, "callable as encoder(x)")

    def encode(self, x: Any) -> tuple[Any, Any]:
        """Encode x, and then as the step does."""
        return encode(self.step, self.encoder(x))

    def forward(self, z: Any, h: Any) -> tuple[Tensor, Any, Tensor]:
        """Take one step, as the step does."""
        return self.step(z, h)

    def unroll(self, z: Any, h: Any, n_steps: int, keep_states: bool = False) -> Steps:
        """Take n steps, as the step does."""
        return unroll(self.step, z, h, n_steps, keep_states)
