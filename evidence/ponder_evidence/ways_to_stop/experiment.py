"""How the networks of lesson 06's table are trained, and the grid of their hyperparameters.

`run` trains a network and measures it by its rules. To add a rule of your own, see `add_method`.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import Loss, fit
from ponder_course.ways_to_stop.lesson import judge_loss
from ponder_course.ways_to_stop.regret import CHOOSING, METHODS, REPORTING, Method
from ponder_evidence.runs import Experiment
from ponder_evidence.ways_to_stop.measuring import RULES, Rule, act_loss, measure
from ponder_evidence.ways_to_stop.problems import PROBLEMS, Problem
from ponder_evidence.ways_to_stop.supervision import GainLoss, JudgedStep, ProgressiveLoss, ProgressiveNet
from ponder_utils._check import check_choice
from ponder_utils.losses import FixedDepthLoss, PonderLoss
from ponder_utils.pondernet import PonderNet


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

TRAININGS: dict[str, Training] = {
    "last step": Training(  # of a fraction of the N steps
        lambda problem, _: FixedDepthLoss(problem.criterion, every_step=False),
        (0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
        (),
        ("fixed", "confidence"),
    ),
    "every step": Training(lambda problem, _: FixedDepthLoss(problem.criterion, every_step=True), (0.0,), (), READING),
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
    "PonderNet": Training(
        lambda problem, lambda_p: PonderLoss(problem.criterion, lambda_p, BETA),
        (0.05, 0.1, 0.2, 0.4, 0.8),
        (0.02, 0.9, 0.95),
        (*HEAD, "confidence"),
    ),
    "PonderNet, beta": Training(
        lambda problem, beta: PonderLoss(problem.criterion, LAMBDA_P, beta), (), (0.001, 0.003, 0.03, 0.1), HEAD
    ),
    "PonderNet, reversed": Training(
        lambda problem, lambda_p: PonderLoss(problem.criterion, lambda_p, BETA, direction="p_G||p"),
        (0.4,),
        (0.2, 0.8),
        HEAD,
    ),
    "PonderNet, uniform prior": Training(
        lambda problem, beta: PonderLoss(problem.criterion, "uniform", beta),
        (0.003, 0.03, 0.1),
        (0.001, 0.01, 0.3),
        HEAD,
    ),
    "judge": Training(
        lambda problem, _: partial(judge_loss, criterion=problem.criterion, correct=problem.correct),
        (0.0,),
        (),
        ("judged",),
    ),
    "gain": Training(lambda problem, _: GainLoss(problem.criterion), (0.0,), (), ("judged",)),
}
VARIANTS = ("PonderNet, beta", "PonderNet, reversed")  # looked at on the first problem; no method of the table


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
    adds = next(method.adds for method in METHODS.values() if method.training == training)
    RULES[name] = Rule(rule, parameter, tuple(values))
    TRAININGS[training] = how._replace(rules=(*how.rules, name))
    METHODS[name] = Method(adds, training, name)


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


def run(problem: str, training: str, hyperparameter: float, seed: int, **recipe: Any) -> Row:
    """Train a network and `measure` it, the seeds of REPORTING in the further tests, too.

    {"tests": what that returns, "cpu_seconds": of the training}.
    """
    start = time.process_time()
    model = learn(problem, training, hyperparameter, seed, recipe)
    seconds = time.process_time() - start
    asked = PROBLEMS[problem]
    tests = asked.tests | (asked.further_tests if seed in REPORTING else {})
    measures = measure(model, asked.task, tests, TRAININGS[training].rules, asked.correct)
    return rounded({"tests": measures, "cpu_seconds": seconds})


Tried = dict[str, tuple[float, ...]]  # {training: values of its hyperparameter}


def _settings(problem: str, tried: Tried, seeds: range) -> list[Row]:
    """Return the settings of trainings on a problem, seed by seed."""
    recipe = PROBLEMS[problem].recipe | {"problem": problem}
    pairs = [(training, value) for training, values in tried.items() for value in values]
    settings = [recipe | {"training": training, "hyperparameter": value} for training, value in pairs]
    return seeded(settings, seeds, seed_by_seed=True)


def _experiment(name: str, settings: list[Row]) -> Experiment:
    short: dict[str, Row] = {}  # one of each training
    for setting in settings:
        short.setdefault(setting["training"], setting | {"updates": 5, "batch": 8})
    return Experiment(f"06_ways_to_stop_{name.replace(' ', '_')}", run, settings, [*short.values()])


VALUES = {name: how.values for name, how in TRAININGS.items()}
MORE_VALUES = {name: how.more_values for name, how in TRAININGS.items() if name not in VARIANTS}
EXPERIMENTS = {name: _experiment(name, _settings(name, VALUES, CHOOSING)) for name in PROBLEMS}
MORE = _settings("lines", {name: TRAININGS[name].more_values for name in VARIANTS}, CHOOSING)
for problem_of_lines in ("lines", "no answer", "noisy teacher", "one answer"):
    MORE += _settings(problem_of_lines, MORE_VALUES, CHOOSING)
EXPERIMENTS["hyperparameters"] = _experiment("hyperparameters", MORE)

# What the networks of CHOOSING choose at one of three prices, for a method or a family; a test chooses again.
EVERYWHERE: Tried = {"every step": (0.0,), "judge": (0.0,), "gain": (0.0,)}
USUAL: Tried = {
    "last step": (0.6,),
    "progressive": (0.5,),
    "ACT": (3e-3, 0.01, 0.03),
    "PonderNet": (0.05, 0.4, 0.8, 0.95),
    "PonderNet, uniform prior": (0.03,),
}
NOISY: Tried = {"last step": (0.6, 0.8), "ACT": (3e-3,), "PonderNet": (0.02, 0.05, 0.1, 0.2)}
NOISY |= {"PonderNet, uniform prior": (0.01,)}
ONE_ANSWER: Tried = {"last step": (0.4, 0.6), "ACT": (3e-3, 0.01), "PonderNet": (0.8,)}
ONE_ANSWER |= {"PonderNet, uniform prior": (0.1,)}
CHOSEN: dict[str, Tried] = {
    "lines": USUAL | {"progressive": (1.0,)},
    "no answer": USUAL,
    "noisy teacher": USUAL | NOISY,
    "one answer": USUAL | ONE_ANSWER,
}
REPORT = [setting for problem, tried in CHOSEN.items() for setting in _settings(problem, EVERYWHERE | tried, REPORTING)]
# And on eight elements at one price, for the methods that lesson 06 draws.
REPORT += _settings("8 elements", {"last step": (0.1,), "ACT": (1e-4,), "PonderNet": (0.8,)}, REPORTING)
REPORT += _settings("8 elements clipped", {"every step": (0.0,), "judge": (0.0,)}, REPORTING)
EXPERIMENTS["report"] = _experiment("report", REPORT)
