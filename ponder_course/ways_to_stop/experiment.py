"""Every way to stop, side by side: how a network is trained, what may stop it, and how often it is right then.

A *training* makes a network, and many *rules* may stop the same one: a *method* of the table is a pair of both. `run`
trains a network and measures it by its rules, each at all values of its parameter; `ways_to_stop_ranking` chooses among
them. The problems stand in `ways_to_stop_problems`. To add a rule of your own, see `add_method`.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ponder_course.common.runs import Experiment, rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import Loss, fit
from ponder_course.light_cone.experiment import think
from ponder_course.ways_to_stop.problems import PROBLEMS, SAME_QUESTION, Problem
from ponder_course.ways_to_stop.supervision import GainLoss, JudgedStep, JudgeLoss, ProgressiveLoss, ProgressiveNet
from ponder_utils import rules
from ponder_utils._check import check_choice
from ponder_utils.act import act_average
from ponder_utils.halting import PonderOutput, average
from ponder_utils.losses import ACTLoss, ACTLossTerms, Criterion, FixedDepthLoss, PonderLoss
from ponder_utils.pondernet import PonderNet

CHOOSING, REPORTING = range(5), range(5, 13)  # seeds of networks that hyperparameters are chosen by, and of others


class Halted(NamedTuple):
    """The answers that a rule takes and their steps: some for each input, with weights that sum to 1."""

    y_hat: Tensor  # [draws, batch, ...]
    steps: Tensor  # [draws, batch]
    weight: Tensor  # [draws, batch]


def at(output: PonderOutput, steps: Tensor) -> Halted:
    """Stop each input at a step of its own: steps [batch], whole numbers from 1 to N, else a ValueError."""
    n_steps, batch = output.log_p.shape
    if steps.shape != (batch,) or steps.is_floating_point() or not ((steps >= 1) & (steps <= n_steps)).all():
        allowed = f"a whole number from 1 to N = {n_steps} for each of the {batch} inputs"
        raise ValueError(f"steps must hold {allowed}; got {steps}")
    y_hat = output.y_hat[steps - 1, torch.arange(batch, device=steps.device)]
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


def sure_or_settled(output: PonderOutput, tolerance: float) -> Tensor:
    """Stop when the answer has a probability of 0.9, or moves by no more than the tolerance."""
    return rules.either(output, rules=(rules.confidence, partial(rules.settled, tolerance=tolerance)))


class Rule(NamedTuple):
    """What may stop a trained network: a rule as in `ponder_utils.rules`, and the values to try of its parameter."""

    stop: Callable[..., Any]  # output, parameter -> step [batch]; one of WEIGHTED: -> Halted
    parameter: str = ""  # the argument's name; "" if there is none
    values: tuple[float, ...] = (0.0,)


WEIGHTED = (sampled, expected, averaged)  # their answer is not that of one step
TOLERANCES = (0.1, 0.03, 0.01, 3e-3, 1e-3, 5e-4, 1e-4, 1e-5, 1e-6, 1e-7)
RULES: dict[str, Rule] = {
    "fixed": Rule(at_fraction, "fraction", tuple(n / 20 for n in range(1, 21))),
    "confidence": Rule(rules.confidence, "q", (0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)),
    "entropy": Rule(rules.entropy, "tolerance", (0.65, 0.6, 0.5, 0.3, 0.1, 0.03, 0.01)),
    "unchanged": Rule(rules.unchanged, "t", (1, 2, 3, 4, 5, 6, 8, 10, 12, 15)),
    "settled": Rule(rules.settled, "tolerance", TOLERANCES),
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


class Training(NamedTuple):
    """A way to train: the values of its hyperparameter that are tried, and the rules that may stop what it makes."""

    loss: Callable[[Problem, float], Loss]  # problem, hyperparameter -> loss
    values: tuple[float, ...]  # tried on every problem
    more_values: tuple[float, ...]  # tried on all problems of lines, those of VARIANTS on the first
    rules: tuple[str, ...]
    network: Callable[[Any, int], PonderNet] = PonderNet


HEAD = ("sample", "expectation", "most probable", "quantile", "threshold")
READING = ("fixed", "confidence", "entropy", "unchanged", "settled", "either")
BETA, LAMBDA_P = 0.01, 0.4  # where the hyperparameter is another


def fixed_depth(problem: Problem, _: float, every_step: bool) -> FixedDepthLoss:
    """Return the loss of the last step's answer, or of those of every step."""
    return FixedDepthLoss(problem.criterion, every_step)


