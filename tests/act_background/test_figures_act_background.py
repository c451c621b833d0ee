"""The figures of lesson 01 draw the numbers that they are given."""

import numpy as np
import pandas as pd
import pytest
from drawn import lines_of, numbers, texts_of

from ponder_course.act_background import figures as draw
from ponder_course.act_background.scripted import halt
from ponder_course.common.style import ACT, ANSWER, HALTING, NOT_LEARNT


def test_the_pulls_are_slopes_of_the_loss_of_two_steps_and_vanish_from_the_threshold_on():
    unit, up, down = draw.pulls_on_the_first(4.0, tau=0.5, epsilon=0.01)
    inside = unit < 0.99
    assert up[inside] == pytest.approx(0.5)  # of tau * (2 + 1 - lambda_1)
    assert down[inside] == pytest.approx(4 / (1 + np.exp(4 * (1 - unit[inside]))))  # of log(1 + exp(-4 (1 - lambda_1)))
    assert not up[~inside].any()
    assert not down[~inside].any()
    _, _, nothing = draw.pulls_on_the_first(0.0, tau=0.5, epsilon=0.01)
    assert not nothing.any()
    pulls = {"it knows": (up, down), "not": (up, nothing)}
    axes = draw.tug_of_war(unit, pulls, 0.99, 0.73).axes
    for ax, (of_price, of_answer) in zip(axes, pulls.values(), strict=True):
        np.testing.assert_allclose(lines_of(ax, ACT)[0], np.transpose([unit, of_price]))
        np.testing.assert_allclose(lines_of(ax, ANSWER)[0], np.transpose([unit, of_answer]))


def test_the_gradient_of_a_growing_unit_adds_up_between_the_jumps_alone():
    unit, steps, remainder, cost, by_gradient = draw.as_the_first_unit_grows([0.5, 0.5], 0.01)
    for at in (0, 900, 1500, 2000):
        p = halt([unit[at], 0.5, 0.5], 0.01)
        assert (steps[at], remainder[at]) == (len(p), pytest.approx(p[-1]))
    assert cost == pytest.approx(steps + remainder)
    slope = (by_gradient[1:] - by_gradient[:-1]) / (unit[1:] - unit[:-1])
    first, second = (steps[1:] != steps[:-1]).nonzero()[0]
    assert slope[:900] == pytest.approx(-1)  # of R = 1 - lambda_1 - 1 / 2
    assert slope[first + 1 : second] == pytest.approx(-1)


def test_every_run_stands_at_its_price_and_the_line_joins_means_of_those_that_learnt():
    rows = [(0.01, 3.0, True), (0.01, 5.0, True), (0.01, 1.0, False), (1.0, 2.0, True)]
    table = pd.DataFrame(rows, columns=["setting", "steps", "learnt"]).assign(kind="ACT")
    figure = draw.by_setting(table, {"steps": "N"}, "price", log=True)
    (ax,) = figure.axes
    np.testing.assert_allclose(lines_of(ax, HALTING), [[[-2, 4], [0, 2]]])
    marks = [point for dots in ax.collections for point in dots.get_offsets().tolist()]
    assert sorted(steps for _, steps in marks) == [1, 2, 3, 5]
    assert all(abs(x - (0 if steps == 2 else -2)) < 0.07 for x, steps in marks)
    assert {"2/3", "1/1"} <= set(texts_of(figure))


def test_stories_draw_each_network_and_count_who_learns():
    cheap = [
        {"update": [0, 4, 8], "accuracy": [0.5, 0.8, 1.0], "steps": [2.0, 3.0, 4.0]},
        {"update": [0, 4, 8], "accuracy": [0.6, 0.7, 0.9], "steps": [2.5, 5.0, 90.0]},
    ]
    above, below = draw.stories({"cheap": cheap}, [[(0.0, 5.0)]]).axes
    for ax, name, colour in ((above, "accuracy", ANSWER), (below, "steps", HALTING)):
        for row, shown in zip(cheap, (colour, NOT_LEARNT), strict=True):
            np.testing.assert_allclose(lines_of(ax, shown), [np.transpose([row["update"], row[name]])])
    assert numbers(above.get_title()) == ["1", "2"]
