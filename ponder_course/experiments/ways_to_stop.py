"""Every way to stop, side by side: how networks are trained, what may stop them, and what comes of each pair.

A *training* makes a network, and many *rules* may stop the same one. Both have a knob. Knobs are chosen on inputs of
their own ("valid"), by the price of a step: those with the most right answers, less the price of the mean steps. What
is told is of other inputs, as long as those of training, and four times as long.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils import rules
from ponder_utils.act import act_average
from ponder_utils.evaluation import binary_correct, halting_steps, modes_kept
from ponder_course import results
from ponder_course.experiments import light_cone as lines, parity
from ponder_course.results import rounded
from ponder_utils.local import LastPlaceStep, LocalStep
from ponder_utils.losses import ACTLoss, ACTLossTerms, PonderLoss
from ponder_utils.pondernet import PonderNet, PonderOutput, average
from ponder_utils.steps import JudgedStep, RNNStep
from ponder_utils.supervision import FixedDepthLoss, GainLoss, JudgeLoss, ProgressiveLoss, ProgressiveNet
from ponder_utils.tasks import LastPlaceTask, LineParityTask, NoisyLineParityTask, ParityTask, UnanswerableTask
from ponder_utils.training import cool_down, train

PRICE = 0.005  # of a step, in right answers: two hundred steps are worth one
SEEDS = 5


class Problem(NamedTuple):
    """What is asked, of which step function, and how it is trained and tested."""

    task: Callable[[int], Any]  # size -> task
    step: Callable[[], nn.Module]
    judge: Callable[[], nn.Module]  # reads a halting logit from the state of such a step
    recipe: dict[str, Any]  # of the training
    tests: dict[str, tuple[int, int, int]]  # size, N, how many inputs
    criterion: Callable[[Tensor, Tensor], Tensor] = parity.cross_entropy
    correct: Callable[[Tensor, Tensor], Tensor] = binary_correct


class Vote(nn.Module):
    """A halting logit from the states of all places, as in a `LocalStep`, or from that of the last."""

    def __init__(self, channels: int, last: bool = False) -> None:
        super().__init__()
        self.read, self.last = nn.Conv1d(channels, 1, 1), last

    def forward(self, h: Tensor) -> Tensor:
        """h: [batch, channels, places] -> [batch]."""
        votes = self.read(h)[:, 0]
        return votes[:, -1] if self.last else votes.amin(1)


LINE_RECIPE: dict[str, Any] = {"size": 16, "N": 20, "batch": 64, "updates": 1000, "lr": 5e-3, "clip": 1.0}
LINE_TESTS = {"valid": (16, 20, 1000), "16 places": (16, 20, 2000), "64 places": (64, 80, 500)}
LINES = Problem(
    LineParityTask, partial(LocalStep, 2, 32, noise=0.1), partial(Vote, 32), LINE_RECIPE, LINE_TESTS,
    lines.mean_over_places, lines.whole_lines_right,
)  # fmt: skip
ELEMENTS = Problem(  # by the recipe of lesson 03, which is PonderNet's
    ParityTask, partial(RNNStep, 8, 128), lambda: nn.Sequential(nn.Linear(128, 1), nn.Flatten(0)),
    {"size": 8, "N": 20, "batch": 128, "updates": 2000, "lr": 7e-3, "clip": 0.1},
    {"valid": (8, 20, 1000), "8 elements": (8, 20, 4000)},
)  # fmt: skip
RECIPES = {  # beside lesson 03's
    "8 elements gently": {"lr": 2e-3, "clip": 1.0},
    "8 elements clipped": {"lr": 2e-3, "clip": 0.1},
    "8 elements slowly": {"lr": 1e-3, "clip": 1.0},
}
PROBLEMS: dict[str, Problem] = {
    "lines": LINES,
    "no answer": LINES._replace(task=UnanswerableTask, step=partial(LocalStep, 3, 32, noise=0.1)),
    "noisy teacher": LINES._replace(task=NoisyLineParityTask, step=partial(LocalStep, 3, 32, noise=0.1)),
    "one answer": Problem(
        LastPlaceTask, partial(LastPlaceStep, 2, 32, noise=0.1), partial(Vote, 32, last=True), LINE_RECIPE, LINE_TESTS
    ),
    "8 elements": ELEMENTS,
    **{name: ELEMENTS._replace(recipe=ELEMENTS.recipe | its) for name, its in RECIPES.items()},
}  # fmt: skip


class Training(NamedTuple):
    """A way to train: the values of its knob that are tried, and the rules that may stop what it makes."""

    loss: Callable[[Problem, float, int], nn.Module]  # problem, knob, N -> loss
    few: tuple[float, ...]  # on every problem
    more: tuple[float, ...]  # on the first one only
    rules: tuple[str, ...]
    network: Callable[[Any, int], PonderNet] = PonderNet

    @property
    def knobs(self) -> list[float]:
        """All of them, in order."""
        return sorted(self.few + self.more)


HEAD = ("sample", "expectation", "most probable", "quantile", "threshold")
BETA, LAMBDA_P = 0.01, 0.4  # where the knob is another


class ACTAroundStep(nn.Module):
    """The loss of ACT, of what a PonderNet's steps said."""

    def __init__(self, criterion: Callable[[Tensor, Tensor], Tensor], tau: float) -> None:
        super().__init__()
        self.loss = ACTLoss(criterion, tau)

    def forward(self, output: PonderOutput, y: Tensor) -> ACTLossTerms:
        """y: [batch, ...] -> three scalars."""
        return self.loss(act_average(output), y[None])


