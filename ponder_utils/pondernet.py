"""PonderNet (arXiv:2107.05407): any step function, repeated, with a learnt distribution over when to stop."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils import rules
from ponder_utils._check import check_int
from ponder_utils.halting import PonderOutput, halting_log_probs
from ponder_utils.states import check_batch, check_no_list, first_tensor, map_batched, select_rows
from ponder_utils.steps import check_step, encode, unroll

# How many steps `predict` takes between two checks of who has halted, as measured on a CPU.
SHORT_STRIDE, LONG_STRIDE, MANY_ROWS = 2, 5, 512

OF_TRAINING = (nn.modules.dropout._DropoutNd, nn.modules.batchnorm._BatchNorm)


class Prediction(NamedTuple):
    """One answer per sample, and what it cost; or one at each place, if every place halts by itself, or time step."""

    y_hat: Tensor  # [batch, ...]
    steps: Tensor  # [batch] or [batch, *places]: the step n that the answer comes from
    p_halt: Tensor  # in the shape of steps: the p_n of that step
    computed: Tensor  # [batch] steps computed for this sample until it left the batch
    state: Any = None  # after that step, if `predict` was to keep it


def warn_in_training(model: nn.Module) -> None:
    """Warn whoever predicts while dropout, also that of attention or an LSTM, or batch normalisation trains."""
    for part in model.modules():
        rate = vars(part).get("dropout")
        if part.training and (isinstance(part, OF_TRAINING) or (isinstance(rate, float) and rate > 0)):
            warnings.warn("dropout or batch normalisation is in training mode; call eval() first", stacklevel=4)
            return


def cap_of(network: Any, max_steps: int | None) -> int:
    """Return N, how many steps to take at most in a call: what the call says, else the network's own max_steps."""
    return network.max_steps if max_steps is None else check_int("max_steps", max_steps, 1)


class PonderNet(nn.Module):
    """Repeats a step, as described in `ponder_utils.steps`, at most N = max_steps >= 1 times.

    If it gives a halting logit for each place of an answer, [batch, *places], every place halts by itself.
    """

    def __init__(self, step: Callable[[Any, Any], Any], max_steps: int) -> None:
        super().__init__()
        self.step = check_step(step)
        self.max_steps = check_int("max_steps", max_steps, 1)

    def forward(self, x: Any, max_steps: int | None = None) -> PonderOutput:
        """Run all N steps, as training does. max_steps: another N than that of the network, in this call."""
        like, cap = first_tensor(x), cap_of(self, max_steps)
        thinkers = Thinkers(self.step, *encode(self.step, x), like)
        thinkers.take(cap)
        return thinkers.output(cap)

    @torch.no_grad()
    def predict(
        self,
        x: Any,
        rule: str | rules.Rule = "quantile",
        *,
        mask: Tensor | None = None,
        generator: torch.Generator | None = None,
        check_every: int | None = None,
        max_steps: int | None = None,
        keep_state: bool = False,
        **parameters: Any,
    ) -> Prediction:
        """Think about x until the rule says stop. Samples that have halted, at all their places, leave the batch.

        Args:
            rule: a name in `rules.RULES`, or any function like those in `ponder_utils.rules`.
            mask: bool, in the shape of a step's halting logits: what is not asked halts at step 1. None: all are asked.
            generator: for "sample": the same seed gives the same answers.
            check_every: steps between two checks of who has halted. None: 2 while more than 512 samples think, then 5.
            max_steps: another N than that of the network, in this call.
            keep_state: whether to return each sample's state after its step; it must have one halting logit.
            parameters: of the rule, such as q=0.9. If it takes tensors, they have one value per halting logit.
        """
        if check_every is not None:
            check_int("check_every", check_every, 1)
        warn_in_training(self)
        stopping = rules.Stopping(rule, parameters, cap_of(self, max_steps), generator, mask)
        if stopping.rule is rules.fixed:
            check_every = parameters["step"]
        like = first_tensor(x)
        z, h = encode(self.step, x)
        check_batch("what step.encode returns", (z, h), len(like))
        check_no_list("x", (z, h), len(like))
        thinkers = Thinkers(self.step, z, h, like)
        prediction = thinkers.think(stopping, check_every, keep_state)
        state = thinkers.states_at(prediction.steps) if keep_state else None
        return prediction._replace(state=state)


