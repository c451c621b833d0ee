"""Step functions s(x, h_n) -> y_hat_n, h_{n+1}, a_n: what a PonderNet does in one step of thinking.

A step function is any callable with this signature: from what it knows of the input and its state, it gives an
answer y_hat_n, the next state and the logit a_n of its halting probability lambda_n = sigmoid(a_n) (PonderNet,
Sec. 2.2). The first state h_1 it is given is None, unless it also has a method

    start(x) -> z, h_1

which is called once per input: z is the part of the work that depends on x alone, and stands in for x at every
step; h_1 is the first state. States may be tensors, or tuples, lists and dicts of tensors, each with the batch in
dimension 0. And if it knows a cheaper way to take n steps in a row than one by one, it has a method

    unroll(z, h, n_steps) -> y_hat [n_steps, batch, ...], the state after them, a [n_steps, batch]

which is taken where nothing else than `forward` would be passed by: no hook on the step, no `forward` of a subclass.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ponder_utils._check import check_int
from ponder_utils.cells import GRUCell, RNNCell, begin, hidden


def start(step: Any, x: Tensor) -> tuple[Any, Any]:
    """What the step function takes in place of x at every step, and its first state: x and None without a `start`."""
    return step.start(x) if hasattr(step, "start") else (x, None)


def unroll(step: Any, z: Any, h: Any, n_steps: int) -> tuple[Tensor, Any, Tensor]:
    """Take n steps: -> y_hat [n_steps, batch, ...], the state after them, halting logits [n_steps, batch]."""
    if _may_unroll(step):
        return step.unroll(z, h, n_steps)
    y_hats, halt_logits = [], []
    for _ in range(n_steps):
        y_hat, h, halt_logit = step(z, h)
        y_hats.append(y_hat)
        halt_logits.append(halt_logit)
    return torch.stack(y_hats), h, torch.stack(halt_logits)


def _may_unroll(step: Any) -> bool:
    """Is there an `unroll`, and does it do all that calls would?"""
    if not hasattr(step, "unroll") or not isinstance(step, nn.Module):
        return hasattr(step, "unroll")
    hooks = step._forward_hooks or step._forward_pre_hooks or step._backward_hooks or step._backward_pre_hooks
    nearest = next(kind for kind in type(step).__mro__ if {"unroll", "forward"} & vars(kind).keys())
    return "unroll" in vars(nearest) and not (hooks or step._compiled_call_impl or "forward" in vars(step))


class RecurrentStep(nn.Module):
    """A recurrent cell, and one linear layer that reads both the answer and the halting logit from its state.

    Step 1 starts from h_1 = 0 and sees x.

    Args:
        cell: as described in `ponder_utils.cells`, such as `nn.LSTMCell(8, 64)`.
        n_outputs: size of one answer; 1 gives y_hat_n of shape [batch], more give [batch, n_outputs].
    """

    def __init__(self, cell: Any, n_outputs: int = 1) -> None:
        super().__init__()
        self.cell = cell
        self.n_outputs = check_int("n_outputs", n_outputs, 1)
        self.heads = nn.Linear(cell.hidden_size, n_outputs + 1)

    def start(self, x: Tensor) -> tuple[Tensor, None]:
        """x: [batch, ...] -> the input's part of every step, and no state yet."""
        return begin(self.cell, x), None

    def forward(self, z: Any, h: Any) -> tuple[Tensor, Any, Tensor]:
        """x or what `start` made of it, and the state -> y_hat_n [batch] or [batch, n_outputs], h_{n+1}, a_n."""
        h = self.cell(z, h)
        y_hat, halt_logit = self.read(hidden(h))
        return y_hat, h, halt_logit

    def unroll(self, z: Any, h: Any, n_steps: int) -> tuple[Tensor, Any, Tensor]:
        """So many calls of `forward`, with the heads applied to all the states at once."""
        states = []
        for _ in range(n_steps):
            h = self.cell(z, h)
            states.append(hidden(h))
        y_hat, halt_logits = self.read(torch.stack(states))
        return y_hat, h, halt_logits

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """h: [..., hidden_size] -> y_hat [...] or [..., n_outputs], and halting logits [...]."""
        y_hat, halt_logit = self.heads(h).split([self.n_outputs, 1], dim=-1)
        return (y_hat.squeeze(-1) if self.n_outputs == 1 else y_hat), halt_logit.squeeze(-1)


