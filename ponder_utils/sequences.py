"""Networks that ponder at every time step of a sequence, and pass their state on to the next."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils import rules
from ponder_utils._check import check_choice, check_int
from ponder_utils.halting import PonderOutput, average, halting_log_probs
from ponder_utils.pondernet import Prediction, cap_of, check_one_logit, checked_steps, states_at, think
from ponder_utils.states import check_sequence, map_batched
from ponder_utils.steps import check_step, encode

CARRIES = ("halted", "mean", "last")


class PonderSequence(nn.Module):
    """Repeats a step at most N = max_steps >= 1 times at each time step, from the state of the one before.

    As in `ACT`, a flag is appended to each input in dimension 1, the channels: 1 at the first step of a time step, else
    0. So the step, as described in `ponder_utils.steps`, sees one channel more than x has. It has one halting logit for
    each sample; the first state of its `encode` is that before the first time step.

    Args:
        carry: which state the next time step begins with: "halted", that of the step n at which it halts (drawn from
            p_n in training); "mean", sum_n p_n h_n, as in ACT, but with PonderNet's p_n; "last", that of step N.
    """

    def __init__(self, step: Callable[[Any, Any], Any], max_steps: int, carry: str = "halted") -> None:
        super().__init__()
        self.step = check_step(step)
        self.max_steps = check_int("max_steps", max_steps, 1)
        self.carry = check_choice("carry", carry, CARRIES)

    def forward(
        self, x: Tensor, rule: str | rules.Rule = "sample", max_steps: int | None = None, **parameters: Any
    ) -> PonderOutput:
        """Run all N steps at each time step of x [T, batch, inputs, ...]; see `unroll`."""
        return self.unroll(x, rule=rule, max_steps=max_steps, **parameters)[0]

    def unroll(
        self,
        x: Tensor,
        state: Any = None,
        rule: str | rules.Rule = "sample",
        max_steps: int | None = None,
        **parameters: Any,
    ) -> tuple[PonderOutput, Any]:
        """Run all N steps at each time step of x [T, batch, inputs, ...], from this state (None: that of `encode`).

        Each time step of each sample is a sample of the output, [N, T * batch]: number t * batch + b. So losses and
        rules apply as they are, with targets `y.flatten(0, 1)`. Beside it the state for the next time step.
        rule: says at which step it halts, for carry="halted"; max_steps: another N. Both as for `PonderNet.predict`.
        """
        check_sequence(x, state)
        outputs = []
        for x_t in x:
            output, state = self._time_step(x_t, state, cap_of(self, max_steps), rule, parameters)
            outputs.append(output)
        return PonderOutput(*(torch.cat(parts, dim=1) for parts in zip(*outputs, strict=True))), state

    @torch.no_grad()
    def predict(
        self,
        x: Tensor,
        rule: str | rules.Rule = "sample",
        *,
        state: Any = None,
        generator: torch.Generator | None = None,
        max_steps: int | None = None,
        **parameters: Any,
    ) -> Prediction:
        """Think at each time step of x [T, batch, inputs, ...] until the rule says stop, and read on: [T, batch, ...].

        Answers and steps are those that the rule takes from all N steps. If the halted state is carried on, samples
        that have halted wait for the next time step, and cost nothing; any other state needs all N steps.
        Arguments are those of `PonderNet.predict` and of `unroll`, and the state that after the last time step, from
        which the sequence may go on. Call `eval()` first.
        """
        check_sequence(x, state)
        cap, made = cap_of(self, max_steps), []
        for x_t in x:
            if self.carry == "halted":
                z_1, z, state = self._encode(x_t, state)
                options: dict[str, Any] = {"check_every": 1, "keep_state": True, "z_1": z_1}
                prediction = think(self.step, z, state, x_t, cap, rule, parameters, generator, **options)
                state = prediction.state
            else:
                output, state = self._time_step(x_t, state, cap, rule, parameters)
                steps = rules.halting_steps(output, rule, generator=generator, **parameters)
                at = (steps - 1, torch.arange(len(steps), device=steps.device))
                prediction = Prediction(output.y_hat[at], steps, output.log_p[at].exp(), torch.full_like(steps, cap))
            made.append(prediction[:4])
        y_hat, steps, p_halt, computed = (torch.stack(parts) for parts in zip(*made, strict=True))
        return Prediction(y_hat, steps, p_halt, computed, state)

    def _time_step(
        self, x_t: Tensor, state: Any, max_steps: int, rule: str | rules.Rule, parameters: dict[str, Any]
    ) -> tuple[PonderOutput, Any]:
        """Run all N steps on x_t [batch, inputs, ...]; return their output and the state for the next time step."""
        z_1, z, state = self._encode(x_t, state)
        y_hat, states, halt_logits = checked_steps(self.step, z_1, state, 1, x_t.shape[0], keep_states=True)
        if max_steps > 1:
            more = checked_steps(self.step, z, states[-1], max_steps - 1, x_t.shape[0], keep_states=True)
            y_hat, halt_logits = torch.cat([y_hat, more[0]]), torch.cat([halt_logits, more[2]])
            states = states + more[1]
        check_one_logit(halt_logits)
        output = PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits))
        if self.carry == "halted":
            steps = rules.halting_steps(output, rule, **parameters)
            return output, states_at(steps, torch.full_like(steps, max_steps), states)
        if parameters:
            rules.check_parameters(rule, parameters)
        if self.carry == "last":
            return output, states[-1]
        p = output.log_p.exp()  # [N, batch]
        return output, map_batched(lambda *parts: average(p, torch.stack(parts)).to(parts[0].dtype), *states)

    def _encode(self, x_t: Tensor, state: Any) -> tuple[Any, Any, Any]:
        """Return what stands in for x at the first step, and at the others, and the state before them."""
        flag = torch.ones_like(x_t[:, :1])
        z_1, first_state = encode(self.step, torch.cat([x_t, flag], dim=1))
        z, _ = encode(self.step, torch.cat([x_t, 0 * flag], dim=1))
        return z_1, z, first_state if state is None else state
