"""Halting rules: when a network that is asked for an answer stops thinking.

A rule, rule(output, **parameters) -> steps [batch], reads a `PonderOutput` of n <= N steps, and returns for each sample
the step, 1 to n, whose answer is taken, or 0 where that cannot be said yet; at step N, 0 takes N. It never looks ahead:
with more steps, an answer other than 0 stays. A parameter that is a tensor, or holds some, has one value per
sample in each; a table for all of them is a list of numbers.

The first rules read the halting head. Those from `confidence` on read the answers alone, and need no head. An answer is
the logit of a yes. Where it is more than one number, say what it is: with `classes=True` the logits of several classes
in the last dimension, with `classes=False` a yes or no at each of several places, all of which must agree to stop.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ponder_utils._check import check_choice, check_generator, check_int, check_mask, check_real, check_type, described
from ponder_utils.halting import PonderOutput, at_least_float32
from ponder_utils.states import map_batched, tensors_in

Rule = Callable[..., Tensor]


def _first(stops: Tensor, step: int = 1) -> Tensor:
    """Return the first step, counted from `step` in row 0, at which a sample stops at all places, else 0: [batch]."""
    if stops.ndim > 2:
        stops = stops.flatten(2).all(2)
    if len(stops) == 0:
        return torch.zeros(stops.shape[1], dtype=torch.int64, device=stops.device)
    is_stopped, first = stops.max(0)  # of equals, max takes the first
    return (first + step) * is_stopped


def sample(output: PonderOutput, v: Tensor) -> Tensor:
    """Halt at step n with probability p_n: the paper's rule (Sec. 2.5). v: [batch], drawn from U(0, 1)."""
    return _first(output.log_survival <= check_type("v", v, Tensor).log())


def quantile(output: PonderOutput, q: float = 0.5) -> Tensor:
    """Halt at the first step where the CDF of p_n reaches q, 0 < q <= 1: deterministic (q = 0.5 is the median)."""
    q = check_real("q", q, 0, 1, open_low=True)
    log_v = -math.inf if q == 1 else math.log1p(-q)
    return _first(output.log_survival <= log_v)


def threshold(output: PonderOutput, q: float = 0.5) -> Tensor:
    """Halt at the first step with lambda_n >= q, 0 < q <= 1."""
    q = check_real("q", q, 0, 1, open_low=True)
    logit = math.inf if q == 1 else math.log(q) - math.log1p(-q)
    return _first(at_least_float32(output.halt_logits) >= logit)


def most_probable(output: PonderOutput) -> Tensor:
    """Take the step with the largest p_n, once no later one can exceed it: the survival probability is no larger."""
    best, step = output.log_p.max(0)
    return torch.where(best >= output.log_survival[-1], step + 1, 0)


def fixed(output: PonderOutput, step: int) -> Tensor:
    """Halt at the same step >= 1 whatever the input."""
    check_int("step", step, 1)
    n, batch = output.halt_logits.shape
    return torch.full((batch,), step if n >= step else 0, device=output.halt_logits.device)


def confidence(output: PonderOutput, q: float = 0.9, classes: bool | None = None) -> Tensor:
    """Halt at the first step whose likeliest answer has a probability of q or more, 0 < q <= 1 (arXiv:2207.07061)."""
    log_q = math.log(check_real("q", q, 0, 1, open_low=True))
    return _first(_log_probs(output, classes).amax(-1) >= log_q)


def entropy(output: PonderOutput, tolerance: float = 0.3, classes: bool | None = None) -> Tensor:
    """Halt at the first step whose answer has an entropy of at most `tolerance` >= 0 nats."""
    check_real("tolerance", tolerance, 0, open_low=False)
    log_probs = _log_probs(output, classes)
    nats = -(log_probs.exp() * log_probs).sum(-1)
    return _first(nats <= tolerance)


def unchanged(output: PonderOutput, t: int = 3, classes: bool | None = None) -> Tensor:
    """Halt once the likeliest answer has stayed the same for t >= 1 steps in a row: PABEE (arXiv:2006.04152)."""
    check_int("t", t, 1)
    are_classes = _check_classes(output, classes)
    likeliest = output.y_hat.argmax(-1) if are_classes else output.y_hat > 0
    changes = (likeliest[1:] != likeliest[:-1]).cumsum(0)
    changes = torch.cat([torch.zeros_like(likeliest[:1], dtype=torch.int64), changes])  # up to each step
    return _first(changes[t:] == changes[:-t], step=t + 1)


def settled(output: PonderOutput, tolerance: float = 5e-4, classes: bool | None = None) -> Tensor:
    """Halt once KL(answer at n || answer at n - 1) is at most `tolerance` >= 0 nats (arXiv:2502.05171: 5e-4)."""
    check_real("tolerance", tolerance, 0, open_low=False)
    log_probs = _log_probs(output, classes)
    now, before = log_probs[1:], log_probs[:-1]
    nats = (now.exp() * (now - before)).sum(-1)
    return _first(nats <= tolerance, step=2)


