"""The headlines of lesson 03 and of its evidence, and its findings, computed again from the stored runs."""

import statistics

import numpy as np
from headlines import FINDINGS, interval_of_difference, mean_with_interval, printed, stored
from scipy import stats


def rises_of_large_networks(loss, lambda_p, files=("prior", "again", "ones", "fixed")):
    """Steps at k = 8 less those at k = 1, where networks learnt: by seed, the runs of one averaged; and of each run."""
    found = {}
    for setting, result in (run for name in files for run in stored(f"03_parity_{name}_class")):
        wanted = setting["elements"], setting["lambda_p"], setting["loss"]
        if wanted == (8, lambda_p, loss) and not result["stopped"] and sum(result["accuracy"]) / 8 >= 0.99:
            found.setdefault(setting["seed"], []).append(result["steps"][7] - result["steps"][0])
    return [statistics.fmean(runs) for runs in found.values()], [rise for runs in found.values() for rise in runs]


def test_lesson_03_steps_at_the_largest_k_less_those_at_the_smallest():
    pair = []
    for name, loss in (("KL(p‖p_G)", "log space"), ("reversed", "log space, reversed")):
        rises, _ = rises_of_large_networks(loss, 0.3)
        part = printed("03_parity").split(f"{name}: ")[1].splitlines()[0]
        assert part.strip().endswith(f"stored, by seed, {mean_with_interval(rises, '+.2f')}")
        pair.append(rises)
    ends = ", ".join(f"{end:+.2f}" for end in interval_of_difference(*pair))
    wanted = f"reversed less the paper's {np.mean(pair[1]) - np.mean(pair[0]):+.2f} [{ends}], 30 and 10 runs"
    assert printed("03_parity").strip().endswith(wanted)


def test_evidence_03_and_findings_where_the_divergences_differ():
    """Ten comparisons, with intervals that hold together: 99.5 % each; the five of the lesson: 99 %."""
    decided, differences = {}, []
    for lambda_p in (0.1, 0.3, 0.5, 0.7, 0.9):
        pair = [rises_of_large_networks(loss, lambda_p)[0] for loss in ("log space", "log space, reversed")]
        for level in (0.99, 0.995):
            low, high = interval_of_difference(*pair, level)
            decided.setdefault(level, {})[lambda_p] = low > 0 or high < 0
        if lambda_p in (0.5, 0.9):
            low, high = interval_of_difference(*pair)
            differences.append(f"{np.mean(pair[1]) - np.mean(pair[0]):.2f} [{low:.2f}, {high:.2f}]")
    for found in decided.values():
        assert [lambda_p for lambda_p, is_decided in found.items() if is_decided] == [0.5, 0.9]
    grid = [rises_of_large_networks(loss, 0.1, ["prior"])[0] for loss in ("log space", "log space, reversed")]
    assert interval_of_difference(*grid)[1] < 0  # the other way round
    _, networks = rises_of_large_networks("log space, reversed", 0.3)
    assert (len(networks), sum(rise < -0.1 for rise in networks)) == (40, 3)
    assert "undecided in 6, more in 3, too few seeds in 1 settings" in printed("evidence/03_prior_and_divergence")
    assert f"by {differences[0].replace(' ', ' steps ', 1)} and {differences[1]}" in FINDINGS
    assert "more than the paper's at two priors of five, $\\lambda_p$ of 0.5 and 0.9" in FINDINGS


def test_evidence_03_who_crashes():
    crashed = [setting["loss"] for setting, result in stored("03_parity_prior_class") if result["stopped"]]
    assert f"crashed {len(crashed)}, all out of log space: {set(crashed) == {'textbook'}}" in (
        printed("evidence/03_prior_and_divergence")
    )


def test_evidence_03_beyond_the_border():
    found = []
    groups = {
        "PonderNet": ("03_parity_beyond_class", {"loss": "log space"}),
        "ACT": ("03_parity_border_class", {"loss": "ACT"}),
        "depth 4": ("03_parity_beyond_class", {"loss": "last step", "N": 4}),
    }
    for name, (file, wanted) in groups.items():
        runs = [result for setting, result in stored(file) if wanted.items() <= setting.items()]
        learnt = [run for run in runs if np.mean(run["accuracy"][:8]) >= 0.99]
        beyond = mean_with_interval([np.mean(run["accuracy"][8:]) for run in learnt], ".1%")
        rise = mean_with_interval([run["steps"][11] - run["steps"][7] for run in learnt], "+.2f")
        found.append(f"{name} {len(learnt)} of {len(runs)} learn, right beyond {beyond}, k = 12 minus 8 {rise}")
    assert printed("evidence/03_beyond_the_border").splitlines()[0] == "; ".join(found)