class RNNStep(RecurrentStep):
    """The step of the paper's parity experiments (App. B.1: 128 units): an `RNNCell` with its heads."""

    def __init__(self, input_size: int, hidden_size: int, n_outputs: int = 1) -> None:
        super().__init__(RNNCell(input_size, hidden_size), n_outputs)


class GRUStep(RecurrentStep):
    """A `GRUCell` with its heads, the step of much public code."""

    def __init__(self, input_size: int, hidden_size: int, n_outputs: int = 1) -> None:
        super().__init__(GRUCell(input_size, hidden_size), n_outputs)


class _Around(nn.Module):
    """What is around a step function, and does as that does."""

    def __init__(self, step: Any) -> None:
        super().__init__()
        self.step = step

    def start(self, x: Tensor) -> tuple[Any, Any]:
        return start(self.step, x)

    def forward(self, z: Any, h: Any) -> tuple[Tensor, Any, Tensor]:
        return self.step(z, h)

    def unroll(self, z: Any, h: Any, n_steps: int) -> tuple[Tensor, Any, Tensor]:
        return unroll(self.step, z, h, n_steps)


class EncodedStep(_Around):
    """A step function behind an encoder, which looks at the input once, before the first step.

    Args:
        encoder: x [batch, ...] -> what `step` takes as its input, such as a vector [batch, input_size].
        step: any step function.
    """

    def __init__(self, encoder: Callable[[Tensor], Tensor], step: Any) -> None:
        super().__init__(step)
        self.encoder = encoder

    def start(self, x: Tensor) -> tuple[Any, Any]:
        """x: [batch, ...] -> what the step makes of the encoded input."""
        return super().start(self.encoder(x))


class JudgedStep(nn.Module):
    """A step function that has learnt to answer, and now only learns when to halt.

    Its weights are frozen, and the halting logit is read anew from its states.

    Args:
        step: a step function, a module whose state is a tensor.
        judge: the state h_{n+1} [batch, ...] -> the logit a_n [batch].
    """

    def __init__(self, step: nn.Module, judge: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.step, self.judge = step.requires_grad_(False), judge

    def start(self, x: Tensor) -> tuple[Any, Any]:
        """As the step does it."""
        return start(self.step, x)

    def forward(self, z: Any, h: Any) -> tuple[Tensor, Any, Tensor]:
        """As the step does it, but for a_n."""
        y_hat, h, _ = self.step(z, h)
        return y_hat, h, self.judge(h)


class CheckpointedStep(_Around):
    """A step function that is trained with less memory: what it forgets on the way it computes again for the gradient.

    Of every `segment` steps in a row only the first state and the answers are kept (`torch.utils.checkpoint`), so that
    memory grows with N / segment + segment in place of N, at the price of a second forward pass. Smallest at about
    segment = sqrt(N).
    """

    def __init__(self, step: Any, segment: int) -> None:
        super().__init__(step)
        self.segment = check_int("segment", segment, 1)

    def unroll(self, z: Any, h: Any, n_steps: int) -> tuple[Tensor, Any, Tensor]:
        """So many calls of `forward`, segment by segment."""
        y_hats, halt_logits = [], []
        for done in range(0, n_steps, self.segment):
            n = min(self.segment, n_steps - done)
            y_hat, h, halt_logit = checkpoint(unroll, self.step, z, h, n, use_reentrant=False)
            y_hats.append(y_hat)
            halt_logits.append(halt_logit)
        return torch.cat(y_hats), h, torch.cat(halt_logits)
