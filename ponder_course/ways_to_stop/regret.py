"""Which way to stop is best: hyperparameters are chosen on "valid", and other inputs and other networks are reported.

A *training* makes a network, and many *rules* may stop the same one: a *method* is a pair of both. How stored networks
are trained and measured stands in `ponder_evidence.ways_to_stop`.

A point is [right, steps]: the fraction of right answers and the mean steps of a network. A step has a price in right
answers, and a row is a stored run: a setting, and "tests": {test: {"rules": {rule: a point for each value of
its parameter}, "in time": the point if everyone stopped exactly when the answer can be known}}.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

PRICE = 0.005  # two hundred steps are worth one right answer
CHOOSING, REPORTING = range(5), range(5, 13)  # seeds of networks that hyperparameters are chosen by, and of others
QUESTIONS = ("lines", "no answer", "noisy teacher", "one answer", "8 elements")
RECIPES = ("8 elements gently", "8 elements clipped", "8 elements slowly")  # other recipes for the last question
# The files of stored runs, results/06_ways_to_stop_<name>.jsonl.
FILES = [name.replace(" ", "_") for name in (*QUESTIONS, *RECIPES, "hyperparameters", "report")]
Row = Mapping[str, Any]
Point = Sequence[float]


class Method(NamedTuple):
    """A row of the table: how a network was trained, and what stops it."""

    adds: str  # what training adds to the loss of the answers: nothing, a price, a prior or a judge
    training: str
    rule: str


METHODS: dict[str, Method] = {
    "the same step for all": Method("nothing", "last step", "fixed"),
    "certainty (CALM)": Method("nothing", "every step", "confidence"),
    "certainty by entropy": Method("nothing", "every step", "entropy"),
    "patience (PABEE)": Method("nothing", "every step", "unchanged"),
    "rest (Huginn)": Method("nothing", "every step", "settled"),
    "certainty or rest": Method("nothing", "every step", "either"),
    "last step only, certainty": Method("nothing", "last step", "confidence"),
    "progressive (Deep Thinking), certainty": Method("nothing", "progressive", "confidence"),
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


def choosing(rows: Sequence[Row]) -> list[Row]:
    """Return the networks that hyperparameters of a training are chosen by."""
    return [row for row in rows if row["seed"] not in REPORTING]


def reporting(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the networks that have chosen nothing; all, where there are none of these."""
    return [row for row in rows if row["seed"] in REPORTING] or rows


def utility(point: Point, price: float = PRICE) -> float:
    """Return the right answers, less the price of the steps."""
    return point[0] - price * point[1]


def best_index(row: Row, rule: str, price: float = PRICE) -> int:
    """Return which value of the rule's parameter has the largest utility on "valid", the first of equals."""
    utilities = [utility(point, price) for point in row["tests"]["valid"]["rules"][rule]]
    return utilities.index(max(utilities))


class Best(NamedTuple):
    """What the best hyperparameters make of each network that is reported, of a training, stopped by a rule."""

    utility: float  # on "valid", by which they were chosen
    problem: str  # the recipe, where rows of several are given
    hyperparameter: float  # of the training, the same for all
    which: list[int]  # value of the rule's parameter, counted from 0, one for each network
    tests: dict[str, list[Point]]  # one point for each network


def best(rows: Sequence[Row], training: str, rule: str, price: float = PRICE) -> Best | None:
    """Choose on "valid" the value of the rule's parameter for each network, and the training's hyperparameter by the
    mean utility of the `choosing` networks. None without runs of this training that were stopped by the rule.

    Where rows of several problems are given, which must differ in nothing but the recipe, it is chosen with the
    hyperparameter.
    """
    groups: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        if row["training"] == training and rule in row["tests"]["valid"]["rules"]:
            groups.setdefault((row["problem"], row["hyperparameter"]), []).append(row)
    if not groups:
        return None

    def point(row: Row, test: str) -> Point:
        return row["tests"][test]["rules"][rule][best_index(row, rule, price)]

    utilities = {}
    for group, members in groups.items():
        if values := [utility(point(row, "valid"), price) for row in choosing(members)]:
            utilities[group] = mean(values)
    problem, hyperparameter = max(utilities, key=lambda group: utilities[group])
    chosen = reporting(groups[problem, hyperparameter])
    which = [best_index(row, rule, price) for row in chosen]
    tests = {test: [point(row, test) for row in chosen] for test in chosen[0]["tests"] if test != "valid"}
    return Best(utilities[problem, hyperparameter], problem, hyperparameter, which, tests)


def table(rows: Sequence[Row], price: float = PRICE) -> dict[str, Best]:
    """Return the best of each of METHODS of which there are runs, by the method's name."""
    results = {name: best(rows, method.training, method.rule, price) for name, method in METHODS.items()}
    return {name: result for name, result in results.items() if result is not None}


def in_time(rows: Sequence[Row]) -> dict[str, list[Point]]:
    """Return one point for each network with a loss at every step, by test, if inputs stop when they can be known."""
    points: dict[str, list[Point]] = {}
    for row in reporting([row for row in rows if row["training"] == "every step"]):
        for test, result in row["tests"].items():
            if test != "valid" and "in time" in result:
                points.setdefault(test, []).append(result["in time"])
    return points


class Regret(NamedTuple):
    """How much less utility a network has than whoever is always right and stops in time; the sum of two parts."""

    time: float
    wrong_answers: float


def regret(point: Point, limit: float, price: float = PRICE) -> Regret:
    """Return the regret of a point, where limit is the mean of the steps that are needed."""
    return Regret(price * (point[1] - limit), 1 - point[0])


def regrets(rows: Sequence[Row], test: str, price: float = PRICE) -> dict[str, list[Regret]]:
    """Return the regret of each network, by method, of those that were tested so. Where no need is known, time is
    counted from 0.
    """
    limit = mean_need(rows, test)
    by_method = {}
    for name, result in table(rows, price).items():
        if test in result.tests:
            by_method[name] = [regret(point, limit, price) for point in result.tests[test]]
    return by_method


def mean_need(rows: Sequence[Row], test: str) -> float:
    """Return the mean of the steps that a test's inputs need, 0 where it is not known."""
    return mean(steps for _, steps in in_time(rows).get(test, [[1.0, 0.0]]))


def by_question(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows by what they ask, whatever the recipe, seed by seed."""
    questions: dict[str, list[Row]] = {question: [] for question in QUESTIONS}
    for row in sorted(rows, key=lambda row: row["seed"]):
        questions["8 elements" if row["problem"] in RECIPES else row["problem"]].append(row)
    return questions
