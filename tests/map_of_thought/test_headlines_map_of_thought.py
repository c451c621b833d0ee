"""The headlines of lesson 07 and of its evidence, and its findings, computed again from the stored runs."""

import math

from headlines import FINDINGS, printed, stored


def mazes_of(name, test):
    return [result[test] for _, result in stored(f"07_mazes_{name}")]


def test_evidence_07_ten_networks():
    large = mazes_of("main", "30")
    right = sum(test["mazes"] >= 0.98 for test in large)
    steps = [format(pick(test["steps"] for test in large), ".2f") for pick in (min, max)]
    steps = " to ".join(steps) if steps[0] != steps[1] else steps[0]
    assert printed("evidence/07_mazes").strip() == (
        f"30 x 30 cells: all places right in 98 % of mazes: {right} of {len(large)} networks; "
        f"steps {steps}, needed {large[0]['needed']:.2f}"
    )


def test_findings_07_mazes_of_30_cells():
    large = mazes_of("main", "30")
    assert len(large) == 10
    own, best = [test["mazes"] for test in large], [max(test["by_step"]["mazes"]) for test in large]
    off = max(abs(test["steps"] / test["needed"] - 1) for test in large)
    assert f"right at every place in {min(own):.0%} to {max(own):.0%} of mazes".replace("%", " %") in FINDINGS
    assert f"within {math.ceil(10000 * off) / 100:.2f} % of what is needed" in FINDINGS
    assert f"at most {min(best):.0%} to {max(best):.0%} of those mazes".replace("%", " %") in FINDINGS
    assert all(test["early"] == 0 for test in large)
    places = min(max(test["by_step"]["places"]) for test in large)
    assert f"{places:.2%} of places are right".replace("%", " %") in FINDINGS
    every_step = sorted(max(test["by_step"]["mazes"]) for test in mazes_of("certainty", "20"))
    assert len(every_step) == 5
    four = f"are right in {every_step[1]:.0%} to {every_step[4]:.0%} of mazes of 20 x 20 cells"
    assert four.replace("%", " %") in FINDINGS
