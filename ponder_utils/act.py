"""Adaptive Computation Time: a recurrent cell that takes several steps of thought for each time step of its input.

Graves 2016, arXiv:1603.08983, writes h_n for lambda_n, and s_n for h_n. Time steps: t = 1..T; steps of each: 1..N(t).
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int, check_real, check_type
from ponder_utils.cells import check_cell, encode_input
from ponder_utils.halting import PonderOutput, at_least_float32, average
from ponder_utils.states import cast_like, check_sequence, hidden_state, map_batched, select_rows
from ponder_utils.steps import set_halting_bias


class ACTOutput(NamedTuple):
    """The answers of ACT at every time step, and their price. The ponder cost of a time step is N(t) + R(t)."""

    y_hat: Tensor  # [T, batch] or [T, batch, n_outputs]
    steps: Tensor  # [T, batch] N(t), whole numbers
    remainder: Tensor  # [T, batch] R(t) = 1 - sum_{n<N(t)} lambda_n, differentiable
    state: Any  # the mean-field state after the last time step, from which to go on


class ACT(nn.Module):
    """A cell that repeats itself at every time step of a sequence until its halting unit has had enough (Sec. 2).

    N(t) is the first n at which the halting units lambda_1 + ... + lambda_n >= 1 - epsilon, but at most max_steps.
    Answer and next state are averages over the steps (Eq. 9).

    Args:
        cell: as described in `ponder_utils.cells`, with an input_size of one more than the input has (the flag).
        n_outputs: size of one answer; 1 gives y_hat of shape [T, batch], more give [T, batch, n_outputs].
        epsilon: in (0, 1], so that a single step can suffice.
        halting_bias: of the halting unit before training: the higher, the fewer steps at first. Defaults: the paper's.
    """

    def __init__(
        self, cell: Any, n_outputs: int = 1, *, epsilon: float = 0.01, max_steps: int = 100, halting_bias: float = 1.0
    ) -> None:
        super().__init__()
        self.cell = check_cell(cell, "input_size", "hidden_size")
        self.n_outputs = check_int("n_outputs", n_outputs, 1)
        self.epsilon = check_real("epsilon", epsilon, 0, 1, open_low=True)
        self.max_steps = check_int("max_steps", max_steps, 1)
        self.output = nn.Linear(cell.hidden_size, n_outputs)
        self.halting = nn.Linear(cell.hidden_size, 1)
        set_halting_bias(self.halting, halting_bias)

    def forward(self, x: Tensor, state: Any = None) -> ACTOutput:
        """Run a sequence x [T, batch, cell.input_size - 1], without the flag, from the cell's state (None: zeros)."""
        check_sequence(x, state)
        if x.shape[2:] != (self.cell.input_size - 1,):
            raise ValueError(f"x must be [T, batch, input_size - 1 = {self.cell.input_size - 1}]; got {list(x.shape)}")
        answers = []
        for x_t in x:
            state, steps, remainder = self._ponder(x_t, state)
            # sum_n p_n y_n, read from sum_n p_n h_n, since the output is linear
            answers.append((self.output(hidden_state(state)), steps, remainder))
        y_hat, steps, remainder = (torch.stack(parts) for parts in zip(*answers, strict=True))
        return ACTOutput(y_hat.squeeze(-1) if self.n_outputs == 1 else y_hat, steps, remainder, state)

    def _ponder(self, x: Tensor, state: Any) -> tuple[Any, Tensor, Tensor]:
        """Return mean-field state, N(t) [batch] and R(t) [batch] of one time step, for x [batch, inputs]."""
        rows = torch.arange(len(x), device=x.device)  # the samples that still think
        left = at_least_float32(x.new_ones(len(x)))  # 1 - sum_{j<n} lambda_j of these
        steps = torch.empty_like(rows)
        remainder = torch.empty_like(left)
        mean = None
        for n in range(1, self.max_steps + 1):
            if n <= 2:  # with the flag: a new input, and from step 2 on the same again
                z = encode_input(self.cell, nn.functional.pad(x, (0, 1), value=float(n == 1)))
            state = self.cell(z, state)

            # lambda_n = sigmoid(W h_n + b)
            logit = self.halting(hidden_state(state)).squeeze(1)
            lambda_n = torch.sigmoid(at_least_float32(logit))

            # N(t) = min{n : lambda_1 + ... + lambda_n >= 1 - epsilon}, and at most the cap
            halts = (left - lambda_n <= self.epsilon) | (n == self.max_steps)

            # the mean: sum_n p_n h_n, with p_n = lambda_n if n < N(t), R(t) if n = N(t)
            mean = _add(mean, rows, torch.where(halts, left, lambda_n), state)

            # R(t) = 1 - sum_{n<N(t)} lambda_n
            steps[rows[halts]] = n
            remainder[rows[halts]] = left[halts]
            left = left - lambda_n

            going = (~halts).nonzero().squeeze(1)
            if len(going) == 0:
                break
            if len(going) < len(rows):
                rows, left, state, x, z = select_rows((rows, left, state, x, z), going)
        mean = map_batched(cast_like, mean, state)
        return mean, steps, remainder


def act_average(output: PonderOutput, epsilon: float = 0.01) -> ACTOutput:
    """Return the answer of ACT at a single time step, from the N steps that a `PonderNet` took with any step function.

    lambda_n = sigmoid(a_n), and the N steps are the cap. Places that halt by themselves have a y, N(t) and R(t) each.
    """
    check_type("output", output, PonderOutput)
    check_real("epsilon", epsilon, 0, 1, open_low=True)
    lambdas = torch.sigmoid(at_least_float32(output.halt_logits))  # [N, batch, *places]
    left = 1 - torch.cat([torch.zeros_like(lambdas[:1]), lambdas[:-1].cumsum(0)])  # 1 - sum_{j<n} lambda_j

    # N(t) = min{n : lambda_1 + ... + lambda_n >= 1 - epsilon}, and at most the cap
    goes_on = left - lambdas > epsilon
    goes_on[-1] = False
    goes_on = goes_on.cumprod(0)  # 1 for n < N, 0 from N on
    steps = goes_on.sum(0) + 1

    # R = 1 - sum_{n<N} lambda_n
    remainder = left.gather(0, steps[None] - 1)[0]

    # p_n = lambda_n if n < N, R if n = N
    n = torch.arange(1, len(lambdas) + 1, device=lambdas.device).view(-1, *[1] * (lambdas.ndim - 1))
    p = torch.where(n == steps, remainder, lambdas * goes_on)
    return ACTOutput(average(p, output.y_hat)[None], steps[None], remainder[None], None)


def _add(total: Any, rows: Tensor, p: Tensor, state: Any) -> Any:
    """Add p * state to these rows of the total, None at first, in place and in the precision of p."""
    part = map_batched(lambda s: p[:, None] * s.to(p.dtype), state)
    if total is None:
        return part
    return map_batched(lambda t, more: t.index_add_(0, rows, more), total, part)
