"""The stored numbers of the headline of lesson 05, beside those of live networks."""

import re

from running import headline
from stored_runs import stored


def test_lesson_05_the_ten_stored_networks_of_its_headline():
    tests = [result["tests"]["64"] for _, result in stored("05_light_cone_main")]
    assert len(tests) == 10
    assert all(test["rules"]["threshold 0.2"]["right"] >= 0.97 for test in tests)
    learnt, of, low, high = re.search(
        r"(\d+) of (\d+) .*steps: ([\d.]+) to ([\d.]+)", headline("05_light_cone")
    ).groups()
    assert 10 <= int(learnt) <= int(of)  # these ten, and of those trained in class who has learnt
    steps = [test["rules"]["threshold 0.2"]["steps"] for test in tests]
    assert float(low) - 0.05 <= min(steps) <= max(steps) <= float(high) + 0.05