TRAININGS: dict[str, Training] = {
    "last step": Training(  # of so many steps as are this share of N
        lambda its, share, N: FixedDepthLoss(its.criterion, every_step=False),
        (0.1, 0.2, 0.4, 0.6, 0.8, 1.0), (), ("fixed", "confidence"),
    ),
    "every step": Training(
        lambda its, _, N: FixedDepthLoss(its.criterion, every_step=True),
        (0.0,), (), ("fixed", "confidence", "entropy", "unchanged", "settled", "either"),
    ),
    "progressive": Training(  # alpha
        lambda its, alpha, N: ProgressiveLoss(its.criterion, alpha),
        (0.5, 1.0), (0.2,), ("fixed", "confidence"), ProgressiveNet,
    ),
    "ACT": Training(  # tau
        lambda its, tau, N: ACTAroundStep(its.criterion, tau),
        (1e-4, 1e-3, 1e-2), (1e-1,), ("average",),
    ),
    "PonderNet": Training(  # lambda_p
        lambda its, lambda_p, N: PonderLoss(its.criterion, lambda_p, N, BETA),
        (0.05, 0.1, 0.2, 0.4, 0.8), (), (*HEAD, "confidence"),
    ),
    "PonderNet, beta": Training(
        lambda its, beta, N: PonderLoss(its.criterion, LAMBDA_P, N, beta), (), (0.001, 0.003, 0.03, 0.1), HEAD
    ),
    "PonderNet, reversed": Training(  # lambda_p
        lambda its, lambda_p, N: PonderLoss(its.criterion, lambda_p, N, BETA, direction="p_G||p"),
        (0.4,), (0.2, 0.8), HEAD,
    ),
    "PonderNet, uniform prior": Training(  # beta
        lambda its, beta, N: PonderLoss(its.criterion, "uniform", N, beta),
        (0.003, 0.03, 0.1), (0.001, 0.01), HEAD,
    ),
    "judge": Training(
        lambda its, _, N: JudgeLoss(its.criterion, its.correct), (0.0,), (), ("judged",)
    ),
    "gain": Training(lambda its, _, N: GainLoss(its.criterion), (0.0,), (), ("judged",)),
}  # fmt: skip


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
    "PonderNet, other beta, sampled": Method("a prior", "PonderNet, beta", "sample"),
    "PonderNet, reversed, quantile": Method("a prior", "PonderNet, reversed", "quantile"),
    "uniform prior, quantile (Ouro)": Method("a prior", "PonderNet, uniform prior", "quantile"),
    "uniform prior, threshold": Method("a prior", "PonderNet, uniform prior", "threshold"),
    "judge of right and wrong (TRM)": Method("a judge", "judge", "judged"),
    "judge of the gain (Ouro, 2nd stage)": Method("a judge", "gain", "judged"),
}


