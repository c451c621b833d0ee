"""The headlines of lesson 06 and of its evidence, and its findings, computed again from the stored runs."""

import itertools
import re

import nbformat
import numpy as np
from headlines import FINDINGS, ROOT, mean_with_interval, printed, stored
from scipy import stats

PRICE = 0.005
PROBLEMS = ("lines", "no answer", "one answer")
OF_ANSWERS, BY_LEVEL = ("confidence", "entropy", "unchanged", "settled", "either"), ("quantile", "threshold")
OF_HEAD = ("sample", "expectation", "most probable", *BY_LEVEL)
FAMILIES = {  # {family: {training: rules}}
    "the answers alone": {
        "last step": ("fixed", "confidence"),
        "progressive": ("fixed", "confidence"),
        "every step": OF_ANSWERS,
    },
    "ACT's budget": {"ACT": ("average",)},
    "PonderNet's head": {"PonderNet": OF_HEAD, "PonderNet, uniform prior": BY_LEVEL},
    "a judge": {"judge": ("judged",), "gain": ("judged",)},
}


def runs_of(problem):
    """Settings and results of all stored runs of a problem, whatever the recipe."""
    for path in sorted((ROOT / "results").glob("06_ways_to_stop_*.jsonl")):
        for setting, result in stored(path.stem):
            if setting["problem"] == problem or (problem == "8 elements" and setting["problem"][0] == "8"):
                yield setting, result


def regret_of(point, test):
    """What [right, steps] loses to who stops in time, or if no need is known, to who takes no time."""
    right, steps = point
    return 1 - right + PRICE * (steps - test.get("in time", [1, 0])[1])


def regrets_of_settings(problem, test, report):
    """{(training, hyperparameter, rule, which value): mean regret}, of seeds that report or of those that choose."""
    found = {}
    for setting, result in runs_of(problem):
        for rule, points in result["tests"][test]["rules"].items():
            for which, point in enumerate(points):
                key = setting["training"], setting["hyperparameter"], rule, which
                found.setdefault(key, {})[setting["seed"]] = regret_of(point, result["tests"][test])
    means = {}
    for key, by_seed in found.items():
        choosing = [regret for seed, regret in by_seed.items() if seed < 5]
        reporting = [regret for seed, regret in by_seed.items() if seed >= 5]
        if choosing:
            means[key] = float(np.mean(reporting if report and reporting else choosing))
    return means


def test_lesson_06_one_setting_for_three_problems():
    valid = [regrets_of_settings(problem, "valid", report=False) for problem in PROBLEMS]
    tested = [regrets_of_settings(problem, "16 places", report=True) for problem in PROBLEMS]
    by_choosing = [regrets_of_settings(problem, "16 places", report=False) for problem in PROBLEMS]
    parts, worst, chose = [], {}, {}
    for family, trainings in FAMILIES.items():
        common = set.intersection(*map(set, valid))
        allowed = [key for key in common if key[2] in trainings.get(key[0], ())]
        best = min(allowed, key=lambda key: max(losses[key] for losses in valid))
        worst[family] = 100 * max(losses[best] for losses in tested)
        chose[family] = 100 * max(losses[best] for losses in by_choosing)
        parts.append(f"{family} {worst[family]:.2f}")
    assert (
        printed("06_ways_to_stop").strip()
        == f"one setting for three problems, lost on the worst of them: {'; '.join(parts)}"
    )
    files = (ROOT / "results").glob("06_ways_to_stop_*.jsonl")
    first = printed("evidence/06_the_table").splitlines()[0]
    assert first.startswith(f"{sum(len(stored(file.stem)) for file in files)} runs; ")
    assert first.endswith(f": {'; '.join(parts)}")
    assert f"each loses {min(worst.values()):.1f} hundredths of an answer or more on one of them" in FINDINGS
    looked, lose = chose["PonderNet's head"], worst["PonderNet's head"]
    assert f"look safe, at {looked:.1f}; eight fresh ones lose {lose:.1f}" in FINDINGS


def reported(problem, training, rule):
    """The tests of each network that reports, {test: [right, steps]}, or of those that choose if there are no others.

    The rule's value is chosen on "valid" by each network, recipe and hyperparameter by the mean of seeds 0 to 4.
    """
    chosen, found = {}, {}
    for setting, result in sorted(runs_of(problem), key=lambda run: run[0]["seed"]):
        if setting["training"] == training:
            utilities = [right - PRICE * steps for right, steps in result["tests"]["valid"]["rules"][rule]]
            which = utilities.index(max(utilities))
            points, regrets = {}, {}
            for test, each in result["tests"].items():
                points[test] = each["rules"][rule][which]
                if points[test][0] is not None:  # somebody was graded
                    regrets[test] = 100 * regret_of(points[test], each)
            key, reports = (setting["problem"], setting["hyperparameter"]), setting["seed"] >= 5
            found.setdefault(key, {False: [], True: []})[reports].append((points, regrets))
            if not reports:
                chosen.setdefault(key, []).append(max(utilities))
    best = found[max(chosen, key=lambda key: np.mean(chosen[key]))]
    return best[True] or best[False]