def test_evidence_03_beyond_the_border_with_more_steps():
    parts, best, n_learnt = [], 0.0, 0
    kinds = {
        "fixed depth": {"network": "last step"},
        "PonderNet, Muon": {"network": "PonderNet", "muon": 3.0},
        "PonderNet, Adam": {"network": "PonderNet", "muon": None},
    }
    for name, wanted in kinds.items():
        runs = [result for setting, result in stored("03_papers_size_beyond") if wanted.items() <= setting.items()]
        learnt = [result for result in runs if np.mean(result["accuracy"][:48]) >= 0.95]
        beyond = []
        for N in ("20", "40", "60"):
            right = [np.mean(result["by_cap"][N]["accuracy"][48:]) for result in learnt]
            beyond.append(" to ".join(dict.fromkeys(f"{end(right):.1%}" for end in (min, max))) if right else "no runs")
            best = max([best, *right])
        n_learnt += len(learnt)
        parts.append(f"{name} {len(learnt)} of {len(runs)} learn, right beyond {' / '.join(beyond)}")
    last = printed("evidence/03_beyond_the_border").splitlines()[-1]
    assert last == f"96 elements, N = 20 / 40 / 60: {'; '.join(parts)}"
    assert f"{n_learnt} of {len(stored('03_papers_size_beyond'))} networks learn that range" in FINDINGS
    assert f"right on more than {100 * best:.0f} % beyond it, with 20, 40 or 60 steps" in FINDINGS


def papers_size(network):
    runs = stored("03_papers_size_64")
    return [np.mean(result["accuracy"][:64]) for setting, result in runs if setting["network"] == network]


def test_evidence_03_and_readme_who_learns_the_papers_size():
    found = []
    for network in ("PonderNet", "ACT", "last step", "every step"):
        right = papers_size(network)
        ends = dict.fromkeys(f"{end(right):.1%}" for end in (min, max))
        found.append(f"{network} {sum(one >= 0.95 for one in right)} of {len(right)} ({' to '.join(ends)})")
    assert printed("evidence/03_papers_size").strip() == f"right on 95 % of 64 elements: {', '.join(found)}"
    assert "5 of 8 PonderNets, and 5 of 5 networks of a fixed depth of 20" in FINDINGS
    assert "of ACT and of a loss at every step 0 of 5 each" in FINDINGS
    assert all(one.startswith(f"{name} 0 of 5") for name, one in (("ACT", found[1]), ("every step", found[3])))
    assert found[0].startswith("PonderNet 5 of 8")
    assert found[2].startswith("last step 5 of 5")
    steps, few = [], []
    for setting, result in stored("03_papers_size_64"):
        if setting["network"] == "PonderNet":
            right = np.mean(result["accuracy"])
            steps += [np.mean(result["steps"])] if right >= 0.95 else []
            few += [right] if right < 0.95 else []
    assert f"take about {np.mean(steps):.0f} of 20 steps on average" in FINDINGS
    assert f"three PonderNets right on {min(few):.0%} to {max(few):.0%}".replace("%", " %") in FINDINGS
    adam = [result for _, result in stored("03_papers_size_adam")]
    table = []
    for bias in (-5, 0):
        runs = [result for setting, result in stored("03_papers_size_adam") if setting["halting"] == bias]
        learnt = sum(np.mean(result["accuracy"]) >= 0.95 for result in runs)
        table.append([learnt, len(runs) - learnt])
    assert f"{table[0][0]} of 24 whose first halting bias is -5, {table[1][0]} of 24 with 0" in FINDINGS
    assert f"(p = {stats.fisher_exact(table).pvalue:.3f})" in FINDINGS
    right = [np.mean(result["accuracy"]) for result in adam]
    assert f"With Adam, {sum(one >= 0.95 for one in right)} of {len(right)} PonderNets learn it" in FINDINGS
    alternating, counter = (adam[i] for i in np.argsort(right)[:-3:-1])  # the two best
    for best in (alternating, counter):
        at_16 = f"{max(best['by_step'][1]):.0%}".replace("%", " %")
        assert f"right on more than {at_16} of 16 elements" in FINDINGS
    assert all(7.5 < steps < 8.5 for steps in alternating["steps"])
    assert "takes about 8 steps at every number of elements" in FINDINGS
    shown = stored("03_papers_size_best_by_adam")[0][1]["step_by_step"]
    assert len(shown["answers"]) == 1000
    assert "its answer swings between 0 and 1 on 1,000 of 1,000 inputs with 16 of 64 elements" in FINDINGS
    assert all({0, 1} == set(answers) for answers in shown["answers"])
    by_itself = [answers[n - 1] for answers, n in zip(shown["answers"], shown["steps"], strict=True)]
    assert by_itself == shown["targets"]
    rise = f"from {counter['steps'][7]:.1f} steps at 8 elements to {counter['steps'][63]:.1f} at 64"
    assert rise in FINDINGS
    assert abs(np.polyfit(range(25), counter["by_ones"][2]["steps"][:25], 1)[0] - 0.5) < 0.03  # a step for every two
