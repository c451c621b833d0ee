"""The stored numbers of the headline of lesson 03, beside those of live networks."""

from running import headline

from ponder_course.research.parity.facts import facts


def test_lesson_03_steps_at_the_largest_k_less_those_at_the_smallest():
    computed = facts()
    for line, name in zip(
        headline("03_parity").splitlines(), ("rise", "rise_reversed", "reversed_more_03"), strict=True
    ):
        assert f" {computed[name]}, " in line
