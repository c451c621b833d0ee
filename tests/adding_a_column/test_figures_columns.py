"""The figures of lesson 09 draw the numbers that they are given, and their sentences speak of these."""

import numpy as np
import torch
from drawn import image_of, lines_of, numbers, texts_of
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch

from ponder_course.adding_a_column import experiment as columns
from ponder_course.adding_a_column import figures as draw
from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.common.style import ANSWER, DARK_GREY, HALTING, NOT_LEARNT, WRONG
from ponder_utils import PonderSequence

NUMBERS = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]])  # 3, 1 and 6, of three digits
SUMS = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 1]])  # 3, 4 and 2; the last as if one were wrong
TRAVELLED = np.array([[0, 0, 0], [0, 1, 2], [0, 0, 0]])
RIGHT = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]])
TIMES = {"halts": [[1.0, 0.99, 0.9], [0.98, 0.8, 0.7]], "all": [[0.97, 0.55, 0.2]]}
VOTES = {"+ 0": [[-1, -1], [1, 1]], "+ 1": [[-1, -1], [-1, 1], [1, -1], [1, 1]]}  # [steps, width]
ANSWERS = {"+ 0": [[1, 1]] * 2, "+ 1": [[0, 1]] * 3 + [[0, 0]]}


def untrained():
    torch.manual_seed(0)
    return PonderSequence(columns.ColumnStep(4), 8).eval()


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


def test_the_trace_of_a_network_has_its_own_steps_and_sums():
    model, x = untrained(), columns.draw_columns(4, 5, 3)
    figure, needed, taken, n_right = draw.trace_of(model, x[:, 1:2], 7)
    found, right = columns.halt(model, x[:, 1:2], 7, q=0.5)
    assert taken == found.steps[:, 0].tolist()
    assert needed == ColumnTask.needed_steps(x)[:, 1].tolist()
    assert n_right == int(right.sum())
    assert [bar.get_height() for bar in figure.axes[1].patches] == taken + needed
    assert numbers(draw.thinks_longest([1, 9, 3], [2, 8, 9])) == ["8", "2", "9"]


def test_steps_less_the_need_are_drawn_and_networks_that_keep_to_it_are_counted():
    near, far, not_learnt = {1: 2.0, 5: 5.5, 20: 20.5}, {1: 1.5, 5: 6.0, 20: 17.5}, {1: 1.125, 20: 3.0}
    (ax,) = draw.against_need([near, far], 8, [not_learnt]).axes
    np.testing.assert_allclose(lines_of(ax, HALTING), [[[1, 1], [5, 0.5], [20, 0.5]]])
    np.testing.assert_allclose(lines_of(ax, WRONG), [[[1, 0.5], [5, 1], [20, -2.5]]])
    np.testing.assert_allclose(lines_of(ax, NOT_LEARNT), [[[1, 0.125], [20, -17]]])
    assert numbers(draw.keep_to_the_need([{1: 9.0, 41: 42.5}, {41: 38.5}, {41: 40.0}], 8)) == ["2", "3"]


def test_right_sums_are_drawn_by_time():
    (ax,) = draw.by_time(TIMES, 2).axes
    for colour, networks in ((HALTING, TIMES["halts"]), (DARK_GREY, TIMES["all"])):
        assert [line[:, 1].tolist() for line in lines_of(ax, colour)] == networks


def test_answers_that_will_change_are_red_and_places_that_object_are_marked():
    both = {name: (ANSWERS[name], votes) for name, votes in VOTES.items()}
    for ax, (answers, votes) in zip(draw.answers_and_objections(both).axes, both.values(), strict=True):
        np.testing.assert_array_equal(image_of(ax), np.transpose(votes) < 0)
        ink = {text.get_position(): text.get_color() for text in ax.texts}
        for n, digits in enumerate(answers, 1):
            for place, digit in enumerate(digits, 1):
                assert (ink[n, place] == WRONG) == (digit != answers[-1][place - 1])
    assert numbers(draw.same_answer(both)) == ["2", "1", "1"]


def test_who_objects_is_drawn_until_nobody_does():
    figure = draw.objections(VOTES)
    for ax, votes in zip(figure.axes, VOTES.values(), strict=True):
        np.testing.assert_array_equal(image_of(ax), np.transpose(votes) < 0)
    assert [numbers(text)[1] for text in texts_of(figure) if text.startswith("+")] == ["2", "4"]


def test_a_network_is_measured_in_tests_of_these_sizes():
    model, sizes = untrained(), {"trained": (4, 5, 3), "wide": (6, 5, 3), "long": (4, 9, 2)}
    row = draw.measured(model, sizes)
    for name, (digits, n_numbers, n) in sizes.items():
        x = columns.draw_columns(digits, n_numbers, n)
        np.testing.assert_equal(row[name], columns.measure(model, x, digits + 10, q=0.5))
    assert row["all N"] == columns.halt(model, x, 14, "fixed", step=14)[1].double().mean(1).tolist()


def test_answers_at_the_last_number_are_those_that_are_halted_with():
    x = columns.draw_columns(4, 3, 5)
    found, halted = draw.answers_at_the_last(untrained(), x, 7), columns.halt(untrained(), x, 7, q=0.5)[0]
    assert [len(answers) for answers in found] == halted.steps[-1].tolist()
    assert [answers[-1] for answers in found] == (halted.y_hat[-1] > 0).int().tolist()