def ponder(problem: Problem, lambda_p: float | str, beta: float = BETA, direction: str = "p||p_G") -> PonderLoss:
    """Return PonderNet's loss."""
    return PonderLoss(problem.criterion, lambda_p, beta, direction=direction)


last_step, every_step = partial(fixed_depth, every_step=False), partial(fixed_depth, every_step=True)
reversed_ponder = partial(ponder, direction="p_G||p")
TRAININGS: dict[str, Training] = {
    # after a fraction of the N steps
    "last step": Training(last_step, (0.1, 0.2, 0.4, 0.6, 0.8, 1.0), (), ("fixed", "confidence")),
    "every step": Training(every_step, (0.0,), (), READING),
    "progressive": Training(
        lambda problem, alpha: ProgressiveLoss(problem.criterion, alpha),
        (0.5, 1.0),
        (0.2,),
        ("fixed", "confidence"),
        ProgressiveNet,
    ),
    "ACT": Training(
        lambda problem, tau: act_loss(problem.criterion, tau), (1e-4, 1e-3, 1e-2), (3e-3, 3e-2, 1e-1), ("average",)
    ),
    "PonderNet": Training(ponder, (0.05, 0.1, 0.2, 0.4, 0.8), (0.02, 0.9, 0.95), (*HEAD, "confidence")),
    "PonderNet, beta": Training(
        lambda problem, beta: ponder(problem, LAMBDA_P, beta), (), (0.001, 0.003, 0.03, 0.1), HEAD
    ),
    "PonderNet, reversed": Training(reversed_ponder, (0.4,), (0.2, 0.8), HEAD),
    "PonderNet, uniform prior": Training(
        lambda problem, beta: ponder(problem, "uniform", beta), (0.003, 0.03, 0.1), (0.001, 0.01, 0.3), HEAD
    ),
    "judge": Training(lambda problem, _: JudgeLoss(problem.criterion, problem.correct), (0.0,), (), ("judged",)),
    "gain": Training(lambda problem, _: GainLoss(problem.criterion), (0.0,), (), ("judged",)),
}

VARIANTS = ("PonderNet, beta", "PonderNet, reversed")  # looked at on the first problem; no method of the table


class Method(NamedTuple):
    """A row of the table: who pays for a step in training, how the network was trained, and what stops it."""

    pays: str  # one of FAMILIES
    training: str
    rule: str


FAMILIES = ("nobody", "a price", "a prior", "a judge")
METHODS: dict[str, Method] = {
    "the same step for all": Method("nobody", "last step", "fixed"),
    "certainty (CALM)": Method("nobody", "every step", "confidence"),
    "certainty by entropy": Method("nobody", "every step", "entropy"),
    "patience (PABEE)": Method("nobody", "every step", "unchanged"),
    "rest (Huginn)": Method("nobody", "every step", "settled"),
    "certainty or rest": Method("nobody", "every step", "either"),
    "last step only, certainty": Method("nobody", "last step", "confidence"),
    "progressive (Deep Thinking), certainty": Method("nobody", "progressive", "confidence"),
    "ACT": Method("a price", "ACT", "average"),
    "PonderNet, sampled": Method("a prior", "PonderNet", "sample"),
    "PonderNet, expectation": Method("a prior", "PonderNet", "expectation"),
    "PonderNet, most probable": Method("a prior", "PonderNet", "most probable"),
    "PonderNet, quantile (PALBERT)": Method("a prior", "PonderNet", "quantile"),
    "PonderNet, threshold": Method("a prior", "PonderNet", "threshold"),
    "PonderNet, certainty": Method("a prior", "PonderNet", "confidence"),
    "uniform prior, quantile (Ouro)": Method("a prior", "PonderNet, uniform prior", "quantile"),
    "uniform prior, threshold": Method("a prior", "PonderNet, uniform prior", "threshold"),
    "judge of right and wrong (TRM)": Method("a judge", "judge", "judged"),
    "judge of the gain (Ouro, 2nd stage)": Method("a judge", "gain", "judged"),
}


