"""The figures of lesson 06 draw the numbers that they are given, and the sentences beside them say what is drawn."""

import numpy as np
import pytest
from drawn import lines_of, texts_of

from ponder_course.common.style import ACT, BLACK, BLUE, DARK_GREEN, PONDERNET, WRONG
from ponder_course.ways_to_stop import figures as draw
from ponder_course.ways_to_stop.regret import Regret


def test_signals_are_drawn_with_the_needs_and_a_ring_at_the_stop():
    curves = [[0.5, 0.9, 0.95, 1.0], [0.5, 0.6, 0.7, 0.8]]
    seen = {"certainty": (curves, 0.9), "PonderNet's head": (curves[::-1], 0.75)}
    axes = draw.signals(seen, {"L=2": 2, "L=3": 3}).axes
    first, ring, second = lines_of(axes[0], BLUE)
    assert [first[:, 1].tolist(), ring.tolist(), second[:, 1].tolist()] == [curves[0], [[2, 0.9]], curves[1]]
    assert [[4, 0.8]] in [line.tolist() for line in lines_of(axes[1], DARK_GREEN)]
    assert [line[0, 0] for line in lines_of(axes[0], BLACK)] == [2, 3]


def test_beside_the_clock_stand_steps_before_and_after_it_and_who_is_wrong():
    found = {
        "certainty": [Regret(0.0, 0.0), Regret(0.01, 0.0)],
        "PonderNet's head": [Regret(0.03, 0.0), Regret(-0.004, 0.0), Regret(0.002, 0.04)],
    }
    figure = draw.beside_the_clock(found, 0.005)
    (ax,) = figure.axes
    assert [line[0, 0] for line in lines_of(ax, BLUE)] == pytest.approx([0, 2])
    assert [line[0, 0] for line in lines_of(ax, PONDERNET)] == pytest.approx([-0.8, 6])
    assert [line[0, 0] for line in lines_of(ax, WRONG)] == pytest.approx([0.4])
    assert "wrong on 4% of the lines" in texts_of(figure)


def test_regrets_stand_in_hundredths_with_their_mean_and_what_is_cut_off_at_the_edge():
    runs = {"ACT": [Regret(0.01, 0.02), Regret(0.03, 0.0)], "coin": [Regret(0.2, 0.1), Regret(0.002, 0.0)]}
    figure = draw.regrets({"lines": runs}, {"ACT": "a price", "coin": "a prior"}, 25.0)
    (ax,) = figure.axes
    np.testing.assert_allclose(np.vstack(lines_of(ax, ACT)), [[3, 0], [3, 0], [3, 0]])
    np.testing.assert_allclose(np.vstack(lines_of(ax, PONDERNET)), [[0.2, 1], [28.75, 1], [15.1, 1]])
    assert {"3.0", "15.1"} <= {*texts_of(figure)}
    cells = draw.in_cells({"lines": runs, "noisy": {"ACT": runs["ACT"]}}, 2.5)
    assert {"3.0   2 of 2 fail", "15.1   1 of 2 fail"} <= {*texts_of(cells)}
    (image,) = cells.axes[0].images
    assert image.get_array().tolist() == [[1, 1], [0.5, 0]]
