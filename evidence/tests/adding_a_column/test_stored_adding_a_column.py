"""The stored number of the headline of lesson 09, beside that of the live network."""

from running import headline
from stored_runs import results


def test_lesson_09_how_right_stored_adders_are():
    tests = [result["tests"]["64"] for result in results("09_columns_sums")]
    least = min(test["right"] / test["sums"] for test in tests)
    assert headline("09_adding_a_column").strip().endswith(f"{len(tests)} stored networks: at least {least:.1%}")
