"""The figures of lesson 03 draw the numbers that they are given."""

import numpy as np
from drawn import image_of, lines_of, numbers, texts_of

from ponder_course.common.style import ANSWER, HALTING
from ponder_course.parity import figures as draw


def test_its_own_time_is_drawn_beside_every_fixed_step():
    by_step = [0.4, 0.8, 0.7]
    figure = draw.draw_own_time(0.95, by_step)
    (ax,) = figure.axes
    np.testing.assert_allclose(lines_of(ax, ANSWER), [[[1, 0.4], [2, 0.8], [3, 0.7]]])
    np.testing.assert_allclose(lines_of(ax, HALTING)[0][:, 1], 0.95)
    assert [numbers(text) for text in texts_of(figure) if ":" in text] == [["95"], ["80", "2"]]


def test_the_map_shows_where_inputs_are_right_and_where_they_halt():
    figure = draw.draw_map([2, 1, 2], [0, 1, 1], [[0, 1, 1], [1, 0, 1], [0, 1, 0]])  # three inputs
    ax, below = figure.axes
    np.testing.assert_array_equal(image_of(ax), [[1, 0, 1], [0, 1, 0], [0, 1, 1]])  # odd before even
    halting = ax.collections[0].get_segments()
    np.testing.assert_allclose([segment[:, 0] for segment in halting], [[1, 1], [2, 2], [2, 2]])
    np.testing.assert_allclose(lines_of(below, ANSWER), [[[1, 1 / 3], [2, 2 / 3], [3, 2 / 3]]])
    assert {"1 halt at step 1", "2 halt at step 2", "1 odd", "1 even"} <= {*texts_of(figure)}


def test_networks_stand_at_their_best_fixed_steps_and_those_that_lose_are_full_and_counted():
    stored, ours = {0.1: [(1.0, 0.64), (0.99, 0.97)], 0.9: [(1.0, 0.99)]}, [(0.98, 0.7), (0.96, 0.94)]
    figure = draw.draw_best_fixed_steps(stored, ours, 0.3)
    (ax,) = figure.axes
    marks = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert [line.get_ydata()[0] for line in marks] == [0.64, 0.97, 0.99, 0.7, 0.94]
    assert [line.get_markerfacecolor() != "white" for line in marks] == [True, False, False, True, False]
    assert [line[0, 1] for line in lines_of(ax, HALTING)] == [1.0, 0.99, 1.0, 0.98, 0.96]
    assert {"1 of 2\nstored", "0 of 1\nstored", "1 of 2\nours"} <= {*texts_of(figure)}


def test_a_counter_is_called_one_and_so_is_who_takes_all_the_steps():
    counter = [{"steps": [20.0 - 2 * ones for ones in range(k + 1)], "accuracy": [1.0] * (k + 1)} for k in (4, 8)]
    shifted = [counter[0], {**counter[1], "steps": [n + 10 for n in counter[1]["steps"]]}]  # k counts as well
    slow = [{"steps": [20.0, 19.5] + [20.0] * (k - 1)} for k in (4, 8)]
    flat = [{"steps": [9.0 - ones / 10 for ones in range(k + 1)], "accuracy": [1.0] * (k + 1)} for k in (4, 8)]
    upwards = [{**line, "steps": [24.0 - n for n in line["steps"]]} for line in counter]
    counting, rising, *others = [draw.pace(lines) for lines in (counter, upwards, shifted, slow, flat)]
    assert counting == rising
    assert (others[0], numbers(others[1]), others[2]) == ("", ["20"], "")
    falls, _ = draw.by_ones({"one": counter, "two": upwards}).axes
    assert lines_of(falls, draw.AMBERS[0])[0].tolist() == [[ones, n] for ones, n in enumerate(counter[0]["steps"])]
    assert counting in [text.get_text() for text in falls.texts]