class Halted(NamedTuple):
    """The answers that a rule takes, from the steps it stops at: some for each input, with weights that sum to 1."""

    y_hat: Tensor  # [draws, batch, ...]
    steps: Tensor  # [draws, batch]
    weight: Tensor  # [draws, batch]


def at(output: PonderOutput, steps: Tensor) -> Halted:
    """Every input stopped at a step of its own. steps: [batch], 1 to N."""
    y_hat = output.y_hat[steps - 1, torch.arange(len(steps), device=steps.device)]
    return Halted(y_hat[None], steps[None], torch.ones_like(steps, dtype=torch.float32)[None])


def _every_step(output: PonderOutput) -> Tensor:
    n = torch.arange(1, len(output.y_hat) + 1, device=output.y_hat.device)
    return n[:, None].expand(output.log_p.shape)


def _fixed(output: PonderOutput, share: float) -> Halted:
    """The same share of the N steps for everyone."""
    n = max(1, round(share * len(output.y_hat)))
    return at(output, torch.full_like(output.log_p[0], n, dtype=torch.long))


def _sample(output: PonderOutput, _: float) -> Halted:
    """All that may be drawn, with its probability."""
    return Halted(output.y_hat, _every_step(output), output.log_p.exp())


def _expectation(output: PonderOutput, _: float) -> Halted:
    """The mean of the answers' probabilities, of N steps."""
    y_hat = average(output.log_p.exp(), output.y_hat.sigmoid()).logit()
    steps = _every_step(output)[-1:]
    return Halted(y_hat[None], steps, torch.ones_like(output.log_p[:1]))


def _average(output: PonderOutput, _: float) -> Halted:
    """ACT's."""
    its = act_average(output)
    return Halted(its.y_hat, its.n_updates, torch.ones_like(its.remainder))


def _rule(make: Callable[..., rules.HaltingRule], name: str = "") -> Callable[[PonderOutput, float], Halted]:
    """One of `ponder_utils.rules`, with its argument of that name."""

    def read(output: PonderOutput, knob: float) -> Halted:
        return at(output, halting_steps(output, partial(make, **({name: knob} if name else {}))))

    return read


def _sure_or_settled(batch_size: int, device: torch.device, most: float) -> rules.HaltingRule:
    return rules.either(batch_size, device, [partial(rules.confidence, q=0.9), partial(rules.settled, most=most)])


REST = (0.1, 0.03, 0.01, 3e-3, 1e-3, 5e-4, 1e-4, 1e-5, 1e-6, 1e-7)
# What may stop a trained network, and the values of its knob that are tried.
RULES: dict[str, tuple[Callable[[PonderOutput, float], Halted], tuple[float, ...]]] = {
    "fixed": (_fixed, tuple(n / 20 for n in range(1, 21))),
    "confidence": (_rule(rules.confidence, "q"), (0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)),
    "entropy": (_rule(rules.entropy, "most"), (0.65, 0.6, 0.5, 0.3, 0.1, 0.03, 0.01)),
    "unchanged": (_rule(rules.unchanged, "t"), (1, 2, 3, 4, 5, 6, 8, 10, 12, 15)),
    "settled": (_rule(rules.settled, "most"), REST),
    "either": (_rule(_sure_or_settled, "most"), REST),
    "sample": (_sample, (0.0,)),
    "expectation": (_expectation, (0.0,)),
    "most probable": (_rule(rules.most_probable), (0.0,)),
    "quantile": (_rule(rules.quantile, "q"), (0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)),
    "threshold": (_rule(rules.threshold, "q"), (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)),
    "judged": (_rule(rules.threshold, "q"), (0.05, 0.2, 0.35, 0.5, 0.7, 0.9, 0.97, 0.99, 0.999)),
    "average": (_average, (0.0,)),
}


