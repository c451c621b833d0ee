"""Every rule that may stop a network, and how often it is right then.

`measure` reads a network by its rules, each at all values of its parameter; lesson 06's `regret` chooses among them.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ponder_course.common.measures import think
from ponder_course.common.store import Row
from ponder_course.ways_to_stop.problems import Inputs
from ponder_utils import rules
from ponder_utils._check import check_choice
from ponder_utils.act import act_average
from ponder_utils.halting import PonderOutput, average
from ponder_utils.losses import ACTLoss, ACTLossTerms, Criterion
from ponder_utils.pondernet import PonderNet


class Halted(NamedTuple):
    """The answers that a rule takes and their steps: some for each input, with weights that sum to 1."""

    y_hat: Tensor  # [draws, batch, ...]
    steps: Tensor  # [draws, batch]
    weight: Tensor  # [draws, batch]


def at(output: PonderOutput, steps: Tensor) -> Halted:
    """Stop each input at a step of its own: steps [batch], whole numbers from 1 to N."""
    y_hat = output.y_hat[steps - 1, torch.arange(len(steps), device=steps.device)]
    return Halted(y_hat[None], steps[None], torch.ones_like(steps, dtype=torch.float32)[None])


def sampled(output: PonderOutput) -> Halted:
    """Take every step that may be drawn, with its probability p_n."""
    n = torch.arange(1, len(output.log_p) + 1, device=output.log_p.device)
    return Halted(output.y_hat, n[:, None].expand(output.log_p.shape), output.log_p.exp())


def expected(output: PonderOutput) -> Halted:
    """Take the mean of the answers' probabilities, weighted with p_n, after all N steps."""
    p = output.log_p.exp()
    y_hat = average(p, output.y_hat.sigmoid()).logit()
    return Halted(y_hat[None], torch.full_like(p[:1], len(p), dtype=torch.long), torch.ones_like(p[:1]))


def averaged(output: PonderOutput) -> Halted:
    """Take ACT's average."""
    act = act_average(output)
    return Halted(act.y_hat, act.steps, torch.ones_like(act.remainder))


def at_fraction(output: PonderOutput, fraction: float) -> Tensor:
    """Stop everyone after the same fraction of the output's N steps."""
    return rules.fixed(output, step=max(1, round(fraction * len(output.log_p))))


# Each place of a line is a question of its own.
sure, unsure = partial(rules.confidence, classes=False), partial(rules.entropy, classes=False)
unchanged, settled = partial(rules.unchanged, classes=False), partial(rules.settled, classes=False)


def sure_or_settled(output: PonderOutput, tolerance: float) -> Tensor:
    """Stop when the answer has a probability of 0.9, or moves by no more than the tolerance."""
    return rules.either(output, rules=(sure, partial(settled, tolerance=tolerance)))


class Rule(NamedTuple):
    """What may stop a trained network: a rule as in `ponder_utils.rules`, and the values to try of its parameter."""

    stop: Callable[..., Any]  # output, parameter -> step [batch]; one of WEIGHTED: -> Halted
    parameter: str = ""  # the argument's name; "" if there is none
    values: tuple[float, ...] = (0.0,)


WEIGHTED = (sampled, expected, averaged)  # their answer is not that of one step
TOLERANCES = (0.1, 0.03, 0.01, 3e-3, 1e-3, 5e-4, 1e-4, 1e-5, 1e-6, 1e-7)
RULES: dict[str, Rule] = {
    "fixed": Rule(at_fraction, "fraction", tuple(n / 20 for n in range(1, 21))),
    "confidence": Rule(sure, "q", (0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)),
    "entropy": Rule(unsure, "tolerance", (0.65, 0.6, 0.5, 0.3, 0.1, 0.03, 0.01)),
    "unchanged": Rule(unchanged, "t", (1, 2, 3, 4, 5, 6, 8, 10, 12, 15)),
    "settled": Rule(settled, "tolerance", TOLERANCES),
    "either": Rule(sure_or_settled, "tolerance", TOLERANCES),
    "sample": Rule(sampled),
    "expectation": Rule(expected),
    "most probable": Rule(rules.most_probable),
    "quantile": Rule(rules.quantile, "q", (0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)),
    "threshold": Rule(rules.threshold, "q", (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)),
    "judged": Rule(rules.threshold, "q", (0.05, 0.2, 0.35, 0.5, 0.7, 0.9, 0.97, 0.99, 0.999)),
    "average": Rule(averaged),
}


def halted(output: PonderOutput, name: str, value: float = 0.0) -> Halted:
    """Return what one of RULES takes from all N steps, at a value of its parameter."""
    stop, parameter, _ = RULES[check_choice("name", name, tuple(RULES))]
    if stop in WEIGHTED:
        return stop(output)
    parameters: Row = {parameter: value} if parameter else {}
    return at(output, rules.halting_steps(output, stop, **parameters))


def act_loss(criterion: Criterion, tau: float) -> Callable[[PonderOutput, Tensor], ACTLossTerms]:
    """Return the loss of ACT around the steps of a `PonderNet`: (output, y [batch, ...]) -> three scalars."""
    loss = ACTLoss(criterion, tau)
    return lambda output, y: loss(act_average(output), y[None])


def score(taken: Halted, y: Tensor, graded: Tensor, correct: Callable[[Tensor, Tensor], Tensor]) -> list[float | None]:
    """Return [right, steps]: the fraction of right answers among the graded inputs, and the mean steps of all.

    graded: bool [batch]. Right is None where nothing is graded.
    """
    right = (taken.weight * correct(taken.y_hat, y.expand(len(taken.y_hat), *y.shape))).sum(0)
    steps = (taken.weight * taken.steps).sum(0)
    return [right[graded].mean().item() if graded.any() else None, steps.mean().item()]


@torch.no_grad()
def measure(
    model: PonderNet,
    task_of: Callable[..., Any],
    tests: Mapping[str, Inputs],
    names: Sequence[str],
    correct: Callable[[Tensor, Tensor], Tensor],
) -> Row:
    """Return what each of these RULES makes of a network, in each of the tests. task_of: size -> task.

    {test: {"rules": {rule: [right, steps] for each value of its parameter}, "in time": [right, steps] if everyone
    stopped exactly when the answer can be known}}; without the last where that is not known. Inputs without an answer
    are not graded; their steps count.
    """
    measures: Row = {}
    for seed, (test, (size, N, n_inputs, arguments)) in enumerate(tests.items(), start=100):
        task = task_of(size, **(arguments or {}))
        x, y = task.batch(n_inputs, torch.Generator().manual_seed(seed))
        y = task.answers(x) if hasattr(task, "answers") else y  # without the errors of a teacher
        graded = task.answerable(x) if hasattr(task, "answerable") else torch.ones(n_inputs, dtype=torch.bool)
        output = think(model, x, N)
        scored = partial(score, y=y, graded=graded, correct=correct)
        by_rule = {}
        for name in names:
            by_rule[name] = [scored(halted(output, name, value)) for value in RULES[name].values]
        measures[test] = {"rules": by_rule}
        if hasattr(task, "needed_steps"):
            needed = task.needed_steps(x).reshape(n_inputs, -1).amax(1)
            measures[test]["in time"] = scored(at(output, needed))  # whose steps are the mean need
    return measures
