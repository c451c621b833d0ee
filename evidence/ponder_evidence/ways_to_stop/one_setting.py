"""One setting for all problems: what a family of methods loses with the setting whose worst problem is best."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from ponder_course.ways_to_stop.regret import (
    METHODS,
    PRICE,
    Best,
    Row,
    choosing,
    mean_need,
    regret,
    reporting,
    table,
)
from ponder_evidence.ways_to_stop.measuring import RULES

READ = {"nothing": "the answers alone", "a price": "ACT's budget", "a prior": "PonderNet's head", "a judge": "a judge"}


def best_of(rows: Sequence[Row], names: Sequence[str], price: float = PRICE) -> tuple[str, Best]:
    """Return which of several methods is best on "valid", the first of equals, with its best hyperparameters."""
    results = {name: result for name, result in table(rows, price).items() if name in names}
    name = max(results, key=lambda name: results[name].utility)
    return name, results[name]


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
    which, regrets = RULES[rule].values.index(value), {}
    for problem, rows in problems.items():
        members = [row for row in rows if (row["training"], row["hyperparameter"]) == (training, hyperparameter)]
        tests = [row["tests"][test] for row in (choosing(members) if test == "valid" else reporting(members))]
        regrets[problem] = [sum(regret(each["rules"][rule][which], each["in time"][1], price)) for each in tests]
    return regrets


def mean_regrets(problems: Mapping[str, Sequence[Row]], setting: Setting, test: str, price: float) -> list[float]:
    """Return the mean of `regrets_with` on each problem."""
    return [mean(losses) for losses in regrets_with(problems, setting, test, price).values()]


def families() -> dict[str, list[str]]:
    """Return the names of METHODS by what they read: the answers, ACT's budget, PonderNet's head or a judge."""
    members: dict[str, list[str]] = {title: [] for title in READ.values()}
    for name, method in METHODS.items():
        if method.adds != "a prior" or method.rule != "confidence":
            members[READ[method.adds]].append(name)
    return members


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
