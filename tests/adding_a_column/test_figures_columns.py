"""The figures of lesson 09 draw the votes and answers that they are given, and their sentences speak of these."""

import numpy as np
from drawn import image_of, lines_of, numbers

from ponder_course.adding_a_column import figures as draw
from ponder_course.common.style import HALTING, WRONG

VOTES = {"+ 0": [[-1, -1], [1, 1]], "+ 1": [[-1, -1], [-1, 1], [1, -1], [1, 1]]}  # [steps, places]
ANSWERS = {"+ 0": [[1, 1]] * 2, "+ 1": [[0, 1]] * 3 + [[0, 0]]}


def test_answers_that_will_change_are_red_and_places_that_object_are_marked():
    both = {name: (ANSWERS[name], votes) for name, votes in VOTES.items()}
    for ax, (answers, votes) in zip(draw.answers_and_objections(both).axes, both.values(), strict=True):
        np.testing.assert_array_equal(image_of(ax), np.transpose(votes) < 0)
        ink = {text.get_position(): text.get_color() for text in ax.texts}
        for n, digits in enumerate(answers, 1):
            for place, digit in enumerate(digits, 1):
                assert (ink[n, place] == WRONG) == (digit != answers[-1][place - 1])
    assert numbers(draw.same_answer(both)) == ["2", "1", "1"]


def test_all_objections_are_drawn_and_the_step_without_one_is_named():
    for ax, votes in zip(draw.objections(VOTES).axes, VOTES.values(), strict=True):
        np.testing.assert_array_equal(image_of(ax), np.transpose(votes) < 0)
        assert numbers(ax.texts[1].get_text()) == [str(len(votes))]


def test_steps_less_the_need_are_drawn():
    (ax,) = draw.late_by_need([{1: 2.0, 5: 5.5, 20: 17.5}], 8).axes
    np.testing.assert_allclose(lines_of(ax, HALTING), [[[1, 1], [5, 0.5], [20, -2.5]]])


def test_sums_that_are_wrong_are_crossed_out():
    right, wrong = {"steps": [2, 64], "right": [True, True]}, {"steps": [3, 5], "right": [True, False]}
    (ax,) = draw.with_and_without({"all": [right, wrong]}, 64).axes
    np.testing.assert_allclose(lines_of(ax, HALTING), [[[0, 2], [1, 64]], [[0, 3], [1, 5]]])
    crossed = [marks.get_offsets().tolist() for marks in ax.collections if marks.get_linewidth()[0] == 2.5]
    assert crossed == [[[1, 5]]]
