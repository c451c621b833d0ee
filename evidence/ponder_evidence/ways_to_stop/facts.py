"""What the texts say of who stops best, computed from `results/06_*`.

Five networks (seeds 0 to 4) choose, eight others report. A step costs PRICE; regrets are in hundredths of an answer.
"""

from collections.abc import Callable, Iterator
from statistics import fmean

import numpy as np

from ponder_evidence.stored_facts import RESULTS, Run, from_to, mean_with_interval, stored

PRICE = 0.005
CHOOSING = 5
PROBLEMS = ("lines", "no answer", "one answer")
OF_ANSWERS, BY_LEVEL = ("confidence", "entropy", "unchanged", "settled", "either"), ("quantile", "threshold")
OF_HEAD = ("sample", "expectation", "most probable", *BY_LEVEL)
FAMILIES: dict[str, dict[str, tuple[str, ...]]] = {  # {family: {training: rules}}
    "the answers alone": {
        "last step": ("fixed", "confidence"),
        "progressive": ("fixed", "confidence"),
        "every step": OF_ANSWERS,
    },
    "ACT's budget": {"ACT": ("average",)},
    "PonderNet's head": {"PonderNet": OF_HEAD, "PonderNet, uniform prior": BY_LEVEL},
    "a judge": {"judge": ("judged",), "gain": ("judged",)},
}
NO_ANSWER = "16 places, none with an answer, N = 20"
TABLE, PRICED = "06_ways_to_stop_*.jsonl", "06_price_and_bonus*.jsonl"  # files of stored runs
Key = tuple  # training, hyperparameter, rule, and which value of the rule


def runs_of(problem: str, files: str = TABLE) -> Iterator[Run]:
    """All stored runs of a problem in these files, whatever the recipe."""
    for path in sorted(RESULTS.glob(files)):
        for setting, result in stored(path.stem):
            if setting["problem"] == problem or (problem == "8 elements" and setting["problem"][0] == "8"):
                yield setting, result


def regret_of(point: list[float], test: dict) -> float:
    """What [right, steps] loses to who stops in time, or if no need is known, to who takes no time."""
    right, steps = point
    return 100 * (1 - right + PRICE * (steps - test.get("in time", [1, 0])[1]))


def regrets_of_settings(problem: str, test: str, report: bool, files: str = TABLE) -> dict[Key, list[float]]:
    """The regrets of each setting, of seeds that report or of those that choose."""
    found: dict[Key, dict[int, float]] = {}
    for setting, result in runs_of(problem, files):
        for rule, points in result["tests"][test]["rules"].items():
            for which, point in enumerate(points):
                key = setting["training"], setting["hyperparameter"], rule, which
                found.setdefault(key, {})[setting["seed"]] = regret_of(point, result["tests"][test])
    regrets = {}
    for key, by_seed in found.items():
        choosing = [regret for seed, regret in by_seed.items() if seed < CHOOSING]
        reporting = [regret for seed, regret in by_seed.items() if seed >= CHOOSING]
        if choosing:
            regrets[key] = reporting if report and reporting else choosing
    return regrets


def one_setting_for_three() -> dict[str, str]:
    """What a family loses on its worst problem, if one setting must do for all three."""
    valid = [regrets_of_settings(problem, "valid", report=False) for problem in PROBLEMS]
    tested = [regrets_of_settings(problem, "16 places", report=True) for problem in PROBLEMS]
    by_choosing = [regrets_of_settings(problem, "16 places", report=False) for problem in PROBLEMS]
    far = [regrets_of_settings(problem, "64 places", report=True) for problem in PROBLEMS]
    worst, worst_far, chose = {}, {}, {}
    for family, trainings in FAMILIES.items():
        common = set.intersection(*(set(losses) for losses in valid))
        allowed = sorted((key for key in common if key[2] in trainings.get(key[0], ())), key=str)
        best = min(allowed, key=lambda key: max(fmean(losses[key]) for losses in valid))
        worst[family] = max((losses[best] for losses in tested), key=fmean)
        worst_far[family] = max(fmean(losses[best]) for losses in far)
        chose[family] = max(fmean(losses[best]) for losses in by_choosing)
    head = "PonderNet's head"
    return {
        "one_setting": f"{min(map(fmean, worst.values())):.1f}",
        "one_setting_head": f"{fmean(worst[head]):.1f}",
        "one_setting_head_interval": mean_with_interval(worst[head], ".1f"),
        "one_setting_far": f"{worst_far[head]:.1f} {worst_far['the answers alone']:.1f}",
        "one_setting_head_looked": f"{chose[head]:.1f}",
        "reporting": f"{len(reported('no answer', 'PonderNet', 'threshold'))}",
    }


