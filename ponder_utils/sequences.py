"""Networks that ponder at every time step of a sequence, and pass their state on to the next."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils import rules
from ponder_utils._check import check_choice, check_int
from ponder_utils.halting import PonderOutput, at_least_float32, average, halting_log_probs
from ponder_utils.states import map_states, select_rows
from ponder_utils.steps import check_step, start

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
        between: state -> state, what happens to it on the way to the next time step. None: nothing.
    """

    def __init__(
        self, step: Callable[[Any, Any], tuple[Tensor, Any, Tensor]], max_steps: int, passes: str = "halted",
        between: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.step = check_step(step)
        self.max_steps = check_int("max_steps", max_steps, 1)
        self.passes = check_choice("passes", passes, PASSES)
        if between is not None and not callable(between):
            raise TypeError(f"between must be callable as between(state) -> state, or None; got {between!r}")
        self.between = between

    def forward(self, x: Tensor, rule: str | rules.Rule = "sample", **parameters: Any) -> PonderOutput:
        """Run all N steps at each time step of x [T, batch, inputs, ...]; see `unroll`."""
        return self.unroll(x, rule=rule, **parameters)[0]

    def unroll(
        self, x: Tensor, state: Any = None, rule: str | rules.Rule = "sample", **parameters: Any
    ) -> tuple[PonderOutput, Any]:  # fmt: skip
        """Run all N steps at each time step of x [T, batch, inputs, ...], from this state (None: that of `start`).

        Each time step of each sample is a sample of the output, [N, T * batch]: number t * batch + b. So losses and
        rules apply as they are, with targets `y.flatten(0, 1)`. Beside it the state for the next time step.
        rule: says at which step it halts, for passes="halted": a name or a function as in `ponder_utils.rules`.
        ValueError or TypeError if an argument is not as above.
        """
        outputs = []
        for x_t in _checked(x):
            output, states = self._think(x_t, state)
            state = self._pass_on(output, states, rule, parameters)
            outputs.append(output)
        return PonderOutput(*(torch.cat(parts, dim=1) for parts in zip(*outputs, strict=True))), state

    @torch.no_grad()
    def predict(
        self, x: Tensor, rule: str | rules.Rule = "sample", *, state: Any = None,
        generator: torch.Generator | None = None, **parameters: Any,
    ) -> SequencePrediction:  # fmt: skip
        """Think at each time step of x [T, batch, inputs, ...] until the rule says stop, and read on.

        Answers and steps are those that the rule takes from all N steps. If the halted state is passed on, samples that
        have halted wait for the next time step, and cost nothing; any other state needs all N steps.
        Arguments are those of `PonderNet.predict` and of `unroll`. Call `eval()` first.
        """
        parts = []
        for x_t in _checked(x):
            if self.passes == "halted":
                *part, state = self._halt(x_t, state, rule, parameters, generator)
            else:
                output, states = self._think(x_t, state)
                steps = rules.halting_steps(output, rule, generator=generator, **parameters)
                rows = torch.arange(len(steps), device=steps.device)
                p_halt = output.log_p[steps - 1, rows].exp()
                part = [output.y_hat[steps - 1, rows], steps, p_halt, torch.full_like(steps, self.max_steps)]
                state = self._pass_on(output, states, rule, parameters)
            parts.append(part)
        y_hat, steps, p_halt, computed = (torch.stack(values) for values in zip(*parts, strict=True))
        return SequencePrediction(y_hat, steps, p_halt, computed, state)

    def _start(self, x: Tensor, state: Any) -> tuple[Any, Any, Any]:
        """Return what the first step and the others take in place of x [batch, inputs, ...], and the state."""
        flag = torch.ones_like(x[:, :1])
        first, fresh = start(self.step, torch.cat([x, flag], dim=1))
        others, _ = start(self.step, torch.cat([x, 0 * flag], dim=1))
        return first, others, fresh if state is None else state

    def _step(self, z: Any, h: Any, n_rows: int) -> tuple[Tensor, Any, Tensor]:
        y_hat, h, halt_logit = self.step(z, h)
        if halt_logit.shape != (n_rows,) or y_hat.shape[:1] != (n_rows,):
            wanted = f"y_hat of shape [batch, ...] and halt_logit [batch], batch = {n_rows}"
            raise ValueError(f"step must return {wanted}; got {list(y_hat.shape)} and {list(halt_logit.shape)}")
        return y_hat, h, halt_logit

    def _think(self, x: Tensor, h: Any) -> tuple[PonderOutput, list[Any]]:
        """Run all N steps of one time step: the output, and the state after each step."""
        z, others, h = self._start(x, h)
        y_hats, states, halt_logits = [], [], []
        for _ in range(self.max_steps):
            y_hat, h, halt_logit = self._step(z, h, len(x))
            y_hats.append(y_hat)
            states.append(h)
            halt_logits.append(halt_logit)
            z = others
        a = torch.stack(halt_logits)
        return PonderOutput(torch.stack(y_hats), a, halting_log_probs(a)), states

    def _pass_on(self, output: PonderOutput, states: list[Any], rule: str | rules.Rule, parameters: Any) -> Any:
        """Return the state for the next time step."""
        if self.passes == "halted":
            halted = rules.halting_steps(output, rule, **parameters) - 1
            rows = torch.arange(len(halted), device=halted.device)
            state = map_states(lambda *parts: torch.stack(parts)[halted, rows], *states)
        elif self.passes == "mean":
            p = output.log_p.exp()  # [N, batch]
            state = map_states(lambda *parts: average(p, torch.stack(parts)).to(parts[0].dtype), *states)
        else:
            state = states[-1]
        return state if self.between is None else self.between(state)

    def _halt(
        self, x: Tensor, h: Any, rule: str | rules.Rule, parameters: Any, generator: torch.Generator | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Any]:  # fmt: skip
        """Think about one time step until the rule says stop: its part of a prediction, and the state passed on."""
        z, others, h = self._start(x, h)
        rows = torch.arange(len(x), device=x.device)  # the samples that still think
        steps, computed = torch.zeros_like(rows), torch.zeros_like(rows)
        states, places = [], []  # after each step; and where in it each sample stands
        for n in range(1, self.max_steps + 1):
            new_y_hat, h, new_logit = self._step(z, h, len(rows))
            if n == 1:
                y_hat, halt_logits, passed = new_y_hat[None], new_logit[None], map_states(torch.zeros_like, h)
                answer, log_p_halt = torch.zeros_like(new_y_hat), torch.zeros_like(at_least_float32(new_logit))
                stop, parameters = rules.prepare(rule, parameters, new_logit, self.max_steps, generator)
                z = others
            else:
                y_hat, halt_logits = torch.cat([y_hat, new_y_hat[None]]), torch.cat([halt_logits, new_logit[None]])
            states.append(h)
            places.append(torch.zeros_like(steps).index_copy_(0, rows, torch.arange(len(rows), device=x.device)))
            computed[rows] = n
            so_far = PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits, remainder=n == self.max_steps))
            halt_at = rules.ask(stop, so_far, parameters, self.max_steps)
            halted = halt_at.nonzero().squeeze(1)
            if len(halted) == 0:
                continue
            samples, at = rows[halted], halt_at[halted]
            answer[samples] = y_hat[at - 1, halted]
            log_p_halt[samples] = so_far.log_p[at - 1, halted]
            steps[samples] = at
            for step in at.unique().tolist():  # some rules take an earlier step
                those = samples[at == step]
                state = select_rows(states[step - 1], places[step - 1][those])
                passed = map_states(lambda total, part: total.index_copy(0, those, part), passed, state)  # noqa: B023
            if len(halted) == len(rows):
                break
            going = (halt_at == 0).nonzero().squeeze(1)
            rows, z, h, parameters = select_rows((rows, z, h, parameters), going)
            y_hat, halt_logits = y_hat.index_select(1, going), halt_logits.index_select(1, going)
        passed = passed if self.between is None else self.between(passed)
        return answer, steps, log_p_halt.exp(), computed, passed


def _checked(x: Tensor) -> Tensor:
    if not isinstance(x, Tensor) or x.ndim < 3 or len(x) == 0:
        came = f"shape {list(x.shape)}" if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"x must be a tensor of shape [T, batch, inputs, ...] with T >= 1; got {came}")
    return x
