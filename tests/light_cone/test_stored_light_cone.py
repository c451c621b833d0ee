"""What lesson 05 and its evidence claim of stored networks, and the stored numbers of its headline."""

import re
import statistics

import numpy as np
from headlines import printed

from ponder_course.research.light_cone.facts import has_learnt, own_test, speaks
from ponder_course.research.stored_facts import stored


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
    found = re.search(r"(\d+) of (\d+) .* ([\d.]+)$", printed("05_light_cone"), re.M)
    assert int(found[1]) == int(found[2]) >= 10  # those of the class are among them
    assert min(test["corr"]["all"] for test in tests) >= float(found[3]) - 5e-4


def test_before_the_need_no_fixed_step_is_right_on_more_than_half_of_all_lines():
    learnt = [run for run in stored("05_beating_the_clock_lengths") if run[0]["places"] <= 8 and has_learnt(run)]
    assert any(map(speaks, learnt))
    for setting, result in learnt:
        assert max(own_test((setting, result))["by_step"][: setting["places"] - 1]) <= 0.5