def reported(problem: str, training: str, rule: str) -> list[tuple[dict, dict]]:
    """Points and regrets, by test, of each network that reports, or of those that choose if there are no others.

    The rule's value is chosen on "valid" by each network, recipe and hyperparameter by the mean of those that choose.
    """
    chosen: dict[tuple, list[float]] = {}
    found: dict[tuple, dict[bool, list[tuple[dict, dict]]]] = {}
    for setting, result in sorted(runs_of(problem), key=lambda run: run[0]["seed"]):
        if setting["training"] == training:
            which = level_of(result, rule)
            points, regrets = {}, {}
            for test, each in result["tests"].items():
                points[test] = each["rules"][rule][which]
                if points[test][0] is not None:  # somebody was graded
                    regrets[test] = regret_of(points[test], each)
            key, reports = (setting["problem"], setting["hyperparameter"]), setting["seed"] >= CHOOSING
            found.setdefault(key, {False: [], True: []})[reports].append((points, regrets))
            if not reports:
                right, steps = result["tests"]["valid"]["rules"][rule][which]
                chosen.setdefault(key, []).append(right - PRICE * steps)
    best = found[max(chosen, key=lambda key: float(np.mean(chosen[key])))]
    return best[True] or best[False]


def where_no_answer_comes() -> dict[str, str]:
    """Of lines of which some have no answer: how long those wait there that are never sure."""
    waiting = [*reported("no answer", "every step", "confidence"), *reported("no answer", "judge", "judged")]
    too_many = [points[NO_ANSWER][1] - 1 for points, _ in waiting]
    return {"steps_too_many": f"{np.mean(too_many):.0f}"}


def losses_of(problem: str, training: str, rule: str) -> list[float]:
    """The regrets on lines of 16 places of the networks that report."""
    return [regrets["16 places"] for _, regrets in reported(problem, training, rule)]


def who_loses_much() -> dict[str, str]:
    """How many of the networks that report lose more than a hundredth, and what."""
    lines, head = (losses_of(problem, "PonderNet", "threshold") for problem in ("lines", "no answer"))
    act = losses_of("no answer", "ACT", "average")
    much = [[loss for loss in losses if loss > 1] for losses in (lines, head, act)]
    return {
        "lines_head_good": f"{len(lines) - len(much[0])} of {len(lines)}",
        "lines_head_bad": f"{len(much[0])}",
        "no_answer_head_bad": f"{len(much[1])} of {len(head)}",
        "no_answer_head_loses": from_to(much[1], ".0f"),
        "no_answer_act_loses": from_to(much[2], ".0f"),
    }


def rule_for_each_problem() -> dict[str, str]:
    """What head and judge lose more than the answers alone, paired by seed, where each problem has its own rule."""
    found = {}
    for problem in PROBLEMS:
        networks: dict[tuple, dict[int, tuple[float, float]]] = {}
        for setting, result in runs_of(problem):
            valid, test = result["tests"]["valid"], result["tests"]["16 places"]
            for rule in valid["rules"]:
                regrets = [regret_of(point, valid) for point in valid["rules"][rule]]
                which = int(np.argmin(regrets))
                key = setting["training"], setting["hyperparameter"], rule
                pair = regrets[which], regret_of(test["rules"][rule][which], test)
                networks.setdefault(key, {})[setting["seed"]] = pair
        losses = {}
        for family in ("the answers alone", "PonderNet's head", "a judge"):
            allowed = [key for key in networks if key[2] in FAMILIES[family].get(key[0], ()) and 0 in networks[key]]
            best = min(allowed, key=mean_of_choosing(networks))
            losses[family] = [networks[best][seed][1] for seed in range(CHOOSING, CHOOSING + 8)]
        for name, family in (("head", "PonderNet's head"), ("judge", "a judge")):
            changes = np.subtract(losses[family], losses["the answers alone"])
            found[f"{name}_loses_more_{problem.replace(' ', '_')}"] = mean_with_interval(changes, ".2f")
    found["judge_loses_more"] = found.pop("judge_loses_more_lines").split()[0]  # always alike
    return found


def mean_of_choosing(networks: dict[tuple, dict[int, tuple[float, float]]]) -> Callable[[tuple], float]:
    """The mean regret on "valid" of the networks that choose, of a setting."""
    return lambda key: float(np.mean([networks[key][seed][0] for seed in range(CHOOSING)]))


