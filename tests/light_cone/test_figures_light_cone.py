"""The figures of lesson 05 draw the numbers that they are given, and the sentences above them say what is drawn."""

import math

import numpy as np
import pytest
import torch
from drawn import image_of, lines_of, texts_of
from small_light_cone import Clock

from ponder_course.common.lines import LineParityTask
from ponder_course.common.style import ACT, HALTING, LIMIT, PONDERNET
from ponder_course.light_cone import figures as draw
from ponder_utils import PonderNet


def test_thinking_runs_down_below_the_digits_with_its_light_cone_and_its_halt():
    lines = torch.tensor([[[1, 0, 0], [1, 0, 0]], [[0, 1, 1], [1, 1, 0]]]).float()  # answers 1, 1, 1 and 0, 1, 0
    known = torch.tensor([[[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]], [[0, 1, 0]] * 4])  # [lines, steps, places]
    task, names = LineParityTask(3), ("bit", "reset")
    figure, late = draw.think(PonderNet(Clock(), 4), task, lines, ["easy", "hard"], 4, names)
    assert late == [0, 0]
    for ax, answers, need, halts in zip(figure.axes, known, ([1, 2, 3], [1, 1, 2]), (3, 2), strict=True):
        drawn = image_of(ax)
        np.testing.assert_allclose(drawn, (20.0 * answers - 10.0).sigmoid()[: len(drawn)], rtol=1e-5)
        np.testing.assert_allclose(lines_of(ax, LIMIT)[0][:, 1], np.repeat(need, 2) - 0.5)
        np.testing.assert_allclose(lines_of(ax, HALTING)[0][:, 1], halts + 0.5)
        assert ax.yaxis_inverted()
    digits = [text for text in figure.axes[1].texts if text.get_text().isdigit()]
    assert [float(text.get_text()) for text in digits] == lines[1].flatten().tolist()
    assert [text.xy[0] for text in digits] == [1, 2, 3, 1, 2, 3]


def test_steps_stand_against_need_and_their_mean_lateness_is_written():
    need = [[2.0, 3.0, None, 5.0], [2.5, 3.5, 4.5, 5.5]]  # too many: 1, 1, 1, and four times 1.5
    act = {"at one price": [[1.0, math.nan, 2.1, 2.6]]}  # no line needs 2
    figure = draw.steps_against_need(need, act, 2)
    (ax,) = figure.axes
    first, second = lines_of(ax, PONDERNET)
    assert first.tolist() == [[1, 2], [2, 3], [4, 5]]
    assert second[:, 1].tolist() == need[1]
    assert lines_of(ax, ACT)[0].tolist() == [[1, 1], [3, 2.1], [4, 2.6]]
    assert any("+1.3" in text for text in texts_of(figure))


def test_what_halting_buys_on_lines_is_measured_at_the_mean_steps_of_each_network():
    found = {"right": 0.9, "steps": 2.5}
    tests = [{4: {"by_step": [0.1, 0.2, 0.4, 0.8], "rules": {"sample": found}}}, {8: {}}]
    bought = draw.bought_on_lines(tests, 4, "sample")
    assert (bought.halting, bought.end) == ([(2.5, 0.9)], 5.2)
    assert (bought.same(), bought.gain()) == pytest.approx((0.3, 60))
    steps, best = bought.limits["same step"]
    assert list(steps) == [1, 2, 3, 4]
    assert best == sorted(best)
    assert best[-1] == 1  # after as many steps as places all is known
    (digits,) = draw.bought_on_digits([{"rules": {"quantile": (1.2, 0.78)}, "by_step_within": [0.8, 0.7]}])
    assert (digits.halting, digits.curves, digits.limits) == ([(1.2, 0.78)], [[0.8, 0.7]], {})


def test_whether_a_network_thinks_long_enough_is_asked_beyond_training():
    good, tired = [L + 1.5 for L in range(1, 33)], [min(float(L), 20.0) for L in range(1, 33)]
    late = [L + 9.0 for L in good]
    assert [draw.long_enough(run, 8) for run in (good, tired, late)] == [True, False, False]
