"""The stored numbers of the headline of lesson 09, beside those of live networks."""

from running import headline
from stored_runs import results


def test_lesson_09_how_right_stored_adders_are():
    for line, test in zip(headline("09_adding_a_column").splitlines(), ("trained", "wide"), strict=True):
        tests = [result[test] for result in results("09_columns_main")]
        assert f" {min(each['sums'] for each in tests):.1%};" in line
        assert line.endswith(f" {min(each['correlation'] for each in tests):.3f}")
