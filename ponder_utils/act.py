"""Adaptive Computation Time: a recurrent cell that takes several updates for each time step.

Graves 2016, arXiv:1603.08983. For each time step t the cell is updated n = 1, 2, ... times. A halting unit reads
h_n in (0, 1) from every intermediate state; once the h_n sum to 1 - epsilon, thinking stops. What the network answers,
and what it carries to the next time step, are averages over its intermediate states.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int, check_real
from ponder_utils.cells import begin, each, hidden, select
from ponder_utils.pondernet import PonderOutput, average


class ACTOutput(NamedTuple):
    """What ACT answered at every time step, and what that cost. The ponder cost of a time step is N(t) + R(t)."""

    y_hat: Tensor  # [T, batch] or [T, batch, n_outputs]
    n_updates: Tensor  # [T, batch] N(t), whole numbers
    remainder: Tensor  # [T, batch] R(t), differentiable
    state: Any  # the mean-field state after the last time step; pass it on to continue the sequence


def act_average(output: PonderOutput, epsilon: float = 0.01) -> ACTOutput:
    """ACT around any step function, at a single time step: what it answers with the N steps that a PonderNet took.

    The halting units are h_n = sigmoid(a_n). The answer is the average sum_n p_n y_hat_n, and N the cap M. There is no
    mean-field state, since no time step follows, and no flag: `state` is None. epsilon: as for `ACT`.
    """
    h = torch.sigmoid(output.halt_logits.float() if output.halt_logits.dtype != torch.float64 else output.halt_logits)
    left = 1 - torch.cat([torch.zeros_like(h[:1]), h[:-1].cumsum(0)])  # 1 - sum_{j<n} h_j
    going = left - h > check_real("epsilon", epsilon, 0, 1, open_low=True)
    going = torch.cat([going[:-1], torch.zeros_like(going[:1])]).cumprod(0)  # 1 for n < N
    n_updates = going.sum(0) + 1
    remainder = left.gather(0, n_updates[None] - 1)[0]
    n = torch.arange(1, len(h) + 1, device=h.device)[:, None]
    weight = torch.where(n == n_updates, remainder, h * going)  # p_n
    return ACTOutput(average(weight, output.y_hat)[None], n_updates[None], remainder[None], None)


class ACT(nn.Module):
    """Updates a cell until its halting unit has had enough, at every step of a sequence (Sec. 2).

    The halting unit is h_n = sigmoid(W_h s_n + b_h), with b_h = 1 at first. N(t) is the first n at which
    h_1 + ... + h_n >= 1 - epsilon, but at most M, and R(t) = 1 - sum_{n<N(t)} h_n is the remainder. The weights are
    p_n = h_n for n < N(t), and p_N(t) = R(t): they sum to 1, also where M cut thinking short. State and output are the
    averages sum_n p_n s_n and sum_n p_n y_n (Eq. 9). To every input a flag is appended, 1 at the first update of a
    time step and 0 at the others, so that the cell can tell a new input from the same one again.

    Args:
        cell: as described in `ponder_utils.cells`, with an input_size of one more than the input has (the flag).
        n_outputs: size of one answer; 1 gives y_hat of shape [T, batch], more give [T, batch, n_outputs].
        epsilon: in (0, 1]; lets a single update suffice (0.01 in the paper).
        max_updates: M >= 1 (100 in the paper).
    """

    def __init__(self, cell: Any, n_outputs: int = 1, *, epsilon: float = 0.01, max_updates: int = 100) -> None:
        super().__init__()
        if not (callable(cell) and hasattr(cell, "input_size") and hasattr(cell, "hidden_size")):
            raise TypeError(f"cell must be a recurrent cell with input_size and hidden_size; got {cell!r}")
        self.cell = cell
        self.n_outputs = check_int("n_outputs", n_outputs, 1)
        self.epsilon = check_real("epsilon", epsilon, 0, 1, open_low=True)
        self.max_updates = check_int("max_updates", max_updates, 1)
        self.output = nn.Linear(cell.hidden_size, n_outputs)
        self.halting = nn.Linear(cell.hidden_size, 1)
        nn.init.ones_(self.halting.bias)

    def extra_repr(self) -> str:
        """For print."""
        return f"epsilon={self.epsilon}, max_updates={self.max_updates}"

    def forward(self, x: Tensor, state: Any = None) -> ACTOutput:
        """Run a sequence. Samples that have halted cost nothing more until the next time step.

        x: [T, batch, cell.input_size - 1], without the flag; state: the cell's before the first time step, None: zeros.
        ValueError or TypeError if x is not as above.
        """
        self._check(x)
        steps = []
        for x_t in x:
            state, n_t, r_t = self._ponder(x_t, state)
            steps.append((self.output(hidden(state)), n_t, r_t))  # linear: the output of the average is that average
        y_hat, n_updates, remainder = map(torch.stack, zip(*steps, strict=True))
        return ACTOutput(y_hat.squeeze(-1) if self.n_outputs == 1 else y_hat, n_updates, remainder, state)

    @torch.no_grad()
    def predict(self, x: Tensor, state: Any = None) -> ACTOutput:
        """`forward` without a gradient: the answers, and N(t) updates for each time step and sample."""
        return self(x, state)

    def _ponder(self, x: Tensor, state: Any) -> tuple[Any, Tensor, Tensor]:
        """One time step. x: [batch, inputs] -> mean-field state, N [batch], R [batch]."""
        rows = torch.arange(len(x), device=x.device)  # which sample each row of the shrinking batch is
        n_updates, mean = torch.empty_like(rows), None
        for n in range(1, self.max_updates + 1):
            if n <= 2:  # with the flag: a new input, and then the same again
                z = begin(self.cell, nn.functional.pad(x, (0, 1), value=float(n == 1)))
            state = self.cell(z, state)
            logit = self.halting(hidden(state)).squeeze(1)
            h = torch.sigmoid(logit if logit.dtype == torch.float64 else logit.float())
            if n == 1:
                left = torch.ones_like(h)  # 1 - sum_{j<n} h_j of the rows that are still thinking
                remainder = torch.empty_like(h)
            stops = left - h <= self.epsilon if n < self.max_updates else torch.ones_like(h, dtype=torch.bool)
            weight = torch.where(stops, left, h)  # p_n
            mean = _add(mean, rows, weight, state)
            halted = rows[stops]
            n_updates[halted], remainder[halted] = n, left[stops]
            going = (~stops).nonzero().squeeze(1)
            if len(going) == 0:
                break
            left = left - h
            if len(going) < len(rows):
                rows, left, state, x = select((rows, left, state, x), going)
                z = z if n == 1 else select(z, going)  # after the first update it begins anew
        return each(lambda m, s: m.to(s.dtype), mean, state), n_updates, remainder

    def _check(self, x: Tensor) -> None:
        if not isinstance(x, Tensor) or x.ndim != 3 or len(x) == 0:
            came = f"shape {list(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
            raise TypeError(f"x must be a tensor of shape [T, batch, inputs] with T >= 1; got {came}")
        if x.shape[2] + 1 != self.cell.input_size:
            wanted = f"cell.input_size - 1 = {self.cell.input_size - 1} inputs, since ACT appends its flag"
            raise ValueError(f"x must have {wanted}; got {x.shape[2]}")


def _add(total: Any, rows: Tensor, weight: Tensor, state: Any) -> Any:
    """Add weight * state to these rows of the total, in place and in the precision of the weights.

    Rows that have halted are not touched. The first part, of all rows, is the total.
    """
    part = each(lambda s: weight[:, None] * s.to(weight.dtype), state)
    return part if total is None else each(lambda t, p: t.index_add_(0, rows, p), total, part)
