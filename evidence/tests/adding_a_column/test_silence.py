"""The need of the light cone of a sum, against brute force."""

import pytest

from ponder_course.adding_a_column.task import ColumnTask
from ponder_evidence.adding_a_column import silence


@pytest.mark.parametrize("width", [1, 4])
def test_before_its_cone_step_a_place_has_two_possible_digits_and_from_then_on_one(width):
    """All numbers, added to all running sums: what a place has not seen of the new number may be anything."""
    numbers = range(2**width)
    for total in numbers:
        for number in numbers:
            needed = silence.cone_steps(ColumnTask.digits([total, number], width))[1, 0]
            for place in range(width):
                for n in range(1, width + 2):
                    seen = sum(1 << i for i in range(width) if abs(i - place) <= n - 1)
                    possible = {(total + other) >> place & 1 for other in numbers if (other ^ number) & seen == 0}
                    assert (len(possible) == 1) == (n >= needed[place])
