"""PonderNet (arXiv:2107.05407): any step function, repeated, with a learnt distribution over when to stop."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils import rules
from ponder_utils._check import check_int
from ponder_utils.halting import PonderOutput, at_least_float32, average, halting_log_probs
from ponder_utils.states import check_batch, first_tensor, map_batched, select_rows
from ponder_utils.steps import check_step, encode, take_steps

# How many steps `predict` takes between two checks of who has halted, as measured on a CPU.
SHORT_STRIDE, LONG_STRIDE, MANY_ROWS = 2, 5, 512


class Prediction(NamedTuple):
    """One answer per sample, and what it cost; or one at each place, if every place halts by itself, or time step."""

    y_hat: Tensor  # [batch, ...]
    steps: Tensor  # [batch] or [batch, *places]: the step n that the answer comes from; N for the expectation
    p_halt: Tensor  # in the shape of steps: the p_n of that step; 1 for the expectation, which rests on every step
    computed: Tensor  # [batch] steps computed for this sample, up to the check at which it left the batch
    state: Any = None  # after that step, if `predict` was to keep it


def cap_of(network: Any, max_steps: int | None) -> int:
    """Return N, how many steps to take at most in a call: what the call says, else the network's own max_steps."""
    return network.max_steps if max_steps is None else check_int("max_steps", max_steps, 1)


class PonderNet(nn.Module):
    """Repeats a step, encode(x) -> z, h_1 and then h_{n+1} = move(z, h_n), at most N = max_steps >= 1 times.

    The step is a `Step`, or any function s(x, h_n) -> y_hat_n, h_{n+1}, a_n, as described in `ponder_utils.steps`. An
    input x is whatever it reads: see `ponder_utils.states`. It may give a halting logit for each sample, [batch], or
    for each of its places, [batch, *places], as many as its answer has: then every place halts by itself.
    """

    def __init__(self, step: Callable[[Any, Any], Any], max_steps: int) -> None:
        super().__init__()
        self.step = check_step(step)
        self.max_steps = check_int("max_steps", max_steps, 1)

    def forward(self, x: Any, max_steps: int | None = None) -> PonderOutput:
        """Run all N steps, as training does. max_steps: another N than that of the network, in this call."""
        batch_size = first_tensor(x).shape[0]
        z, h = encode(self.step, x)
        y_hat, _, halt_logits = checked_steps(self.step, z, h, cap_of(self, max_steps), batch_size)
        return PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits))

    @torch.no_grad()
    def predict(
        self,
        x: Any,
        rule: str | rules.Rule = "sample",
        *,
        generator: torch.Generator | None = None,
        check_every: int | None = None,
        max_steps: int | None = None,
        keep_state: bool = False,
        **parameters: Any,
    ) -> Prediction:
        """Think about x until the halting rule says stop. Call `eval()` first, unless you want dropout and the like.

        The answers are those that the rule takes from all N steps, but samples that have halted, at all their places,
        leave the batch and cost nothing more. A check of who has halted costs time, too, so it is made every few steps.

        Args:
            rule: a name in `rules.RULES`, such as "sample" (the paper's: halt at step n with probability p_n),
                "quantile" or "confidence", or any function like those in `ponder_utils.rules`.
            generator: for "sample": the same seed gives the same answers.
            check_every: steps from one check to the next; with 1 no step is computed that is not needed. None:
                `SHORT_STRIDE` as long as more than `MANY_ROWS` samples think, then `LONG_STRIDE`.
            max_steps: another N than that of the network, in this call.
            keep_state: whether to return each sample's state after its step; it must have one halting logit.
            parameters: of the rule, such as q=0.9. If it takes tensors, they have one value per halting logit.
        """
        if check_every is not None:
            check_int("check_every", check_every, 1)
        max_steps = cap_of(self, max_steps)
        like = first_tensor(x)
        if rule in ("fixed", rules.fixed):
            check_every = check_int("step", parameters.get("step"), 1, max_steps)
        z, h = encode(self.step, x)
        check_batch("what step.encode returns", (z, h), len(like))
        options: dict[str, Any] = {"check_every": check_every, "keep_state": keep_state}
        return think(self.step, z, h, like, max_steps, rule, parameters, generator, **options)

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


