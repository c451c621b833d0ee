"""The figures of lesson 04 draw the numbers that they are given."""

import numpy as np
import pytest
from drawn import lines_of

from ponder_course.common.style import BLUE, GREEN, PURPLE
from ponder_course.mnist_rotation import figures as draw
from ponder_course.mnist_rotation.figures import Difference
from ponder_course.mnist_rotation.readable import NOT_READ


def marks_of(ax):
    return [point for marks in ax.collections for point in np.ma.getdata(marks.get_offsets()).tolist()]


def test_the_flat_line_is_of_the_runs_it_is_given():
    curves = [[0.9, 0.91, 0.92], [0.8, 0.81, 0.86]]
    (ax,) = draw.flat_line([{"by_step": curve} for curve in curves]).axes
    drawn = [line[:, 1].tolist() for line in lines_of(ax, BLUE)]
    assert all(curve in drawn for curve in curves)
    np.testing.assert_allclose(marks_of(ax), [[1, 0.85], [3, 0.89]])  # the rings


def test_other_priors_have_a_bar_for_the_mean_and_a_line_for_their_own():
    free = [{"beta": 0.0, "lambda_p": 0.2, "N": 2, "steps": [n], "accuracy": [0.9]} for n in (1.0, 2.0)]
    (ax,) = draw.by_prior({"no prior": free, "0.5": [free[0] | {"beta": 0.1, "lambda_p": 0.5}]}).axes
    assert [bar.get_height() for bar in ax.patches] == [1.5, 1]
    (dotted,) = (line.get_ydata() for line in ax.lines if line.get_linestyle() == ":" and len(line.get_xdata()))
    assert dotted == pytest.approx([4 / 3] * 2)  # p_G is 2/3 and 1/3


def test_digits_stand_where_they_are_first_read_and_are_counted():
    one, other = {1: (1, 5.9), 2: (2, 5.0), 3: (6, 5.4), 4: (1, 5.5)}, {2: (4, 5.0), 4: (3, 5.0), NOT_READ: (1, 9.0)}
    runs, one_step = [{"by_step": [0.2, 0.9]}], [{"N": 1, "accuracy": [0.4]}]
    left, ax = draw.needed_and_alike(runs, one_step, [one, other]).axes
    assert lines_of(left, GREEN)[-1].tolist() == [[1, 0.2], [2, 0.9]]
    assert marks_of(left) == [[1, 0.4]]
    assert [line.tolist() for line in lines_of(ax, GREEN)] == [[[1, 5.9], [2, 5], [3, 5.4], [4, 5.5]], [[2, 5], [4, 5]]]
    assert marks_of(ax)[-1] == [5, 9]  # beyond the last step


def test_a_forest_has_every_run_its_interval_and_its_verdict():
    values = [[-1.0, -1.1, -0.9], [1.0, -1.0, 0.1], [2.0, 2.1, 1.9], [2.0, 2.1]]
    groups = ["CNN first", "CNN first", "patches", "loss of the batch"]
    rows = [Difference("", group, [changes]) for group, changes in zip(groups, values, strict=True)]
    (ax,) = draw.forest(rows, ["steps"], "fewer", "more").axes
    assert [x for x, y in marks_of(ax) if 0 < y % 1 < 0.5] == [*values[0], *values[1], *values[2], *values[3]]
    half = 4.30265273 * 0.1 / 3**0.5  # Student's t at 97.5 % with two degrees of freedom, times the standard error
    np.testing.assert_allclose(lines_of(ax, GREEN)[0][:, 0], [2 - half, 2 + half])
    found = {text.get_text(): (text.xy[1], text.get_color()) for text in ax.texts if text.xy[0] > 1}
    words = [draw.word(changes, ("more", "fewer")) for changes in values]
    assert found == dict(zip(words, enumerate([BLUE, BLUE, GREEN, PURPLE]), strict=True))