def either(output: PonderOutput, rules: Sequence[Rule] = (confidence, settled)) -> Tensor:
    """Halt as soon as one of several rules does. Give them parameters with `functools.partial`."""
    if not isinstance(rules, Sequence) or not rules or not all(map(callable, rules)):
        raise ValueError(f"rules must hold at least one rule, each a function; got {rules!r}")
    steps = torch.stack([rule(output) for rule in rules])  # [rules, batch]
    never = len(output.halt_logits) + 1
    first = torch.where(steps == 0, never, steps).amin(0)
    return torch.where(first == never, 0, first)


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (sample, quantile, threshold, most_probable, fixed, confidence, entropy, unchanged, settled, either)
}


@dataclass
class Stopping:
    """A rule with what it reads beside the output: it says at which step each sample stops."""

    rule: Any
    parameters: dict[str, Any]
    max_steps: int
    generator: torch.Generator | None = None
    mask: Tensor | None = None

    def __post_init__(self) -> None:
        if not callable(self.rule):
            self.rule = RULES[check_choice("rule", self.rule, tuple(RULES))]
        if self.rule is fixed:
            check_int("step", self.parameters.get("step"), 1, self.max_steps)
        check_generator(self.generator)

    def begin(self, like: Tensor) -> None:
        """Check parameters and mask against the halting logits of a step, and draw v for `sample`: once, at first."""
        if self.rule is sample and self.parameters.get("v") is None:
            device = like.device if self.generator is None else self.generator.device
            v = torch.empty(like.shape, device=device, dtype=torch.float32)
            v.uniform_(generator=self.generator)  # torch.rand would not compile
            self.parameters = {**self.parameters, "v": v.to(like.device)}
        for name, value in self.parameters.items():
            for part in tensors_in(value):
                if part.shape != like.shape:
                    raise ValueError(f"{name} must have one value per logit, {[*like.shape]}; got {[*part.shape]}")
        if self.mask is not None:
            check_mask("mask", self.mask, like.shape)

    def __call__(self, output: PonderOutput) -> Tensor:
        """Return what the rule returns after these steps, but N where that is 0 at step N: [batch, *places]."""
        shape, parameters = output.halt_logits.shape[1:], self.parameters
        if len(shape) > 1:
            output = PonderOutput(*(part.flatten(1, len(shape)) for part in output))
            parameters = {name: map_batched(torch.flatten, value) for name, value in parameters.items()}
        steps = self.rule(output, **parameters)
        n, batch = output.halt_logits.shape
        if not isinstance(steps, Tensor) or steps.dtype != torch.int64 or steps.shape != (batch,):
            raise ValueError(f"rule must return one step per sample, an int64 tensor [{batch}]; got {described(steps)}")
        if self.rule not in RULES.values() and ((steps < 0) | (steps > n)).any():
            raise ValueError(f"rule must return 0 or a step so far, 1 to {n}; got {steps.min()} to {steps.max()}")
        if n == self.max_steps:
            steps = torch.where(steps == 0, n, steps)
        steps = steps.view(shape)
        return steps if self.mask is None else torch.where(self.mask, steps, 1)


def halting_steps(
    output: PonderOutput, rule: str | Rule, *, generator: torch.Generator | None = None, **parameters: Any
) -> Tensor:
    """Return the step, 1 to N, at which a rule stops each sample: [batch]. Arguments as for `PonderNet.predict`."""
    check_type("output", output, PonderOutput)
    stopping = Stopping(rule, parameters, len(output.halt_logits), generator)
    stopping.begin(output.halt_logits[0])
    return stopping(output)


def _check_classes(output: PonderOutput, classes: bool | None) -> bool:
    """Return whether the last dimension of the answers holds classes; ValueError if that was not said, or cannot be."""
    check_type("classes", classes, bool | None, "True, False or None")
    if classes and output.y_hat.ndim < 3:
        raise ValueError(f"with classes=True, y_hat must be [n, batch, ..., classes]; got {list(output.y_hat.shape)}")
    if classes is None and output.y_hat.ndim > 2:
        raise ValueError(f"classes must be True or False for y_hat {list(output.y_hat.shape)}; got None")
    return bool(classes)


def _log_probs(output: PonderOutput, classes: bool | None) -> Tensor:
    """Return log-probabilities of the classes, [n, batch, ..., classes], or of no and yes, [n, batch, ..., 2]."""
    are_classes = _check_classes(output, classes)
    y_hat = at_least_float32(output.y_hat)
    log_probs = y_hat.log_softmax(-1) if are_classes else torch.stack([logsigmoid(-y_hat), logsigmoid(y_hat)], -1)
    return log_probs.clamp(min=torch.finfo(log_probs.dtype).min)  # not -inf, since 0 * -inf is NaN
