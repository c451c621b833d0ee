"""The headlines of lesson 06 and of its evidence, and its findings, computed again from the stored runs."""

import itertools
import re

import nbformat
import numpy as np
from headlines import FINDINGS, ROOT, mean_with_interval, printed, stored
from scipy import stats

PRICE = 0.005


PROBLEMS = ("lines", "no_answer", "one_answer")


FAMILIES = {  # training: {rule: how many values its parameter has}
    "the answers alone": {
        "last step": ("fixed", "confidence"), "progressive": ("fixed", "confidence"),
        "every step": ("confidence", "entropy", "unchanged", "settled", "either"),
    },
    "ACT's budget": {"ACT": ("average",)},
    "PonderNet's head": {
        "PonderNet": ("sample", "expectation", "most probable", "quantile", "threshold"),
        "PonderNet, uniform prior": ("quantile", "threshold"),
    },
    "a judge": {"judge": ("judged",), "gain": ("judged",)},
}  # fmt: skip


def regrets_of_settings(problem, test, report):
    """{(training, hyperparameter, rule, which value): mean regret}, of seeds that report or of those that choose."""
    found = {}
    files = [f"06_ways_to_stop_{name}" for name in (problem, "hyperparameters", "report")]
    runs = [run for file in files if (ROOT / f"results/{file}.jsonl").exists() for run in stored(file)]
    for setting, result in runs:
        if setting["problem"] == problem.replace("_", " "):
            need = result["tests"][test]["in time"][1]
            for rule, points in result["tests"][test]["rules"].items():
                for which, (right, steps) in enumerate(points):
                    key = setting["training"], setting["hyperparameter"], rule, which
                    found.setdefault(key, {})[setting["seed"]] = 1 - right + PRICE * (steps - need)
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
    """The tests of each network that reports: {test: [right, steps]}, its hyperparameters chosen on "valid"."""
    files = [f"06_ways_to_stop_{name}" for name in (problem, "hyperparameters", "report")]
    chosen, found = {}, {}
    for setting, result in (run for file in files for run in stored(file)):
        if (setting["problem"], setting["training"]) == (problem.replace("_", " "), training):
            utilities = [right - PRICE * steps for right, steps in result["tests"]["valid"]["rules"][rule]]
            which = utilities.index(max(utilities))
            point = {test: each["rules"][rule][which] for test, each in result["tests"].items()}
            if setting["seed"] < 5:
                chosen.setdefault(setting["hyperparameter"], []).append(max(utilities))
            else:
                found.setdefault(setting["hyperparameter"], []).append(point)
    return found[max(chosen, key=lambda value: np.mean(chosen[value]))]


def test_lesson_06_who_pays_where_no_answer_comes():
    text = " ".join((ROOT / "notebooks/06_ways_to_stop.ipynb").read_text(encoding="utf-8").split())
    no_answer = "16 places, none with an answer, N = 20"
    waiting = [*reported("no_answer", "every step", "confidence"), *reported("no_answer", "judge", "judged")]
    assert "wait to the end on nearly every line without an answer" in text
    assert all(point[no_answer][1] > 19 for point in waiting)
    ((need,),) = [{result["tests"]["16 places"]["in time"][1] for _, result in stored("06_ways_to_stop_no_answer")}]
    costs = [100 * (1 - right + PRICE * (steps - need)) for right, steps in (point["16 places"] for point in waiting)]
    assert "costs them about 2.7 hundredths, in every network" in text
    assert max(abs(cost - 2.7) for cost in costs) < 0.06
    assert "PonderNet's head stop there after a step or two, in every network" in text
    assert "four of these ACTs and three PonderNets get two to seven of a hundred answerable lines wrong" in text
    for training, rule, many in (("ACT", "average", 4), ("PonderNet", "threshold", 3)):
        points = reported("no_answer", training, rule)
        assert len(points) == 8
        assert all(point[no_answer][1] < 2 for point in points)
        wrong = [100 * (1 - point["16 places"][0]) for point in points]
        assert [1.9 < each < 7 for each in wrong if each > 0.25] == [True] * many
    losses = [np.mean(costs)]
    for training, rule in (("ACT", "average"), ("PonderNet", "threshold")):
        points = [point["16 places"] for point in reported("no_answer", training, rule)]
        losses.append(np.mean([100 * (1 - right + PRICE * (steps - need)) for right, steps in points]))
    waits, *heads = (f"{loss:.1f}" for loss in losses)
    assert f"a regret of {' or '.join(heads)}, against {waits}" in text
    wrong = [round(100 * (1 - point["16 places"][0])) for point in reported("one_answer", "ACT", "average")]
    assert f"ACT is wrong on {min(wrong)} to {max(wrong)} of a hundred" in text


METHODS = {  # name in evidence 06: training, rule
    "the same step for all": ("last step", "fixed"), "certainty (CALM)": ("every step", "confidence"),
    "certainty or rest": ("every step", "either"), "rest (Huginn)": ("every step", "settled"),
    "patience (PABEE)": ("every step", "unchanged"), "ACT": ("ACT", "average"),
    "PonderNet, sampled": ("PonderNet", "sample"), "PonderNet, quantile (PALBERT)": ("PonderNet", "quantile"),
    "PonderNet, threshold": ("PonderNet", "threshold"), "judge of right and wrong (TRM)": ("judge", "judged"),
    "uniform prior, quantile (Ouro)": ("PonderNet, uniform prior", "quantile"),
}  # fmt: skip


def hundredths_of_networks_that_report(problem, test, training, rule):
    """What each network loses, where five chose recipe and hyperparameter: the others, or those if there are none."""
    files = sorted(path.stem for path in (ROOT / "results").glob("06_ways_to_stop_*.jsonl"))
    groups = {}
    for setting, result in (run for file in files for run in stored(file)):
        same_question = setting["problem"] == problem or (problem == "8 elements" and setting["problem"][0] == "8")
        if same_question and setting["training"] == training:
            on_valid = [right - PRICE * steps for right, steps in result["tests"]["valid"]["rules"][rule]]
            tested = result["tests"][test]
            right, steps = tested["rules"][rule][int(np.argmax(on_valid))]
            regret = 100 * (1 - right + PRICE * (steps - tested.get("in time", [1, 0])[1]))
            group = groups.setdefault((setting["problem"], setting["hyperparameter"]), {})
            group[setting["seed"]] = max(on_valid), regret
    best = max(groups.values(), key=lambda group: np.mean([valid for seed, (valid, _) in group.items() if seed < 5]))
    regrets = [(seed, regret) for seed, (_, regret) in sorted(best.items())]
    return [regret for seed, regret in regrets if seed >= 5] or [regret for _, regret in regrets]


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
            a, b = (hundredths_of_networks_that_report(problem, test, *METHODS[name]) for name in (other, one))
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
        for file in (problem, "hyperparameters", "report"):
            for setting, result in stored(f"06_ways_to_stop_{file}"):
                if setting["problem"] == problem.replace("_", " "):
                    for rule in result["tests"]["valid"]["rules"]:
                        valid, test = (
                            [1 - right + PRICE * (n - lines["in time"][1]) for right, n in lines["rules"][rule]]
                            for lines in (result["tests"]["valid"], result["tests"]["16 places"])
                        )
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
