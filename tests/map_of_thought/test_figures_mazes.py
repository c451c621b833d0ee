"""The figures of lesson 07 draw the numbers that they are given."""

import numpy as np
import torch
from drawn import lines_of

from ponder_course.common.style import ANSWER, DARK_GREY
from ponder_course.map_of_thought import figures as draw

MAZE = np.array([[[1, 1, 1], [0, 0, 1], [1, 1, 1]], [[1, 0, 0], [0] * 3, [0] * 3], [[0] * 3, [0] * 3, [1, 0, 0]]])
ASKED = np.array([[1, 1, 1], [0, 0, 0], [1, 1, 1]])
ANSWERS = torch.tensor([[0, 0, 0], [0, 0, 1], [1, 1, 1]]).double()
NEEDED = torch.tensor([[1, 2, 3], [9, 9, 4], [1, 2, 3]])
TAKEN = torch.tensor([[1, 1, 4], [1, 1, 4], [1, 3, 3]])
THINK_ON = {"to halt": [(0.97, 0.72), (0.98, 0.81)], "without": [(0.99, 0.93), (0.7, 0.71)]}


def test_three_maps_show_answers_and_steps_where_they_are_asked_and_circle_those_not_as_needed():
    axes = draw.three_maps(MAZE, ANSWERS, NEEDED, TAKEN, ASKED).axes[:3]
    for ax, values in zip(axes, (ANSWERS, NEEDED, TAKEN), strict=True):
        drawn = np.ma.filled(np.ma.asarray(ax.images[-1].get_array()), np.nan)  # over the ground
        np.testing.assert_array_equal(drawn, np.where(ASKED, values, np.nan))
    assert axes[1].images[-1].get_clim() == axes[2].images[-1].get_clim() == (1, 4)
    assert axes[2].collections[-1].get_offsets().tolist() == [[2, 1], [3, 1], [2, 3]]  # column and row


def test_what_thinking_on_costs_is_drawn():
    (ax,) = draw.if_all_think_on(THINK_ON).axes
    for colour, networks in zip((ANSWER, DARK_GREY), THINK_ON.values(), strict=True):
        assert [tuple(line[:, 1]) for line in lines_of(ax, colour)] == networks
