"""Curves over depth, of two answers by hand: the first is forgotten again, the second comes late."""

import torch
from drawn import lines_of
from matplotlib.figure import Figure

from ponder_course.common.style import ANSWER, HALTING, LIMIT
from ponder_course.scorecard.picture import over_depth
from ponder_evidence.depth import curve

RIGHT = torch.tensor([[0, 0], [1, 0], [1, 1], [0, 1]]) == 1  # [N, answers]
STEPS, NEED = torch.tensor([2, 4]), torch.tensor([2, 3])


def test_a_curve_and_its_mark_are_drawn_where_they_lie():
    ax = Figure().subplots()
    over_depth(ax, curve(RIGHT, NEED, own_head=STEPS))
    assert lines_of(ax, ANSWER)[0].tolist() == [[1, 0], [2, 0.5], [3, 1], [4, 0.5]]
    assert lines_of(ax, HALTING)[0].tolist() == [[3, 1]]
    assert lines_of(ax, LIMIT)[0][:, 0].tolist() == [2.5, 2.5]


def test_without_a_need_none_is_said():
    assert curve(RIGHT, None, settling=STEPS)["rules"] == {"settling": {"right": 1.0, "steps": 3.0}}
