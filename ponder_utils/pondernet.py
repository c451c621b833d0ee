"""PonderNet: any step function, repeated, with a learnt distribution over when to stop.

Banino, Balaguer & Blundell 2021, arXiv:2107.05407.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from ponder_utils import rules
from ponder_utils._check import check_choice, check_int
from ponder_utils.cells import select
from ponder_utils.halting import halting_log_probs

RULES = ("sample", "quantile", "most_probable", "fixed", "expectation")


class PonderOutput(NamedTuple):
    """All N steps, as training needs them."""

    y_hat: Tensor  # [N, batch, ...] the answer after each step
    halt_logits: Tensor  # [N, batch] a_n, with lambda_n = sigmoid(a_n)
    log_p: Tensor  # [N, batch] log of the halting distribution


class Prediction(NamedTuple):
    """One answer per sample, and what it cost."""

    y_hat: Tensor  # [batch, ...]
    steps: Tensor  # [batch] the step n that the answer comes from; N for the expectation
    p_halt: Tensor  # [batch] the p_n of that step; 1 for the expectation, which rests on every step
    computed: Tensor  # [batch] steps computed for this sample: more than `steps` only for the most probable step


class PonderNet(nn.Module):
    """Repeats a step function, s(x, h_n) -> y_hat_n, h_{n+1}, halting logit a_n, at most N = max_steps times.

    Args:
        step: a step function as described in `ponder_utils.steps`: a module, or any callable.
        max_steps: N >= 1.
    """

    def __init__(self, step: Callable[[Any, Any], tuple[Tensor, Any, Tensor]], max_steps: int) -> None:
        super().__init__()
        if not callable(step):
            raise TypeError(f"step must be callable as step(x, h) -> y_hat, h, halt_logit; got {step!r}")
        self.step = step
        self.max_steps = check_int("max_steps", max_steps, 1)

    def forward(self, x: Tensor) -> PonderOutput:
        """Run all N steps, as training does. x: [batch, ...]."""
        z, h = self._start(x)
        y_hats, halt_logits = [], []
        for _ in range(self.max_steps):
            y_hat, h, halt_logit = self._step(z, h, len(x))
            y_hats.append(y_hat)
            halt_logits.append(halt_logit)
        logits = torch.stack(halt_logits)
        return PonderOutput(torch.stack(y_hats), logits, halting_log_probs(logits))

    @torch.no_grad()
    def predict(
        self,
        x: Tensor,
        rule: str = "sample",
        *,
        q: float = 0.5,
        step: int | None = None,
        generator: torch.Generator | None = None,
        activation: Callable[[Tensor], Tensor] | None = None,
    ) -> Prediction:
        """Think until the halting rule says stop. Samples that have halted leave the batch and cost nothing more.

        Dropout and the like follow the module's mode: call `eval()` first.

        Args:
            x: [batch, ...].
            rule: "sample" (the paper's: halt at step n with probability p_n), "quantile" (first step where the CDF
                reaches `q`), "most_probable", "fixed" (at `step`), or "expectation": run all steps, and average
                the answers with weights p_n.
            q: for "quantile", in (0, 1].
            step: for "fixed", in 1..max_steps.
            generator: for "sample"; the same seed gives the same answer.
            activation: for "expectation": applied to y_hat_n before it is averaged. With `torch.sigmoid` the
                average is one of probabilities, which is what sampling gives in the mean; without, of logits.

        Raises:
            ValueError, TypeError: if `rule`, `q` or `step` is not as above.
        """
        check_choice("rule", rule, RULES)
        if rule == "expectation":
            return self._expectation(x, activation)
        n_rows, device = len(x), x.device
        if rule == "sample":
            decide = rules.sample(n_rows, device, generator)
        elif rule == "quantile":
            decide = rules.quantile(n_rows, device, q)
        elif rule == "most_probable":
            decide = rules.most_probable(n_rows, device)
        else:
            decide = rules.fixed(self.max_steps, step)

        z, h = self._start(x)
        rows = torch.arange(n_rows, device=device)  # which sample each row of the shrinking batch is
        log_survival = torch.zeros(n_rows, device=device)
        for n in range(1, self.max_steps + 1):
            y_hat, h, halt_logit = self._step(z, h, len(rows))
            if n == 1:
                answer = torch.empty((n_rows, *y_hat.shape[1:]), dtype=y_hat.dtype, device=device)
                p_halt = torch.empty_like(log_survival)
                steps, computed = torch.empty_like(rows), torch.empty_like(rows)
            log_p = log_survival
            if n < self.max_steps:
                log_p = log_survival + logsigmoid(halt_logit.float())
                log_survival = log_survival + logsigmoid(-halt_logit.float())
            else:  # the last step takes the remainder
                log_survival = torch.full_like(log_survival, -torch.inf)
            takes, stops = decide(n, rows, log_p, log_survival)
            taken = rows[takes]
            answer[taken], p_halt[taken], steps[taken] = y_hat[takes], log_p[takes].exp(), n
            computed[rows[stops]] = n
            going = (~stops).nonzero().squeeze(1)
            if len(going) == 0:
                break
            if len(going) < len(rows):
                rows, log_survival, z, h = select((rows, log_survival, z, h), going)
        return Prediction(answer, steps, p_halt, computed)

    def _expectation(self, x: Tensor, activation: Callable[[Tensor], Tensor] | None) -> Prediction:
        y_hat, _, log_p = self(x)
        if activation is not None:
            y_hat = activation(y_hat)
        weight = log_p.exp().view(*log_p.shape, *[1] * (y_hat.ndim - 2))
        all_steps = torch.full((len(x),), self.max_steps, device=x.device)
        return Prediction((weight * y_hat).sum(0), all_steps, torch.ones_like(log_p[0]), all_steps)

    def _start(self, x: Tensor) -> tuple[Any, Any]:
        if not isinstance(x, Tensor) or x.ndim == 0:
            raise TypeError(f"x must be a tensor of shape [batch, ...]; got {type(x).__name__} {x!r}")
        return self.step.start(x) if hasattr(self.step, "start") else (x, None)

    def _step(self, z: Any, h: Any, batch_size: int) -> tuple[Tensor, Any, Tensor]:
        y_hat, h, halt_logit = self.step(z, h)
        if halt_logit.shape != (batch_size,) or y_hat.shape[:1] != (batch_size,):
            raise ValueError(
                f"step must return y_hat of shape [batch, ...] and halt_logit of shape [batch], batch = {batch_size}; "
                f"got {list(y_hat.shape)} and {list(halt_logit.shape)}"
            )
        return y_hat, h, halt_logit
