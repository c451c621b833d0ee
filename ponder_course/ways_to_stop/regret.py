"""Which way to stop is best: hyperparameters are chosen on "valid", and other inputs and other networks are reported.

A point is [right, steps]: the fraction of right answers and the mean steps of a network. A step has a price in right
answers, and a row is a stored run: a setting, and "tests" as `measure` of the experiment returns them.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple

from ponder_course.ways_to_stop.experiment import METHODS, RULES

PRICE = 0.005  # two hundred steps are worth one right answer
CHOOSING, REPORTING = range(5), range(5, 13)  # seeds of networks that hyperparameters are chosen by, and of others
QUESTIONS = ("lines", "no answer", "noisy teacher", "one answer", "8 elements")
RECIPES = ("8 elements gently", "8 elements clipped", "8 elements slowly")  # other recipes for the last question
# The files of stored runs, results/06_ways_to_stop_<name>.jsonl.
FILES = [name.replace(" ", "_") for name in (*QUESTIONS, *RECIPES, "hyperparameters", "report")]
READ = {"nothing": "the answers alone", "a price": "ACT's budget", "a prior": "PonderNet's head", "a judge": "a judge"}
Row = Mapping[str, Any]
Point = Sequence[float]


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
    values: list[float]  # of the rule's parameter, one for each network
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
        if found := [utility(point(row, "valid"), price) for row in choosing(members)]:
            utilities[group] = mean(found)
    problem, hyperparameter = max(utilities, key=lambda group: utilities[group])
    chosen = reporting(groups[problem, hyperparameter])
    values = [RULES[rule].values[best_index(row, rule, price)] for row in chosen]
    tests = {test: [point(row, test) for row in chosen] for test in chosen[0]["tests"] if test != "valid"}
    return Best(utilities[problem, hyperparameter], problem, hyperparameter, values, tests)


def table(rows: Sequence[Row], price: float = PRICE) -> dict[str, Best]:
    """Return the best of each of METHODS of which there are runs, by the method's name."""
    found = {name: best(rows, method.training, method.rule, price) for name, method in METHODS.items()}
    return {name: result for name, result in found.items() if result is not None}


def in_time(rows: Sequence[Row]) -> dict[str, list[Point]]:
    """Return one point for each network with a loss at every step, by test, if inputs stop when they can be known."""
    found: dict[str, list[Point]] = {}
    for row in reporting([row for row in rows if row["training"] == "every step"]):
        for test, result in row["tests"].items():
            if test != "valid" and "in time" in result:
                found.setdefault(test, []).append(result["in time"])
    return found


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
    found = {}
    for name, result in table(rows, price).items():
        if test in result.tests:
            found[name] = [regret(point, limit, price) for point in result.tests[test]]
    return found


def mean_need(rows: Sequence[Row], test: str) -> float:
    """Return the mean of the steps that a test's inputs need, 0 where it is not known."""
    return mean(steps for _, steps in in_time(rows).get(test, [[1.0, 0.0]]))


def by_question(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows by what they ask, whatever the recipe, seed by seed."""
    found: dict[str, list[Row]] = {question: [] for question in QUESTIONS}
    for row in sorted(rows, key=lambda row: row["seed"]):
        found["8 elements" if row["problem"] in RECIPES else row["problem"]].append(row)
    return found


def best_of(rows: Sequence[Row], names: Sequence[str], price: float = PRICE) -> tuple[str, Best]:
    """Return which of several methods is best on "valid", the first of equals, with its best hyperparameters."""
    found = {name: result for name, result in table(rows, price).items() if name in names}
    name = max(found, key=lambda name: found[name].utility)
    return name, found[name]


class Setting(NamedTuple):
    """A training and a rule, with a value of each of their hyperparameters."""

    training: str
    rule: str
    hyperparameter: float  # of the training
    value: float  # of the rule's parameter


def method_of(setting: Setting) -> str:
    """Return the name in METHODS of the setting's training and rule; StopIteration where they have none."""
    return next(name for name, method in METHODS.items() if method[1:] == setting[:2])


def regrets_with(
    problems: Mapping[str, Sequence[Row]], setting: Setting, test: str, price: float = PRICE
) -> dict[str, list[float]]:
    """Return the regrets, time and wrong answers together, by problem: one for each network of this setting.

    These are the `choosing` networks if the test is "valid", or else the `reporting` ones.
    """
    training, rule, hyperparameter, value = setting
    which, found = RULES[rule].values.index(value), {}
    for problem, rows in problems.items():
        members = [row for row in rows if (row["training"], row["hyperparameter"]) == (training, hyperparameter)]
        tests = [row["tests"][test] for row in (choosing(members) if test == "valid" else reporting(members))]
        found[problem] = [sum(regret(each["rules"][rule][which], each["in time"][1], price)) for each in tests]
    return found


def mean_regrets(problems: Mapping[str, Sequence[Row]], setting: Setting, test: str, price: float) -> list[float]:
    """Return the mean of `regrets_with` on each problem."""
    return [mean(losses) for losses in regrets_with(problems, setting, test, price).values()]


def families() -> dict[str, list[str]]:
    """Return the names of METHODS by what they read: the answers, ACT's budget, PonderNet's head or a judge."""
    found: dict[str, list[str]] = {title: [] for title in READ.values()}
    for name, method in METHODS.items():
        if method.adds != "a prior" or method.rule != "confidence":
            found[READ[method.adds]].append(name)
    return found


def one_for_all(
    problems: Mapping[str, Sequence[Row]], ways: Iterable[tuple[str, str]], price: float = PRICE
) -> Setting | None:
    """Return the setting that loses least on "valid" on the problem where it loses most.

    ways: (training, rule). Only settings of which each problem has runs that choose; None if there is none.
    """
    chosen_by = [choosing(rows) for rows in problems.values()]
    worst: dict[Setting, float] = {}
    for training, rule in ways:
        tried = [{row["hyperparameter"] for row in rows if row["training"] == training} for rows in chosen_by]
        for hyperparameter in sorted(set.intersection(*tried)):
            for value in RULES[rule].values:
                setting = Setting(training, rule, hyperparameter, value)
                worst[setting] = max(mean_regrets(problems, setting, "valid", price))
    return min(worst, key=lambda setting: worst[setting]) if worst else None


class ThreeQuestions(NamedTuple):
    """What several methods lose: a mean regret for each problem, to each of three questions."""

    rule_for_each: list[float]  # the best method for each problem
    one_setting: list[float]  # the same for all problems
    four_times_as_long: list[float]  # the same setting, on 64 places
    setting: Setting


def three_questions(
    problems: Mapping[str, Sequence[Row]], names: Sequence[str], price: float = PRICE
) -> ThreeQuestions | None:
    """Return what these methods lose on problems of lines, by networks that are `reporting`.

    None if no setting has runs on every problem.
    """
    setting = one_for_all(problems, [(METHODS[name].training, METHODS[name].rule) for name in names], price)
    if setting is None:
        return None
    for_each = []
    for rows in problems.values():
        _, result = best_of(rows, names, price)
        limit = mean_need(rows, "16 places")
        for_each.append(mean(sum(regret(point, limit, price)) for point in result.tests["16 places"]))
    near, far = (mean_regrets(problems, setting, test, price) for test in ("16 places", "64 places"))
    return ThreeQuestions(for_each, near, far, setting)