def test_lesson_06_who_pays_where_no_answer_comes():
    text = " ".join((ROOT / "notebooks/06_ways_to_stop.ipynb").read_text(encoding="utf-8").split())
    no_answer = "16 places, none with an answer, N = 20"
    waiting = [*reported("no answer", "every step", "confidence"), *reported("no answer", "judge", "judged")]
    assert "wait to the end on nearly every line without an answer" in text
    assert all(points[no_answer][1] > 19 for points, _ in waiting)
    costs = [regrets["16 places"] for _, regrets in waiting]
    assert "costs them about 2.7 hundredths, in every network" in text
    assert max(abs(cost - 2.7) for cost in costs) < 0.06
    assert "PonderNet's head stop there after a step or two, in every network" in text
    assert "four of these ACTs and three PonderNets get two to seven of a hundred answerable lines wrong" in text
    losses = [np.mean(costs)]
    for training, rule, many in (("ACT", "average", 4), ("PonderNet", "threshold", 3)):
        networks = reported("no answer", training, rule)
        assert len(networks) == 8
        assert all(points[no_answer][1] < 2 for points, _ in networks)
        wrong = [100 * (1 - points["16 places"][0]) for points, _ in networks]
        assert [1.9 < each < 7 for each in wrong if each > 0.25] == [True] * many
        losses.append(np.mean([regrets["16 places"] for _, regrets in networks]))
    waits, *heads = (f"{loss:.1f}" for loss in losses)
    assert f"a regret of {' or '.join(heads)}, against {waits}" in text
    wrong = [round(100 * (1 - points["16 places"][0])) for points, _ in reported("one answer", "ACT", "average")]
    assert f"ACT is wrong on {min(wrong)} to {max(wrong)} of a hundred" in text


METHODS = {  # name in evidence 06: training, rule
    "the same step for all": ("last step", "fixed"),
    "certainty (CALM)": ("every step", "confidence"),
    "certainty or rest": ("every step", "either"),
    "rest (Huginn)": ("every step", "settled"),
    "patience (PABEE)": ("every step", "unchanged"),
    "ACT": ("ACT", "average"),
    "PonderNet, sampled": ("PonderNet", "sample"),
    "PonderNet, quantile (PALBERT)": ("PonderNet", "quantile"),
    "PonderNet, threshold": ("PonderNet", "threshold"),
    "judge of right and wrong (TRM)": ("judge", "judged"),
    "uniform prior, quantile (Ouro)": ("PonderNet, uniform prior", "quantile"),
}


def exact_p_by_ranks(a, b):
    ranks = stats.rankdata(np.round([*a, *b], 9))
    sums = np.array([ranks[list(chosen)].sum() for chosen in itertools.combinations(range(len(ranks)), len(a))])
    off = np.abs(sums - len(a) * ranks.mean())
    return np.mean(off >= abs(ranks[: len(a)].sum() - len(a) * ranks.mean()) - 1e-9)


def test_evidence_06_all_its_comparisons():
    cells = nbformat.read(ROOT / "notebooks/evidence/06_the_table.ipynb", as_version=4).cells
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    text = "".join(output.text for output in outputs if output.output_type == "stream")
    pattern = r"(.+), (.+): (.+) loses more than (.+), hundredths: (.+), p = (.+) by ranks"
    found = [match.groups() for line in text.splitlines() if (match := re.fullmatch(pattern, line))]
    for problem, test, one, other, estimate, p in found:
        if "reversed" not in one:  # of five networks that choose
            networks = [reported(problem, *METHODS[name]) for name in (other, one)]
            a, b = ([regrets[test] for _, regrets in each] for each in networks)
            assert estimate == mean_with_interval(np.subtract(b, a), "+.2f"), (problem, test, one, other)
            assert p == f"{exact_p_by_ranks(a, b):.3f}", (problem, test, one, other)
    counted = [p for _, _, one, _, _, p in found if "reversed" not in one]
    assert printed("evidence/06_the_table").splitlines()[1] == (
        f"{len(counted)} comparisons by ranks, {sum(float(p) < 0.05 for p in counted)} with p < 0.05; "
        f"{0.05 * len(counted):.1f} would be by chance alone"
    )


def test_findings_06_a_rule_for_each_problem_paired_by_seed():
    """Five networks choose training and rule, each network the rule's value on other lines; eight others report."""
    more = {"PonderNet's head": [], "a judge": []}
    for problem in PROBLEMS:
        networks = {}
        for setting, result in runs_of(problem):
            for rule in result["tests"]["valid"]["rules"]:
                lines = result["tests"]["valid"], result["tests"]["16 places"]
                valid, test = ([regret_of(point, tested) for point in tested["rules"][rule]] for tested in lines)
                which = int(np.argmin(valid))
                key = setting["training"], setting["hyperparameter"], rule
                networks.setdefault(key, {})[setting["seed"]] = 100 * valid[which], 100 * test[which]
        losses = {}
        for family in ("the answers alone", *more):
            allowed = [key for key in networks if key[2] in FAMILIES[family].get(key[0], ()) and 0 in networks[key]]
            best = min(allowed, key=lambda key: np.mean([networks[key][seed][0] for seed in range(5)]))
            losses[family] = [networks[best][seed][1] for seed in range(5, 13)]
        for family, found in more.items():
            changes = np.subtract(losses[family], losses["the answers alone"])
            found.append(mean_with_interval(changes, ".2f").removesuffix(", 8 runs"))
    first, second, third = more["PonderNet's head"]
    assert f"{first.replace(' ', ' hundredths of an answer more ', 1)}" in FINDINGS
    assert f"{second} and {third}, the judge {more['a judge'][0].split()[0]}, {more['a judge'][1]}" in FINDINGS
    assert f"and {more['a judge'][2]}" in FINDINGS