def add_method(
    name: str, training: str, rule: Callable[..., Tensor], parameter: str = "", values: Sequence[float] = (0.0,)
) -> None:
    """Add a way to stop of your own to the table, for the runs that this process makes from here on.

    training: one of TRAININGS; rule: a function (output, <parameter>=value) -> the step of each input, int64 [batch],
    from 1 to N, or 0 where it does not stop, as in `ponder_utils.rules`; values: those of its parameter to try.
    """
    how = TRAININGS[check_choice("training", training, tuple(TRAININGS))]
    if name in RULES or name in METHODS or not values:
        raise ValueError(f"name must be new, and values must hold one or more; got {name!r} and {values!r}")
    pays = next(method.pays for method in METHODS.values() if method.training == training)
    RULES[name] = Rule(rule, parameter, tuple(values))
    TRAININGS[training] = how._replace(rules=(*how.rules, name))
    METHODS[name] = Method(pays, training, name)


def learn(problem: str, training: str, hyperparameter: float, seed: int, recipe: Row) -> PonderNet:
    """Train a network. Before it learns from the measured gain when to stop, it learns to answer at every step."""
    asked, how, N = PROBLEMS[problem], TRAININGS[training], recipe["N"]
    if training == "gain":
        step: Any = JudgedStep(learn(problem, "every step", 0.0, seed, recipe).step, asked.judge())
    else:
        torch.manual_seed(seed)
        step = asked.step()
    depth = max(1, round(hyperparameter * N)) if training == "last step" else N
    draw = partial(asked.task(recipe["size"]).batch, recipe["batch"])
    options = {name: recipe[name] for name in ("updates", "lr", "clip")}
    return fit(how.network(step, depth), how.loss(asked, hyperparameter), draw, seed=seed, **options)[0]


def score(taken: Halted, y: Tensor, graded: Tensor, correct: Callable[[Tensor, Tensor], Tensor]) -> list[float | None]:
    """Return [right, steps]: the fraction of right answers among the graded inputs, and the mean steps of all."""
    right = correct(taken.y_hat, y.expand(len(taken.y_hat), *y.shape))
    prob_right, steps = [(taken.weight * values.to(taken.weight.dtype)).sum(0) for values in (right, taken.steps)]
    return [prob_right[graded].mean().item() if graded.any() else None, steps.mean().item()]


@torch.no_grad()
def measure(model: PonderNet, problem: str, names: Sequence[str], further: bool = False) -> Row:
    """Return what each rule makes of a network, in each of the problem's tests.

    {test: {"rules": {rule: [right, steps] for each value of its parameter}, "in time": [right, steps] if everyone
    stopped exactly when the answer can be known}}; without the last where that is not known. Inputs without an answer
    are not graded; their steps count. Right is None where nothing is graded.
    """
    asked = PROBLEMS[problem]
    found: Row = {}
    tests = asked.tests | (asked.further_tests if further else {})
    for seed, (test, (size, N, n_inputs, arguments)) in enumerate(tests.items(), start=100):
        task = asked.task(size, **(arguments or {}))
        x, y = task.batch(n_inputs, torch.Generator().manual_seed(seed))
        y = task.answers(x) if hasattr(task, "answers") else y  # without the errors of a teacher
        graded = task.answerable(x) if hasattr(task, "answerable") else torch.ones(n_inputs, dtype=torch.bool)
        output = think(model, x, N)
        scored = partial(score, y=y, graded=graded, correct=asked.correct)
        by_rule = {}
        for name in names:
            by_rule[name] = [scored(halted(output, name, value)) for value in RULES[name].values]
        found[test] = {"rules": by_rule}
        if hasattr(task, "needed_steps"):
            needed = task.needed_steps(x).reshape(n_inputs, -1).amax(1)
            found[test]["in time"] = scored(at(output, needed))  # whose steps are the mean need
    return found