def learn(
    problem: str, training: str, knob: float, seed: int, size: int, N: int, batch: int, updates: int, lr: float,
    clip: float,
) -> PonderNet:  # fmt: skip
    """Train a network. Before it learns from the measured gain when to stop, it learns to answer at every step."""
    its, how = PROBLEMS[problem], TRAININGS[training]
    if training == "gain":
        before = learn(problem, "every step", 0.0, seed, size, N, batch, updates, lr, clip)
        step: nn.Module = JudgedStep(before.step, its.judge())  # type: ignore[arg-type]
    else:
        torch.manual_seed(seed)
        step = its.step()
    depth = max(1, round(knob * N)) if training == "last step" else N
    model, loss_fn, task = how.network(step, depth), how.loss(its, knob, depth), its.task(size)
    train(model, loss_fn, lambda g: task.batch(batch, g), updates, lr=lr, clip=clip, seed=seed,
          schedule=cool_down(updates), log_every=updates, progress=False)  # fmt: skip
    return model.eval()


@torch.no_grad()
def measure(model: PonderNet, problem: str, names: Sequence[str]) -> dict[str, Any]:
    """What each rule makes of a network, in each of the problem's tests.

    {test: {"rules": {rule: [right, steps] for each value of its knob}, "in time": [right, steps] if everyone stopped
    exactly when the answer can be known}}; without the last where that is not known. Inputs without an answer are not
    asked whether it is right; their steps count.
    """
    its, found, step = PROBLEMS[problem], {}, model.step
    for seed, (test, (size, N, n_inputs)) in enumerate(its.tests.items()):
        task = its.task(size)
        x, y = task.batch(n_inputs, torch.Generator().manual_seed(100 + seed))
        y = task.answers(x) if hasattr(task, "answers") else y  # without the errors of a teacher
        longer = PonderNet(step, N)
        with modes_kept(longer):
            output = longer.eval()(x)
        asked = task.answerable(x) if hasattr(task, "answerable") else torch.ones(n_inputs, dtype=torch.bool)
        score = partial(scored, y=y, asked=asked, correct=its.correct)
        told: dict[str, Any] = {
            "rules": {name: [score(RULES[name][0](output, knob)) for knob in RULES[name][1]] for name in names}
        }
        if hasattr(task, "needed_steps"):
            need = task.needed_steps(x).reshape(n_inputs, -1).amax(1)
            told["in time"] = score(at(output, need))  # whose steps are the mean need
        found[test] = told
    return found


def scored(
    halted: Halted, y: Tensor, asked: Tensor, correct: Callable[[Tensor, Tensor], Tensor]
) -> list[float]:  # fmt: skip
    """The share of right answers among the inputs that are asked, [batch] of bool, and the mean steps of all."""
    right, steps = correct(halted.y_hat, y.expand(len(halted.y_hat), *y.shape)), halted.steps
    mean_of = [(halted.weight * its.to(halted.weight.dtype)).sum(0) for its in (right, steps)]
    return [mean_of[0][asked].mean().item(), mean_of[1].mean().item()]


def run(problem: str, training: str, knob: float, seed: int, **recipe: Any) -> dict[str, Any]:
    """Train a network of this setting, and `measure` it: {"tests": what that tells, "trained": seconds of a CPU}."""
    start = time.process_time()
    model = learn(problem, training, knob, seed, **recipe)
    trained = time.process_time() - start
    return rounded({"tests": measure(model, problem, TRAININGS[training].rules), "trained": trained})


EXPERIMENTS = (*PROBLEMS, "knobs")
ASKS_THE_SAME = {"knobs": "lines"} | dict.fromkeys(RECIPES, "8 elements")


def settings(experiment: str) -> list[dict[str, Any]]:
    """All trainings on a problem with `few` values of the knob, seed by seed; or, "knobs", on lines with the others."""
    problem = "lines" if experiment == "knobs" else experiment
    knobs = {name: its.few for name, its in TRAININGS.items()}
    if experiment == "knobs":
        knobs = {name: its.more for name, its in TRAININGS.items()}
    same = PROBLEMS[problem].recipe | {"problem": problem}
    return [
        same | {"training": training, "knob": knob, "seed": seed}
        for seed in range(SEEDS) for training, its in knobs.items() for knob in its
    ]  # fmt: skip