class Thinkers:
    """The samples of a batch that still think, and what they have read so far. z_1 stands in for z at step 1."""

    def __init__(self, step: Any, z: Any, h: Any, x: Tensor, z_1: Any = None) -> None:
        self.step, self.z, self.h = step, z, h
        self.z_1 = z if z_1 is None else z_1
        self.rows = torch.arange(x.shape[0], device=x.device)  # their numbers in the batch
        self.n = 0
        self.computed = torch.zeros_like(self.rows)  # steps of each sample of the batch
        self.y_hat: Tensor
        self.halt_logits: Tensor
        self.states: list[Any] = []  # after each step, if they are kept, of those who took it

    def take(self, n_steps: int, keep_states: bool = False) -> None:
        """Take so many steps more; ValueError if answers, halting logits and states are not those of this batch."""
        if self.n == 0 and n_steps > 1 and self.z_1 is not self.z:
            self.take(1, keep_states)
            n_steps -= 1
        n_rows = self.rows.shape[0]
        y_hat, states, halt_logits = unroll(self.step, self.z if self.n else self.z_1, self.h, n_steps, keep_states)
        if halt_logits.shape[:2] != (n_steps, n_rows) or y_hat.shape[: halt_logits.ndim] != halt_logits.shape:
            wanted = f"y_hat [batch, ...] and halt_logit [batch] or [batch, *places], batch = {n_rows}"
            raise ValueError(f"step must return {wanted}; got {[*y_hat.shape[1:]]} and {[*halt_logits.shape[1:]]}")
        self.h = states[-1]
        check_batch("the state that step returns", self.h, n_rows)
        if keep_states:
            if halt_logits.ndim > 2:
                raise ValueError(f"step must return halt_logit [batch] for each state; got {[*halt_logits.shape[1:]]}")
            self.states += states
        if self.n:
            y_hat, halt_logits = torch.cat([self.y_hat, y_hat]), torch.cat([self.halt_logits, halt_logits])
        self.y_hat, self.halt_logits = y_hat, halt_logits
        self.n += n_steps
        self.computed.index_fill_(0, self.rows, self.n)

    def output(self, max_steps: int) -> PonderOutput:
        """Return what they have read; step N = max_steps takes what remains of the distribution."""
        log_p = halting_log_probs(self.halt_logits, remainder=self.n == max_steps)
        return PonderOutput(self.y_hat, self.halt_logits, log_p)

    def think(self, stopping: rules.Stopping, check_every: int | None, keep_states: bool) -> Prediction:
        """Take steps until the rule has stopped every sample, as `PonderNet.predict` does."""
        while self.n < stopping.max_steps:
            is_first, rows = self.n == 0, self.rows
            stride = check_every or (SHORT_STRIDE if len(rows) > MANY_ROWS else LONG_STRIDE)
            self.take(min(stride, stopping.max_steps - self.n), keep_states)
            output = self.output(stopping.max_steps)
            if is_first:
                stopping.begin(output.halt_logits[0])
                answer, log_p_halt = torch.zeros_like(output.y_hat[0]), torch.zeros_like(output.log_p[0])
                steps = torch.zeros_like(output.log_p[0], dtype=torch.int64)

            halt_at = stopping(output)  # [rows], or [rows, *places], of which all must have halted
            everywhere = halt_at > 0
            if halt_at.ndim > 1:
                everywhere = everywhere.flatten(1).all(1)
            halted = everywhere.nonzero().squeeze(1)
            if len(halted) == 0:
                continue
            samples, at = rows[halted], halt_at[halted]
            places = halted
            if halt_at.ndim > 1:
                places = torch.arange(halt_at.numel(), device=rows.device).view_as(halt_at)[halted]  # [halted, *places]
            answer.index_copy_(0, samples, output.y_hat.flatten(1, halt_at.ndim)[at - 1, places])
            log_p_halt.index_copy_(0, samples, output.log_p.flatten(1)[at - 1, places])
            steps.index_copy_(0, samples, at)

            if len(halted) == len(rows):
                break
            going = (~everywhere).nonzero().squeeze(1)
            self.rows = rows.index_select(0, going)
            self.z, self.h = select_rows(self.z, going), select_rows(self.h, going)
            self.y_hat, self.halt_logits = self.y_hat.index_select(1, going), self.halt_logits.index_select(1, going)
            stopping.parameters = select_rows(stopping.parameters, going)
            stopping.mask = select_rows(stopping.mask, going)
        return Prediction(answer, steps, log_p_halt.exp(), self.computed)

    def states_at(self, steps: Tensor) -> Any:
        """Return each sample's state after its step, of steps [batch]."""
        thought = self.computed >= torch.arange(1, self.n + 1, device=steps.device)[:, None]  # [n, batch]
        place = thought.flatten().cumsum(0).view_as(thought)  # in all states together, from 1 on
        at = place.gather(0, steps[None] - 1)[0] - 1
        return map_batched(lambda *parts: torch.cat(parts).index_select(0, at), *self.states)
