"""The headlines of lesson 05 and of its evidence, and its findings, computed again from the stored runs."""

import math
import re
import statistics

import numpy as np
from headlines import FINDINGS, mean_with_interval, printed, stored


def test_evidence_05_ten_networks():
    tests = [result["tests"]["64"] for _, result in stored("05_light_cone_main")]
    sampled = sum(test["rules"]["sample"]["right"] >= 0.98 for test in tests)
    correlations = [test["corr"]["all"] for test in tests]
    gains = []
    for test in tests:
        rule, by_step = test["rules"]["threshold 0.2"], test["by_step"]
        below = math.floor(rule["steps"])
        part = rule["steps"] - below
        same = (1 - part) * by_step[below - 1] + part * by_step[min(below, len(by_step) - 1)]
        gains.append(rule["right"] - same)
    assert printed("evidence/05_light_cone_controls").strip() == (
        f"10 networks, 64 places: {sampled} of 10 right on 98 % sampled; correlation with L "
        f"{min(correlations):.4f} to {max(correlations):.4f}; gain over the same steps for all "
        f"{mean_with_interval(gains, '+.1%')}"
    )


def test_lesson_05_the_median_network_is_within_a_quarter_of_theory():
    """Steps above L: (1 - lambda_p) / lambda_p, less where N = 20 or 40 cuts the prior off; lines of 16 places."""
    above, needs = {}, None
    for setting, result in stored("05_light_cone_main") + stored("05_light_cone_prior"):
        test = result["tests"]["16"]
        needs = test["need"]
        group = above.setdefault((setting["N"], setting["lambda_p"]), [])
        group.append(test["rules"]["sample"]["steps"] - needs)
    assert len(above) == 8
    rng = np.random.default_rng(0)
    resets = rng.random((20_000, 16)) < 16.0 ** -rng.random((20_000, 1))
    resets[:, 0] = True
    longest = [max(np.diff([*np.flatnonzero(line), 16])) for line in resets]
    assert abs(np.mean(longest) - needs) < 0.25
    for (N, lambda_p), found in above.items():
        theory = []
        for L in range(1, 17):
            p = (1 - lambda_p) ** np.arange(N - L + 1)
            theory.append((np.arange(N - L + 1) * p).sum() / p.sum())
        expected = np.mean([theory[L - 1] for L in longest])
        assert abs(statistics.median(found) / expected - 1) < 0.25, (N, lambda_p)


def test_lesson_05_the_ten_stored_networks_of_its_headline():
    tests = [result["tests"]["64"] for _, result in stored("05_light_cone_main")]
    assert len(tests) == 10
    assert all(test["rules"]["threshold 0.2"]["right"] >= 0.97 for test in tests)
    headline = printed("05_light_cone")
    found = re.search(r"(\d+) of (\d+) PonderNets .* correlation of PonderNet's steps with L: ([\d.]+)", headline)
    assert int(found[1]) == int(found[2]) >= 10  # those of the class are among them
    assert min(test["corr"]["all"] for test in tests) >= float(found[3]) - 5e-4


def speaks(setting, result, at_least=0.95):
    rule = result["tests"][str(setting["places"])]["rules"]["threshold"]
    return rule["early"] >= 0.1 and rule["right_early"] >= at_least


def has_learnt(setting, result, at_least=0.95):
    test = result["tests"][str(setting["places"])]
    return test["rules"]["threshold"]["right"] >= at_least or max(test["by_step"]) >= at_least


def test_evidence_05_who_speaks_by_halting():
    parts = []
    for places in (4, 6, 8):
        runs = [run for run in stored("05_beating_the_clock_lengths") if run[0]["places"] == places]
        learnt = [run for run in runs if has_learnt(*run)]
        parts.append(
            f"L = {places}: {sum(speaks(*run) for run in learnt)} of {len(learnt)} that learnt speak by halting"
        )
        for setting, result in learnt:  # before L no fixed step is right on more than half of all lines
            assert max(result["tests"][str(places)]["by_step"][: setting["places"] - 1]) <= 0.5
    local = [run for run in stored("05_beating_the_clock_local_head") if has_learnt(*run)]
    assert printed("evidence/05_beating_the_clock").strip().splitlines() == [
        "; ".join(parts),
        f"with a local head {sum(speaks(*run) for run in local)} of {len(local)}",
    ]
    assert sum(speaks(*run) for run in local) == 0
    short = [run for run in stored("05_beating_the_clock_lengths") if run[0]["places"] <= 8 and has_learnt(*run)]
    assert f"{sum(speaks(*run) for run in short)} of {len(short)} networks that learnt halt many lines" in FINDINGS
    assert f"none of {len(local)} does" in FINDINGS
    twice = []
    for setting, result in short:
        rule = result["tests"][str(2 * setting["places"])]["rules"]["threshold"]
        twice += [rule["right"]] if speaks(setting, result) else []
    assert f"right on at most {max(twice):.0%} of those".replace("%", " %") in FINDINGS
