"""The figures of lesson 09 draw the numbers that they are given, and their sentences speak of these."""

import numpy as np
from drawn import image_of, lines_of, numbers
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch

from ponder_course.adding_a_column import figures as draw
from ponder_course.common.style import ANSWER, DARK_GREY, HALTING, NOT_LEARNT, WRONG

NUMBERS = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]])  # 3, 1 and 6, of three digits
SUMS = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 1]])  # 3, 4 and 2; the last as if one were wrong
TRAVELLED = np.array([[0, 0, 0], [0, 1, 2], [0, 0, 0]])
RIGHT = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]])
VOTES = {"+ 0": [[-1, -1], [1, 1]], "+ 1": [[-1, -1], [-1, 1], [1, -1], [1, 1]]}  # [steps, width]
ANSWERS = {"+ 0": [[1, 1]] * 2, "+ 1": [[0, 1]] * 3 + [[0, 0]]}


def test_a_trace_has_every_digit_at_its_place_and_wrong_ones_in_red():
    above, below = draw.trace(NUMBERS, SUMS, TRAVELLED, [2.0, 4.0, 1.0], [1.0, 3.0, 1.5], RIGHT).axes
    seen = {}
    for text in above.texts:
        x, place = text.get_position()
        seen[round(x), place, x > round(x)] = (int(text.get_text()), to_rgb(text.get_color()))
    assert len(seen) == 2 * NUMBERS.size
    for t, place in np.ndindex(3, 3):
        assert seen[t, place, False] == (NUMBERS[t, place], to_rgb(DARK_GREY))
        assert seen[t, place, True] == (SUMS[t, place], to_rgb(ANSWER if RIGHT[t, place] else WRONG))
    assert [bar.get_height() for bar in below.patches] == [2, 4, 1, 1, 3, 1.5]


def test_a_trace_has_an_arrow_for_each_carry_from_where_it_was_made_to_where_it_ends():
    def ends(travelled):
        ones = np.ones(np.shape(travelled))
        above, _ = draw.trace(ones, ones, np.array(travelled), [3] * len(ones), [3] * len(ones), ones).axes
        arrows = [arrow for arrow in above.patches if isinstance(arrow, FancyArrowPatch)]
        return [arrow.get_path().get_extents().get_points().round().tolist() for arrow in arrows]

    assert ends(TRAVELLED) == [[[1, 0], [1, 2]]]
    assert ends([[0, 1, 1, 2]]) == [[[0, 0], [0, 1]], [[0, 1], [0, 3]]]  # the second lets the first pass


def test_steps_less_the_need_are_drawn_and_networks_that_keep_to_it_are_counted():
    near, far, not_learnt = {1: 2.0, 5: 5.5, 20: 20.5}, {1: 1.5, 5: 6.0, 20: 17.5}, {1: 1.125, 20: 3.0}
    (ax,) = draw.against_need([near, far], 8, [not_learnt]).axes
    np.testing.assert_allclose(lines_of(ax, HALTING), [[[1, 1], [5, 0.5], [20, 0.5]]])
    np.testing.assert_allclose(lines_of(ax, WRONG), [[[1, 0.5], [5, 1], [20, -2.5]]])
    np.testing.assert_allclose(lines_of(ax, NOT_LEARNT), [[[1, 0.125], [20, -17]]])


def test_answers_that_will_change_are_red_and_places_that_object_are_marked():
    both = {name: (ANSWERS[name], votes) for name, votes in VOTES.items()}
    for ax, (answers, votes) in zip(draw.answers_and_objections(both).axes, both.values(), strict=True):
        np.testing.assert_array_equal(image_of(ax), np.transpose(votes) < 0)
        ink = {text.get_position(): text.get_color() for text in ax.texts}
        for n, digits in enumerate(answers, 1):
            for place, digit in enumerate(digits, 1):
                assert (ink[n, place] == WRONG) == (digit != answers[-1][place - 1])
    assert numbers(draw.same_answer(both)) == ["2", "1", "1"]