def runs_of(experiment: str, mode: str, folder: str | Path, workers: int, client: Any = None) -> list[dict[str, Any]]:
    """The runs of one of EXPERIMENTS: those "stored" in a folder, one short one of each training for "smoke", or all of
    its "class", of which those that the folder lacks are made and stored there, by the workers of a client if given.
    """
    wanted, file = settings(experiment), Path(folder, f"06_ways_to_stop_{experiment.replace(' ', '_')}.jsonl")
    short = [its | {"updates": 5, "batch": 8} for its in {its["training"]: its for its in reversed(wanted)}.values()]
    shared = {"client": client} if client else {"workers": workers}
    return results.runs_of(mode, run, wanted, short, file, name=experiment, **shared)


def by_question(made: Mapping[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The runs of EXPERIMENTS by what they ask: on lines with all knobs, of 8 elements by all recipes."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, its in made.items():
        found.setdefault(ASKS_THE_SAME.get(name, name), []).extend(its)
    return found


def utility(pair: Sequence[float], price: float = PRICE) -> float:
    """Right answers, less the price of the steps. pair: share of right answers, mean steps."""
    return pair[0] - price * pair[1]


class Best(NamedTuple):
    """What the best value of the knobs makes of each network of a training, stopped by a rule."""

    problem: str  # the recipe, where rows of several are given
    knob: float  # of the training, the same for all
    values: list[float]  # of the rule's knob, one for each network
    tests: dict[str, list[list[float]]]  # [right, steps] of each network


def best(rows: Sequence[Mapping[str, Any]], training: str, rule: str, price: float = PRICE) -> Best | None:
    """Choose on "valid": a rule's knob for each network, and of the training's knobs that with the best mean. None
    without such runs.

    Rows of several problems, if these differ in nothing but the recipe: it is chosen with the training's knob.
    """
    by_knob: dict[tuple[str, float], list[tuple[float, int, Mapping[str, Any]]]] = {}
    for row in rows:
        if row["training"] == training and rule in row["tests"]["valid"]["rules"]:
            utilities = [utility(pair, price) for pair in row["tests"]["valid"]["rules"][rule]]
            top = max(utilities)
            by_knob.setdefault((row["problem"], row["knob"]), []).append((top, utilities.index(top), row))
    if not by_knob:
        return None
    problem, knob = max(by_knob, key=lambda its: mean(top for top, *_ in by_knob[its]))
    chosen = by_knob[problem, knob]
    tests = {
        test: [row["tests"][test]["rules"][rule][which] for _, which, row in chosen]
        for test in chosen[0][2]["tests"] if test != "valid"
    }  # fmt: skip
    return Best(problem, knob, [RULES[rule][1][which] for _, which, _ in chosen], tests)


def in_time(rows: Sequence[Mapping[str, Any]], training: str = "every step") -> dict[str, list[list[float]]]:
    """[right, steps] of each network of a training, in each test, if every input stops when it can be known."""
    own = [row["tests"] for row in rows if row["training"] == training]
    tests = [test for test in own[0] if test != "valid" and "in time" in own[0][test]] if own else []
    return {test: [its[test]["in time"] for its in own] for test in tests}


def regret(pair: Sequence[float], limit: float, price: float = PRICE) -> float:
    """How much less a method's `utility` is than that of whoever is right and stops in time. limit: the mean need."""
    return utility((1.0, limit), price) - utility(pair, price)


def lost(
    rows: Sequence[Mapping[str, Any]], test: str, price: float = PRICE
) -> dict[str, list[tuple[float, float]]]:  # fmt: skip
    """What every one of METHODS loses to whoever is right and stops in time: {name: [(for time, for wrong answers)]}.

    One pair for each network; together, its `regret`. Where no need is known, time is counted from 0.
    """
    limit = mean([steps for _, steps in in_time(rows).get(test, [[1.0, 0.0]])])
    return {
        name: [(price * (steps - limit), 1 - right) for right, steps in its.tests[test]]
        for name, its in table(rows, price).items()
    }


def table(rows: Sequence[Mapping[str, Any]], price: float = PRICE) -> dict[str, Best]:
    """Every one of METHODS of which there are runs, by its name."""
    found = {name: best(rows, its.training, its.rule, price) for name, its in METHODS.items()}
    return {name: its for name, its in found.items() if its is not None}
