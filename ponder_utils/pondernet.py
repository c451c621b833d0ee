"""PonderNet (arXiv:2107.05407): any step function, repeated, with a learnt distribution over when to stop."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils import rules
from ponder_utils._check import check_int
from ponder_utils.halting import PonderOutput, at_least_float32, average, halting_log_probs
from ponder_utils.states import check_batch, first_tensor, select_rows
from ponder_utils.steps import check_step, start, unroll

# How many steps `predict` takes between two checks of who has halted, as measured on a CPU.
SHORT_STRIDE, LONG_STRIDE, MANY_ROWS = 2, 5, 512


class Prediction(NamedTuple):
    """One answer per sample, and what it cost; or one at each place of it, if every place halts by itself."""

    y_hat: Tensor  # [batch, ...]
    steps: Tensor  # [batch] or [batch, *places]: the step n that the answer comes from; N for the expectation
    p_halt: Tensor  # in the shape of steps: the p_n of that step; 1 for the expectation, which rests on every step
    computed: Tensor  # [batch] steps computed for this sample, up to the check at which it left the batch


class PonderNet(nn.Module):
    """Repeats a step function, s(x, h_n) -> y_hat_n, h_{n+1}, halting logit a_n, at most N = max_steps >= 1 times.

    The step is as described in `ponder_utils.steps`. An input x is a tensor [batch, ...], or a tuple, list, dict or
    dataclass of such tensors: whatever the step reads. A step may return a halting logit for each sample, [batch], or
    for each of its places, [batch, *places], as many as its answer has: then every place halts by itself.
    """

    def __init__(self, step: Callable[[Any, Any], tuple[Tensor, Any, Tensor]], max_steps: int) -> None:
        super().__init__()
        self.step = check_step(step)
        self.max_steps = check_int("max_steps", max_steps, 1)

    def forward(self, x: Any, max_steps: int | None = None) -> PonderOutput:
        """Run all N steps, as training does. max_steps: another N than that of the network, in this call."""
        n_rows = first_tensor(x).shape[0]
        z, h = start(self.step, x)
        y_hat, _, halt_logits = self._unroll(z, h, self._cap(max_steps), n_rows)
        return PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits))

    @torch.no_grad()
    def predict(
        self, x: Any, rule: str | rules.Rule = "sample", *, generator: torch.Generator | None = None,
        check_every: int | None = None, max_steps: int | None = None, **parameters: Any,
    ) -> Prediction:  # fmt: skip
        """Think about x until the halting rule says stop.

        The answers are those that the rule takes from all N steps, but samples that have halted, at all their places,
        leave the batch and cost nothing more. A check of who has halted costs time, too, so it is made every few steps.
        Dropout and the like follow the module's mode: call `eval()` first.

        Args:
            rule: a name in `rules.RULES`, such as "sample" (the paper's: halt at step n with probability p_n),
                "quantile" or "confidence", or any function like those in `ponder_utils.rules`.
            generator: for "sample": the same seed gives the same answers.
            check_every: steps from one check to the next; with 1 no step is computed that is not needed. None:
                `SHORT_STRIDE` as long as more than `MANY_ROWS` samples think, then `LONG_STRIDE`.
            max_steps: another N than that of the network, in this call.
            parameters: of the rule, such as q=0.9. If it takes tensors, they have one value per halting logit.
        ValueError or TypeError if an argument is not as above.
        """
        if check_every is not None:
            check_int("check_every", check_every, 1)
        max_steps = self._cap(max_steps)
        like = first_tensor(x)
        if rule in ("fixed", rules.fixed):
            check_every = check_int("step", parameters.get("step"), 1, max_steps)
        z, h = start(self.step, x)
        check_batch("what step.start returns", (z, h), like.shape[0])
        rows = torch.arange(like.shape[0], device=like.device)  # the samples that still think
        computed = torch.zeros_like(rows)
        n = 0
        while n < max_steps:
            stride = check_every or (SHORT_STRIDE if len(rows) > MANY_ROWS else LONG_STRIDE)
            stride = min(stride, max_steps - n)
            new_y_hat, h, new_logits = self._unroll(z, h, stride, len(rows))
            if n == 0:
                y_hat, halt_logits = new_y_hat, new_logits
                stop, parameters = rules.prepare(rule, parameters, halt_logits[0], max_steps, generator)
                answer, log_p_halt = torch.zeros_like(y_hat[0]), torch.zeros_like(at_least_float32(halt_logits[0]))
                steps = torch.zeros_like(halt_logits[0], dtype=torch.int64)
            else:
                y_hat, halt_logits = torch.cat([y_hat, new_y_hat]), torch.cat([halt_logits, new_logits])
            n += stride
            computed.index_fill_(0, rows, n)
            so_far = PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits, remainder=n == max_steps))
            halt_at = rules.ask(stop, so_far, parameters, max_steps)
            everywhere = (halt_at[:, None] > 0).flatten(1).all(1)
            halted = everywhere.nonzero().squeeze(1)
            if len(halted) == 0:
                continue
            samples, at = rows[halted], halt_at[halted]
            places = torch.arange(halt_at.numel(), device=like.device).view_as(halt_at)[halted]  # [halted, *places]
            answer.index_copy_(0, samples, y_hat.flatten(1, halt_at.ndim)[at - 1, places])
            log_p_halt.index_copy_(0, samples, so_far.log_p.flatten(1)[at - 1, places])
            steps.index_copy_(0, samples, at)
            if len(halted) == len(rows):
                break
            going = (~everywhere).nonzero().squeeze(1)
            rows, z, h, parameters = select_rows((rows, z, h, parameters), going)
            y_hat, halt_logits = y_hat.index_select(1, going), halt_logits.index_select(1, going)
        return Prediction(answer, steps, log_p_halt.exp(), computed)

    @torch.no_grad()
    def expectation(
        self, x: Any, activation: Callable[[Tensor], Tensor] | None = None, max_steps: int | None = None
    ) -> Prediction:
        """Run all steps, and average the answers, or what `activation` makes of them, with weights p_n.

        With `torch.sigmoid` the average is one of probabilities, which sampling gives on average; without, of logits.
        """
        y_hat, _, log_p = self(x, max_steps)
        y_hat = y_hat if activation is None else activation(y_hat)
        all_steps = torch.full(log_p.shape[1:], len(log_p), device=log_p.device)
        computed = torch.full(log_p.shape[1:2], len(log_p), device=log_p.device)
        return Prediction(average(log_p.exp(), y_hat), all_steps, torch.ones_like(log_p[0]), computed)

    def _cap(self, max_steps: int | None) -> int:
        return self.max_steps if max_steps is None else check_int("max_steps", max_steps, 1)

    def _unroll(self, z: Any, h: Any, n_steps: int, n_rows: int) -> tuple[Tensor, Any, Tensor]:
        y_hat, h, halt_logits = unroll(self.step, z, h, n_steps)
        if halt_logits.shape[:2] != (n_steps, n_rows) or y_hat.shape[: halt_logits.ndim] != halt_logits.shape:
            wanted = f"y_hat of shape [batch, ...] and halt_logit [batch] or [batch, *places], batch = {n_rows}"
            came = f"{list(y_hat.shape[1:])} and {list(halt_logits.shape[1:])}"
            raise ValueError(f"step must return {wanted}; got {came}")
        check_batch("the state that step returns", h, n_rows)
        return y_hat, h, halt_logits
