"""Networks that ponder at every time step of a sequence, and pass their state on to the next."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils import rules
from ponder_utils._check import check_choice, check_int
from ponder_utils.halting import PonderOutput, average
from ponder_utils.pondernet import PonderNet, Prediction
from ponder_utils.states import check_batch, map_batched
from ponder_utils.steps import check_step, start, take_step

PASSES = ("halted", "mean", "last")


class SequencePrediction(NamedTuple):
    """An answer at every time step, and what it cost."""

    y_hat: Tensor  # [T, batch, ...]
    steps: Tensor  # [T, batch] the step n that the answer comes from
    p_halt: Tensor  # [T, batch] the p_n of that step
    computed: Tensor  # [T, batch] steps computed for this sample
    state: Any  # after the last time step; pass it on to continue the sequence


class PonderSequence(nn.Module):
    """Repeats a step function at most N = max_steps >= 1 times at each time step, from the state of the one before.

    As in `ACT`, a flag is appended to each input in dimension 1, the channels: 1 at the first step of a time step, and
    0 at the others. So the step sees one channel more than x has. It is as described in `ponder_utils.steps`, with one
    halting logit for each sample; its `start` is asked for a state before the first time step only.

    Args:
        passes: which state is passed on to the next time step: "halted", that of the step n at which it halts (drawn
            from p_n in training); "mean", sum_n p_n h_n, as in ACT, but with PonderNet's p_n; "last", that of step N.
    """

    def __init__(
        self, step: Callable[[Any, Any], tuple[Tensor, Any, Tensor]], max_steps: int, passes: str = "halted"
    ) -> None:
        super().__init__()
        self.step = check_step(step)
        self.max_steps = check_int("max_steps", max_steps, 1)
        self.passes = check_choice("passes", passes, PASSES)

    def forward(
        self, x: Tensor, rule: str | rules.Rule = "sample", max_steps: int | None = None, **parameters: Any
    ) -> PonderOutput:
        """Run all N steps at each time step of x [T, batch, inputs, ...]; see `unroll`."""
        return self.unroll(x, rule=rule, max_steps=max_steps, **parameters)[0]

    def unroll(
        self, x: Tensor, state: Any = None, rule: str | rules.Rule = "sample", max_steps: int | None = None,
        **parameters: Any,
    ) -> tuple[PonderOutput, Any]:  # fmt: skip
        """Run all N steps at each time step of x [T, batch, inputs, ...], from this state (None: that of `start`).

        Each time step of each sample is a sample of the output, [N, T * batch]: number t * batch + b. So losses and
        rules apply as they are, with targets `y.flatten(0, 1)`. Beside it the state for the next time step.
        rule: says at which step it halts, for passes="halted": a name or a function as in `ponder_utils.rules`.
        max_steps: another N than that of the network, in this call.
        ValueError or TypeError if an argument is not as above.
        """
        step, outputs = _FlaggedStep(self.step), []
        net = PonderNet(step, self.max_steps if max_steps is None else max_steps)
        for x_t in _checked(x, state):
            output = net((x_t, state))
            state = self._pass_on(output, step.states, rule, parameters)
            outputs.append(output)
        return PonderOutput(*(torch.cat(parts, dim=1) for parts in zip(*outputs, strict=True))), state

    @torch.no_grad()
    def predict(
        self, x: Tensor, rule: str | rules.Rule = "sample", *, state: Any = None,
        generator: torch.Generator | None = None, max_steps: int | None = None, **parameters: Any,
    ) -> SequencePrediction:  # fmt: skip
        """Think at each time step of x [T, batch, inputs, ...] until the rule says stop, and read on.

        Answers and steps are those that the rule takes from all N steps. If the halted state is passed on, samples that
        have halted wait for the next time step, and cost nothing; any other state needs all N steps.
        Arguments are those of `PonderNet.predict` and of `unroll`. Call `eval()` first.
        """
        step, parts = _FlaggedStep(self.step), []
        net = PonderNet(step, self.max_steps if max_steps is None else max_steps)
        for x_t in _checked(x, state):
            if self.passes == "halted":
                part = net.predict((x_t, state), rule, generator=generator, check_every=1, **parameters)
                state = _states_at(part.steps, part.computed, step.states)
            else:
                output = net((x_t, state))
                steps = rules.halting_steps(output, rule, generator=generator, **parameters)
                rows = torch.arange(len(steps), device=steps.device)
                p_halt = output.log_p[steps - 1, rows].exp()
                part = Prediction(output.y_hat[steps - 1, rows], steps, p_halt, torch.full_like(steps, net.max_steps))
                state = self._pass_on(output, step.states, rule, parameters)
            parts.append(part)
        y_hat, steps, p_halt, computed = (torch.stack(values) for values in zip(*parts, strict=True))
        return SequencePrediction(y_hat, steps, p_halt, computed, state)

    def _pass_on(self, output: PonderOutput, states: list[Any], rule: str | rules.Rule, parameters: Any) -> Any:
        """Return the state for the next time step, of the states after all N steps."""
        if self.passes == "halted":
            steps = rules.halting_steps(output, rule, **parameters)
            return _states_at(steps, torch.full_like(steps, len(states)), states)
        if self.passes == "mean":
            p = output.log_p.exp()  # [N, batch]
            return map_batched(lambda *parts: average(p, torch.stack(parts)).to(parts[0].dtype), *states)
        return states[-1]


class _FlaggedStep:
    """A step function at one time step: its input has the flag, and it keeps the state after each of its steps."""

    def __init__(self, step: Any) -> None:
        self.step = step

    def start(self, x: tuple[Tensor, Any]) -> tuple[Any, Any]:
        """Take x [batch, inputs, ...] and the state passed on, None for that of the step's own `start`."""
        x_t, state = x
        flag = torch.ones_like(x_t[:, :1])
        first, fresh = start(self.step, torch.cat([x_t, flag], dim=1))
        others, _ = start(self.step, torch.cat([x_t, 0 * flag], dim=1))
        self.states: list[Any] = []
        return others, (first, fresh if state is None else state)

    def __call__(self, others: Any, h: tuple[Any, Any]) -> tuple[Tensor, Any, Tensor]:
        """Take a step: h is the state, behind what stands in for x at the first step, and None later."""
        first, state = h
        y_hat, state, halt_logit = take_step(self.step, others if first is None else first, state)
        if halt_logit.ndim != 1:
            came = f"{list(y_hat.shape)} and {list(halt_logit.shape)}"
            raise ValueError(f"step must return y_hat of shape [batch, ...] and halt_logit [batch]; got {came}")
        self.states.append(state)
        return y_hat, (None, state), halt_logit


def _states_at(steps: Tensor, computed: Tensor, states: list[Any]) -> Any:
    """Return each sample's state after its step: steps [batch], and how many it has computed, [batch].

    states[n - 1] is that after step n, of the samples that have computed n steps or more.
    """
    thought = computed >= torch.arange(1, len(states) + 1, device=steps.device)[:, None]  # [n, batch]
    place = thought.flatten().cumsum(0).view_as(thought)  # in all states, one after the other, counted from 1
    at = place.gather(0, steps[None] - 1)[0] - 1
    return map_batched(lambda *parts: torch.cat(parts).index_select(0, at), *states)


def _checked(x: Tensor, state: Any) -> Tensor:
    if not isinstance(x, Tensor) or x.ndim < 3 or len(x) == 0:
        came = f"shape {list(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"x must be a tensor of shape [T, batch, inputs, ...] with T >= 1; got {came}")
    check_batch("state", state, x.shape[1])
    return x