def checked_steps(
    step: Any, z: Any, h: Any, n_steps: int, batch_size: int, keep_states: bool = False
) -> tuple[Tensor, list[Any], Tensor]:
    """Take n steps as `take_steps` does; ValueError if answers, halting logits and states are not of this batch."""
    y_hat, states, halt_logits = take_steps(step, z, h, n_steps, keep_states)
    if halt_logits.shape[:2] != (n_steps, batch_size) or y_hat.shape[: halt_logits.ndim] != halt_logits.shape:
        wanted = f"y_hat of shape [batch, ...] and halt_logit [batch] or [batch, *places], batch = {batch_size}"
        came = f"{list(y_hat.shape[1:])} and {list(halt_logits.shape[1:])}"
        raise ValueError(f"step must return {wanted}; got {came}")
    check_batch("the state that step returns", states[-1], batch_size)
    return y_hat, states, halt_logits


def think(
    step: Any,
    z: Any,
    h: Any,
    x: Tensor,
    max_steps: int,
    rule: str | rules.Rule,
    parameters: dict[str, Any],
    generator: torch.Generator | None = None,
    *,
    check_every: int | None = None,
    keep_state: bool = False,
    z_1: Any = None,
) -> Prediction:
    """Take steps from z and h until the rule has stopped every sample, as `PonderNet.predict` does.

    x: a tensor of the input, [batch, ...]. z_1: what stands in for it at step 1, if not z; check_every is then 1.
    """
    rows = torch.arange(len(x), device=x.device)  # the samples that still think
    computed = torch.zeros_like(rows)
    kept: list[Any] = []
    n = 0
    while n < max_steps:
        stride = check_every or (SHORT_STRIDE if len(rows) > MANY_ROWS else LONG_STRIDE)
        stride = min(stride, max_steps - n)
        z_n = z if n or z_1 is None else z_1
        new_y_hat, states, new_logits = checked_steps(step, z_n, h, stride, len(rows), keep_state)
        h = states[-1]
        if keep_state:
            kept += states
        if n == 0:
            y_hat, halt_logits = new_y_hat, new_logits
            stop, parameters = rules.resolve_rule(rule, parameters, halt_logits[0], max_steps, generator)
            answer, log_p_halt = torch.zeros_like(y_hat[0]), torch.zeros_like(at_least_float32(halt_logits[0]))
            steps = torch.zeros_like(halt_logits[0], dtype=torch.int64)
        else:
            y_hat, halt_logits = torch.cat([y_hat, new_y_hat]), torch.cat([halt_logits, new_logits])
        n += stride
        computed.index_fill_(0, rows, n)
        so_far = PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits, remainder=n == max_steps))
        halt_at = rules.apply_rule(stop, so_far, parameters, max_steps)
        everywhere = halt_at > 0
        if everywhere.ndim > 1:
            everywhere = everywhere.flatten(1).all(1)
        halted = everywhere.nonzero().squeeze(1)
        if len(halted) == 0:
            continue
        samples, at = rows[halted], halt_at[halted]
        places = halted
        if halt_at.ndim > 1:
            places = torch.arange(halt_at.numel(), device=rows.device).view_as(halt_at)[halted]  # [halted, *places]
        answer.index_copy_(0, samples, y_hat.flatten(1, halt_at.ndim)[at - 1, places])
        log_p_halt.index_copy_(0, samples, so_far.log_p.flatten(1)[at - 1, places])
        steps.index_copy_(0, samples, at)
        if len(halted) == len(rows):
            break
        going = (~everywhere).nonzero().squeeze(1)
        rows, z, h, parameters = select_rows((rows, z, h, parameters), going)
        y_hat, halt_logits = y_hat.index_select(1, going), halt_logits.index_select(1, going)
    state = states_at(steps, computed, kept) if keep_state else None
    return Prediction(answer, steps, log_p_halt.exp(), computed, state)


def states_at(steps: Tensor, computed: Tensor, states: list[Any]) -> Any:
    """Return each sample's state after its step: steps [batch], and how many it has computed, [batch].

    states[n - 1] is that after step n, of the samples that have computed n steps or more.
    """
    check_one_logit(steps[None])
    thought = computed >= torch.arange(1, len(states) + 1, device=steps.device)[:, None]  # [n, batch]
    place = thought.flatten().cumsum(0).view_as(thought)  # in all states, one after the other, counted from 1
    at = place.gather(0, steps[None] - 1)[0] - 1
    return map_batched(lambda *parts: torch.cat(parts).index_select(0, at), *states)


def check_one_logit(halt_logits: Tensor) -> None:
    """Raise a ValueError unless each sample, which has one state, has one halting logit: [n, batch]."""
    if halt_logits.ndim != 2:
        raise ValueError(f"step must return halt_logit [batch], for one state each; got {list(halt_logits.shape[1:])}")