def run(problem: str, training: str, hyperparameter: float, seed: int, **recipe: Any) -> Row:
    """Train a network and `measure` it, the seeds of REPORTING in the further tests, too.

    {"tests": what that returns, "cpu_seconds": of the training}.
    """
    start = time.process_time()
    model = learn(problem, training, hyperparameter, seed, recipe)
    seconds = time.process_time() - start
    tests = measure(model, problem, TRAININGS[training].rules, further=seed in REPORTING)
    return rounded({"tests": tests, "cpu_seconds": seconds})


def _settings(problem: str, tried: Mapping[str, Sequence[float]], seeds: range) -> list[Row]:
    """Return the settings of trainings on a problem, at the values of their hyperparameters, seed by seed."""
    recipe = PROBLEMS[problem].recipe | {"problem": problem}
    pairs = [(training, value) for training, values in tried.items() for value in values]
    settings = [recipe | {"training": training, "hyperparameter": value} for training, value in pairs]
    return seeded(settings, seeds, seed_by_seed=True)


def _experiment(name: str, settings: list[Row]) -> Experiment:
    short: dict[str, Row] = {}  # one of each training
    for setting in settings:
        short.setdefault(setting["training"], setting | {"updates": 5, "batch": 8})
    return Experiment(f"06_ways_to_stop_{name.replace(' ', '_')}", run, settings, [*short.values()])


ON_LINES = [problem for problem in PROBLEMS if problem not in SAME_QUESTION]
VALUES = {name: how.values for name, how in TRAININGS.items()}
MORE_VALUES = {name: how.more_values for name, how in TRAININGS.items() if name not in VARIANTS}
EXPERIMENTS: dict[str, Experiment] = {name: _experiment(name, _settings(name, VALUES, CHOOSING)) for name in PROBLEMS}
MORE = _settings("lines", {name: TRAININGS[name].more_values for name in VARIANTS}, CHOOSING)
MORE += [setting for problem in ON_LINES for setting in _settings(problem, MORE_VALUES, CHOOSING)]
EXPERIMENTS["hyperparameters"] = _experiment("hyperparameters", MORE)

# What the networks of CHOOSING choose at one of three prices, for a method or a family; a test chooses again.
Tried = dict[str, tuple[float, ...]]
EVERYWHERE: Tried = {"every step": (0.0,), "judge": (0.0,), "gain": (0.0,)}
USUAL: Tried = {"last step": (0.6,), "progressive": (0.5,), "ACT": (3e-3, 0.01, 0.03)}
USUAL |= {"PonderNet": (0.05, 0.4, 0.8, 0.95), "PonderNet, uniform prior": (0.03,)}
CHOSEN: dict[str, Tried] = {
    "lines": USUAL | {"progressive": (1.0,)},
    "no answer": USUAL,
    "noisy teacher": USUAL | {"last step": (0.6, 0.8), "ACT": (3e-3,), "PonderNet": (0.02, 0.05, 0.1, 0.2)},
    "one answer": USUAL | {"last step": (0.4, 0.6), "ACT": (3e-3, 0.01), "PonderNet": (0.8,)},
}
CHOSEN["noisy teacher"]["PonderNet, uniform prior"] = (0.01,)
CHOSEN["one answer"]["PonderNet, uniform prior"] = (0.1,)
REPORT = [setting for problem, tried in CHOSEN.items() for setting in _settings(problem, EVERYWHERE | tried, REPORTING)]
# And on eight elements at one price, for the methods that lesson 06 draws.
REPORT += _settings("8 elements", {"last step": (0.1,), "ACT": (1e-4,), "PonderNet": (0.8,)}, REPORTING)
REPORT += _settings("8 elements clipped", {"every step": (0.0,), "judge": (0.0,)}, REPORTING)
EXPERIMENTS["report"] = _experiment("report", REPORT)
