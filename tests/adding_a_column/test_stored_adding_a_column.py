"""What lesson 09 claims of every stored network, and the stored numbers of its headline."""

from headlines import printed

from ponder_course.research.adding_a_column.facts import learnt, sums_right
from ponder_course.research.stored_facts import results


def test_lesson_09_how_right_stored_adders_are():
    for line, test in zip(printed("09_adding_a_column").splitlines(), ("trained", "wide"), strict=True):
        tests = [result[test] for result in results("09_columns_main")]
        assert f" {min(each['sums'] for each in tests):.1%};" in line
        assert line.endswith(f" {min(each['correlation'] for each in tests):.3f}")


def test_in_columns_twice_as_long_as_in_training_every_sum_is_right():
    assert all(sums_right(result) == 1 for result in results("09_columns_main"))


def test_no_network_that_was_hurried_from_the_start_has_learnt():
    assert not any(map(learnt, results("09_columns_price_first")))
