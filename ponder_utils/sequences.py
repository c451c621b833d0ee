"""Networks that ponder at every time step of a sequence, and pass their state on to the next."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ponder_utils import rules
from ponder_utils._check import check_choice, check_int
from ponder_utils.halting import PonderOutput, average
from ponder_utils.pondernet import Prediction, Thinkers, cap_of, warn_in_training
from ponder_utils.states import cast_like, check_sequence, map_batched
from ponder_utils.steps import check_step, encode


class PonderSequence(nn.Module):
    """Repeats a step at most N = max_steps >= 1 times at each time step, from the state of the one before.

    As in `ACT`, a flag is appended to each input in dimension 1, the channels: 1 at the first step of a time step, else
    0. The step has one halting logit for each sample; the first state of its `encode` is that before all time steps.
    carry: which state the next time step begins with: "halted", that of the step n at which it halts (drawn from p_n in
    training); "mean", sum_n p_n h_n, as in ACT, but with PonderNet's p_n; "last", that of step N.
    """

    def __init__(self, step: Callable[[Any, Any], Any], max_steps: int, carry: str = "halted") -> None:
        super().__init__()
        self.step = check_step(step)
        self.max_steps = check_int("max_steps", max_steps, 1)
        self.carry = check_choice("carry", carry, ("halted", "mean", "last"))

    def forward(self, x: Tensor, rule: str | rules.Rule = "sample", **options: Any) -> PonderOutput:
        """Run all N steps at each time step of x [T, batch, inputs, ...], with the options of `unroll`."""
        return self.unroll(x, rule=rule, **options)[0]

    def unroll(
        self,
        x: Tensor,
        state: Any = None,
        rule: str | rules.Rule = "sample",
        *,
        generator: torch.Generator | None = None,
        max_steps: int | None = None,
        **parameters: Any,
    ) -> tuple[PonderOutput, Any]:
        """Run all N steps at each time step of x [T, batch, inputs, ...], from this state (None: that of `encode`).

        Each time step of each sample is a sample of the output, [N, T * batch]: number t * batch + b. Beside it stands
        the state for the next one. The rule, for carry="halted" alone, and other arguments: as for `PonderNet.predict`.
        """
        check_sequence(x, state)
        if self.carry != "halted" and (rule != "sample" or parameters):
            raise ValueError(f"rule must be left out with carry={self.carry!r}; got {rule!r} with {[*parameters]}")
        cap, outputs = cap_of(self, max_steps), []
        for x_t in x:
            thinkers = self._thinkers(x_t, state)
            thinkers.take(cap, keep_states=True)
            outputs.append(thinkers.output(cap))
            steps = thinkers.computed
            if self.carry == "halted":
                stopping = rules.Stopping(rule, parameters, cap, generator)
                stopping.begin(outputs[-1].halt_logits[0])
                steps = stopping(outputs[-1])
            state = self._carried(thinkers, steps)
        return PonderOutput(*(torch.cat(parts, dim=1) for parts in zip(*outputs, strict=True))), state

    @torch.no_grad()
    def predict(
        self,
        x: Tensor,
        rule: str | rules.Rule = "quantile",
        *,
        state: Any = None,
        generator: torch.Generator | None = None,
        max_steps: int | None = None,
        **parameters: Any,
    ) -> Prediction:
        """Think at each time step of x [T, batch, inputs, ...] until the rule says stop, and read on: [T, batch, ...].

        If the halted state is carried on, samples that have halted cost nothing; any other state needs all N steps.
        Arguments are as for `PonderNet.predict`; the sequence may go on from the state that is returned.
        """
        check_sequence(x, state)
        warn_in_training(self)
        cap, predictions = cap_of(self, max_steps), []
        for x_t in x:
            thinkers = self._thinkers(x_t, state)
            stopping = rules.Stopping(rule, parameters, cap, generator)
            check_every = 1 if self.carry == "halted" else cap
            prediction = thinkers.think(stopping, check_every, keep_states=True)
            state = self._carried(thinkers, prediction.steps)
            predictions.append(prediction[:4])
        y_hat, steps, p_halt, computed = (torch.stack(parts) for parts in zip(*predictions, strict=True))
        return Prediction(y_hat, steps, p_halt, computed, state)

    def _thinkers(self, x_t: Tensor, state: Any) -> Thinkers:
        """Return those who begin to think about x_t [batch, inputs, ...], from this state."""
        flag = torch.ones_like(x_t[:, :1])
        z_1, first_state = encode(self.step, torch.cat([x_t, flag], dim=1))
        z, _ = encode(self.step, torch.cat([x_t, 0 * flag], dim=1))
        return Thinkers(self.step, z, first_state if state is None else state, x_t, z_1)

    def _carried(self, thinkers: Thinkers, steps: Tensor) -> Any:
        """Return the state for the next time step, if samples halt at these steps, [batch]."""
        if self.carry == "last":
            return thinkers.h
        if self.carry == "halted":
            return thinkers.states_at(steps)
        p = thinkers.output(thinkers.n).log_p.exp()  # [N, batch]
        return map_batched(lambda *parts: cast_like(average(p, torch.stack(parts)), parts[0]), *thinkers.states)