def when_answers_are_ready() -> dict[str, str]:
    """PonderNets on parity of 8 elements, stopped by certainty: does a larger lambda_p make answers ready sooner?"""
    steps: dict[str, dict[float, list[float]]] = {}
    right: dict[str, list[float]] = {}
    for setting, result in runs_of("8 elements"):
        if setting["training"] == "PonderNet" and setting["seed"] < CHOOSING:
            which = level_of(result, "confidence")
            fraction, n = result["tests"]["8 elements"]["rules"]["confidence"][which]
            recipe = setting["problem"]
            steps.setdefault(recipe, {}).setdefault(setting["hyperparameter"], []).append(n)
            right.setdefault(recipe, []).append(fraction)
    means = {recipe: [fmean(found[prior]) for prior in sorted(found)] for recipe, found in steps.items()}
    in_order = [recipe for recipe, found in means.items() if found == sorted(found, reverse=True)]
    accuracies = [fraction for recipe in in_order for fraction in right[recipe]]
    return {"sooner": f"{len(in_order)} of {len(means)}", "sooner_right": from_to(accuracies, ".0%")}


def of_prices_and_bonuses() -> dict[str, str]:
    """What one setting for three kinds of lines loses, if price and bonus are set apart, and who falls."""
    looked, tested = {}, {}
    for problem in PROBLEMS:
        looked[problem] = regrets_of_settings(problem, "valid", False, PRICED)
        tested[problem] = regrets_of_settings(problem, "16 places", True, PRICED)
    common = [key for key in looked["lines"] if key[2] in OF_HEAD]
    found = {"priced_settings": f"{len(common)}"}
    for name, training, value in (
        ("price", "a price", 0.01),
        ("bonus", "a price and a bonus", 0.003),
        ("ends", "a price, and a bonus that ends", 0.01),
    ):
        allowed = [key for key in common if key[:2] == (training, value)]
        best = min(allowed, key=lambda key: max(fmean(looked[problem][key]) for problem in PROBLEMS))
        found[f"{name}_looked"] = f"{max(fmean(looked[problem][best]) for problem in PROBLEMS):.1f}"
        worst = max((tested[problem][best] for problem in PROBLEMS), key=fmean)
        found[f"{name}_worst"] = mean_with_interval(worst, ".1f")
        found[f"{name}_elements"] = learn_elements(training, value)
    return found | who_falls()


def learn_elements(training: str, value: float) -> str:
    """How many of the networks that report are right on 95 % of eight elements, at a level of their own."""
    right = []
    for setting, result in runs_of("8 elements", PRICED):
        if (setting["training"], setting["hyperparameter"]) == (training, value) and setting["seed"] >= CHOOSING:
            point = result["tests"]["8 elements"]["rules"]["threshold"][level_of(result, "threshold")]
            right.append(point[0])
    return count([fraction >= 0.95 for fraction in right])


def count(holds: list[bool]) -> str:
    """Of how many it holds, such as "3 of 8"."""
    return f"{sum(holds)} of {len(holds)}"


def level_of(result: dict, rule: str) -> int:
    """Which value of the rule a network chooses on "valid"."""
    utilities = [right - PRICE * steps for right, steps in result["tests"]["valid"]["rules"][rule]]
    return utilities.index(max(utilities))


def who_falls() -> dict[str, str]:
    """How many networks lose more than five hundredths on lines, at a level of their own.

    Of those that choose, on the three kinds of lines, by their price. Of those that report, where one place is asked.
    """
    chose: dict[tuple, list[bool]] = {}
    asked: list[bool] = []
    for problem in PROBLEMS:
        for setting, result in runs_of(problem, PRICED):
            key = setting["training"], setting["hyperparameter"]
            test = result["tests"]["16 places"]
            falls = regret_of(test["rules"]["threshold"][level_of(result, "threshold")], test) > 5
            if setting["seed"] < CHOOSING:
                chose.setdefault(key, []).append(falls)
            elif problem == "one answer":
                asked.append(falls)
    by_price = {
        f"price_{value:g}_falls".replace("0.", ""): count(falls)
        for (training, value), falls in chose.items()
        if training == "a price"
    }
    return by_price | {
        "bonus_falls": count(chose["a price and a bonus", 0.01]),
        "draws_fall": count(chose["a price, two draws", 0.01]),
        "asked_fall": count(asked),
    }


def facts() -> dict[str, str]:
    """All of them, by name."""
    return (
        one_setting_for_three()
        | where_no_answer_comes()
        | who_loses_much()
        | rule_for_each_problem()
        | when_answers_are_ready()
        | of_prices_and_bonuses()
    )
