"""The headlines of lesson 09 and of its evidence, and its findings, computed again from the stored runs."""

import itertools
import statistics

import numpy as np
from headlines import FINDINGS, from_to, mean_with_interval, printed, stored
from scipy import stats


def act_tasks(name, kind, value):
    """Wrong sequences in %, and the results, of the networks of a kind, by seed."""
    wanted = [
        (setting["seed"], result)
        for setting, result in stored(f"09_act_tasks_{name}")
        if (setting["kind"], setting["hyperparameter"]) == (kind, value)
    ]
    results = [result for _, result in sorted(wanted, key=lambda run: run[0])]
    assert [seed for seed, _ in sorted(wanted, key=lambda run: run[0])] == list(range(len(results)))
    return [100 * result["sequence_error"] for result in results], results


def ranks_p(a, b):
    """Mann & Whitney's test with ties, two-sided: of all ways to divide the ranks, those that differ as much."""
    ranks = stats.rankdata([*a, *b])
    middle = ranks.sum() * len(a) / len(ranks)
    sums = [sum(part) for part in itertools.combinations(ranks, len(a))]
    return statistics.fmean(abs(total - middle) >= abs(ranks[: len(a)].sum() - middle) - 1e-9 for total in sums)


def test_evidence_09_what_act_s_own_tasks_need():
    acts, results = act_tasks("logic", "ACT", 0.1)
    lines = printed("evidence/09_act_tasks").strip().splitlines()
    wanted = {"one step": ("fixed", 1), "six steps": ("fixed", 6), "PonderNet": ("PonderNet", 0.2)}
    wanted["a network that stops when sure"] = ("every step", 0)
    for line, (name, kind) in zip(lines, wanted.items(), strict=False):
        others, _ = act_tasks("logic", *kind)
        assert len(others) == len(acts) == 5
        changes = mean_with_interval(np.subtract(acts, others), "+.2f")
        assert f"ACT less {name}: {changes}, p = {ranks_p(acts, others):.3f} by ranks" in line
    rises = [result["steps"][-1] - result["steps"][0] for result in results]
    assert lines[4] == f"ACT's steps at four gates less those at one: {mean_with_interval(rises, '+.2f')}"


def adders_that_learnt():
    networks = [result for _, result in stored("09_columns_main")]
    return networks, [result for result in networks if result["trained"]["right"][7] >= 0.99]


def test_evidence_09_how_right_adders_are_and_how_near_to_the_need():
    networks, learnt = adders_that_learnt()
    line = f"{len(learnt)} of {len(networks)} learnt; "
    tests = {"trained": (16, 16), "wide": (64, 16), "long": (16, 100), "wide and long": (64, 100)}
    for test, (width, numbers) in tests.items():
        sums, correlation = ([result[test][what] for result in learnt] for what in ("sums", "correlation"))
        line += f"{width} digits, {numbers} numbers: sums right {from_to(sums, '.2%')}, "
        line += f"correlation {from_to(correlation, '.3f')}; "
    line += f"too early in {from_to([result['trained']['early'] for result in learnt], '.2%')}"
    assert line in printed("evidence/09_columns")


def test_findings_09_are_those_of_the_stored_runs():
    networks, learnt = adders_that_learnt()
    assert len(networks) == len(learnt) == 10
    trained, wide, long = ([result[test] for result in learnt] for test in ("trained", "wide", "long"))
    assert min(part["sums"] for part in trained) == 1
    assert from_to([part["steps"] for part in trained], ".1f") == "5.0 to 5.3"
    assert from_to([part["needed"] for part in trained], ".1f") == "4.6"
    assert format(min(part["sums"] for part in long), ".2%") == "99.98%"
    others = [part["sums"] for part in wide if part["sums"] < 1]
    assert (len(others), from_to(others, ".0%")) == (2, "84% to 91%")
    assert {round(128 / result["waiting"]["128"]["computed"]) for result in learnt} == {17, 18}
    as_right = [result for result in learnt if max(result["fixed"]) == 1]
    assert len(as_right) == 8
    assert {result["fixed"].index(1.0) + 1 for result in as_right} == {17}
    assert all(3 < 17 / result["trained"]["steps"] < 3.5 for result in as_right)
    assert sum(result["all N"][-1] < 1 for result in learnt) == 3
    for name, n_learnt in (("mean", 3), ("always", 0), ("price_first", 0)):
        found = [result["trained"]["right"][7] >= 0.99 for _, result in stored(f"09_columns_{name}")]
        assert (len(found), sum(found)) == (3, n_learnt)
    for text in (
        "right on every sum that was tried",
        "5.0 to 5.3 steps",
        "on 99.98 % or more",
        "two on 84 % and 91 %",
        "17 or 18 times fewer",
    ):
        assert text in FINDINGS
