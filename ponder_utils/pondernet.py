"""PonderNet: any step function, repeated, with a learnt distribution over when to stop.

Banino, Balaguer & Blundell 2021, arXiv:2107.05407.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import logsigmoid

from ponder_utils import rules
from ponder_utils._check import check_choice, check_int
from ponder_utils.cells import select
from ponder_utils.halting import halting_log_probs
from ponder_utils.steps import start, unroll

# How many steps `predict` takes between two looks at who has halted: measured, with `benchmarks`, on a CPU.
SHORT_STRIDE, LONG_STRIDE, MANY_ROWS = 2, 5, 512

RULES = ("sample", "quantile", "threshold", "most_probable", "fixed", "expectation")


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
    computed: Tensor  # [batch] steps computed for this sample, up to the look at which it left the batch


def average(weight: Tensor, y_hat: Tensor) -> Tensor:
    """The sum over steps of weight [N, batch] times answer [N, batch, ...] -> [batch, ...]."""
    return (weight.view(*weight.shape, *[1] * (y_hat.ndim - 2)) * y_hat).sum(0)


class PonderNet(nn.Module):
    """Repeats a step function, s(x, h_n) -> y_hat_n, h_{n+1}, halting logit a_n, at most N = max_steps >= 1 times.

    The step is as described in `ponder_utils.steps`: a module, or any callable.
    """

    def __init__(self, step: Callable[[Any, Any], tuple[Tensor, Any, Tensor]], max_steps: int) -> None:
        super().__init__()
        if not callable(step):
            raise TypeError(f"step must be callable as step(x, h) -> y_hat, h, halt_logit; got {step!r}")
        self.step = step
        self.max_steps = check_int("max_steps", max_steps, 1)

    def extra_repr(self) -> str:
        """For print."""
        return f"max_steps={self.max_steps}"

    def forward(self, x: Tensor) -> PonderOutput:
        """Run all N steps, as training does. x: [batch, ...]."""
        z, h = self._start(x)
        y_hat, _, halt_logits = self._unroll(z, h, self.max_steps, len(x))
        return PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits))

    @torch.no_grad()
    def predict(
        self, x: Tensor, rule: str | rules.RuleMaker = "sample", *, q: float = 0.5, step: int | None = None,
        generator: torch.Generator | None = None, activation: Callable[[Tensor], Tensor] | None = None,
        look_every: int | None = None,
    ) -> Prediction:  # fmt: skip
        """Think about x [batch, ...] until the halting rule says stop.

        Samples that have halted leave the batch and cost nothing more. To look who has halted costs time, too, about as
        much as a step of some hundred samples. So it is done every few steps, and a sample stays until the next look;
        its answer is that of the step at which it halted all the same.

        Dropout and the like follow the module's mode: call `eval()` first.

        Args:
            rule: "sample" (the paper's: halt at step n with probability p_n; the same seed of the `generator` gives the
                same answer), "quantile" (first step where the CDF reaches `q`, in (0, 1]), "threshold" (first step
                where lambda_n reaches `q`), "most_probable", "fixed" (at `step`, in 1..max_steps), or "expectation":
                run all steps, and average the answers with weights p_n. Or a function of batch size and device that
                makes a rule, such as `partial(rules.confidence, q=0.9)`: see `ponder_utils.rules`.
            activation: for "expectation": applied to y_hat_n before it is averaged. With `torch.sigmoid` the
                average is one of probabilities, which is what sampling gives in the mean; without, of logits.
            look_every: steps from one look to the next. None: `SHORT_STRIDE` as long as more than `MANY_ROWS` samples
                think, then `LONG_STRIDE`. With 1 no step is computed that is not needed.
        ValueError or TypeError if `rule`, `q`, `step` or `look_every` is not as above.
        """
        if not callable(rule):
            check_choice("rule", rule, RULES)
        if rule == "expectation":
            return self._expectation(x, activation)
        if look_every is not None:
            check_int("look_every", look_every, 1)
        n_rows, device, last = len(x), x.device, self.max_steps
        if callable(rule):
            decide = rule(n_rows, device)
        elif rule == "sample":
            decide = rules.sample(n_rows, device, generator)
        elif rule == "most_probable":
            decide = rules.most_probable(n_rows, device)
        elif rule == "quantile":
            decide = rules.quantile(n_rows, device, q)
        elif rule == "threshold":
            decide = rules.threshold(n_rows, device, q)
        else:
            look_every = last = check_int("step", step, 1, self.max_steps)
            decide = rules.at_the_end
        return self._halting(x, decide, last, look_every)

    def _halting(self, x: Tensor, decide: rules.HaltingRule, last: int, look_every: int | None) -> Prediction:
        """Every sample's steps up to the one that `decide` takes its answer from, or up to the `last` one."""
        z, h = self._start(x)
        rows = torch.arange(len(x), device=x.device)  # which sample each row of the shrinking batch is
        log_survival = torch.zeros(len(x), dtype=torch.float32, device=x.device)  # log prod_{j<=n} (1 - lambda_j)
        p_halt = torch.zeros_like(log_survival)
        steps, computed = torch.zeros_like(rows), torch.zeros_like(rows)
        n = 0
        while len(rows) or n == 0:
            c = min(look_every or (SHORT_STRIDE if len(rows) > MANY_ROWS else LONG_STRIDE), last - n)
            y_hat, h, a = self._unroll(z, h, c, len(rows))  # [c, rows, ...]
            if n == 0:
                answer = torch.zeros_like(y_hat[0])
            a = a.float()
            after = log_survival + logsigmoid(-a).cumsum(0)
            before = torch.cat([log_survival[None], after[:-1]])
            log_p = before + logsigmoid(a)
            if n + c == self.max_steps:  # the last step takes the remainder
                log_p[-1] = before[-1]
            if n + c == last:
                after[-1] = -torch.inf

            take, goes_on = decide(rows, log_p, after, y_hat)
            taken = (take < c).nonzero().squeeze(1)
            if len(taken) > 0:
                at, place = select((take, rows), taken)
                answer.index_copy_(0, place, y_hat[at, taken])
                p_halt.index_copy_(0, place, log_p[at, taken])
                steps.index_copy_(0, place, at + (n + 1))
            n += c
            computed.index_fill_(0, rows, n)
            going, log_survival = goes_on.nonzero().squeeze(1), after[-1]
            if len(going) < len(rows):
                rows, z, h, log_survival = select((rows, z, h, log_survival), going)
        return Prediction(answer, steps, p_halt.exp(), computed)

    def _expectation(self, x: Tensor, activation: Callable[[Tensor], Tensor] | None) -> Prediction:
        y_hat, _, log_p = self(x)
        y_hat = y_hat if activation is None else activation(y_hat)
        all_steps = torch.full((len(x),), self.max_steps, device=x.device)
        return Prediction(average(log_p.exp(), y_hat), all_steps, torch.ones_like(log_p[0]), all_steps)

    def _start(self, x: Tensor) -> tuple[Any, Any]:
        if not isinstance(x, Tensor) or x.ndim == 0:
            raise TypeError(f"x must be a tensor of shape [batch, ...]; got {type(x).__name__} {x!r}")
        return start(self.step, x)

    def _unroll(self, z: Any, h: Any, n_steps: int, batch_size: int) -> tuple[Tensor, Any, Tensor]:
        y_hat, h, halt_logits = unroll(self.step, z, h, n_steps)
        if halt_logits.shape != (n_steps, batch_size) or y_hat.shape[:2] != (n_steps, batch_size):
            wanted = f"y_hat of shape [batch, ...] and halt_logit of shape [batch], batch = {batch_size}"
            came = f"{list(y_hat.shape[1:])} and {list(halt_logits.shape[1:])}"
            raise ValueError(f"step must return {wanted}; got {came}")
        return y_hat, h, halt_logits
