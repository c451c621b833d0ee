"""The figures of lesson 07 draw the data that they are given, and their sentences speak of these."""

import numpy as np
import pytest
import torch
from drawn import Drawn, numbers, tests_of_figures
from matplotlib.colors import to_rgb

from ponder_course.common.style import BLUE, DARK_GREY, LIMIT, PURPLE
from ponder_course.map_of_thought import experiment as mazes
from ponder_course.map_of_thought import figures as draw
from ponder_course.map_of_thought.task import MazeTask
from ponder_utils import PonderNet

MAZE = np.array([[[1, 1, 1], [0, 0, 1], [1, 1, 1]], [[1, 0, 0], [0] * 3, [0] * 3], [[0] * 3, [0] * 3, [1, 0, 0]]])
OPEN, WALLS = MAZE[0] > 0, np.where(MAZE[0] > 0, np.nan, 0)
ASKED, WRONG_AT = np.array([[1] * 3, [0] * 3, [1] * 3], bool), np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], bool)
ANSWERS = torch.tensor([[0, 0, 0], [0, 0, 1], [1, 1, 1]]).double()
NEEDED = torch.tensor([[1, 2, 3], [9, 9, 4], [1, 2, 3]])
TAKEN = torch.tensor([[1, 2, 4], [1, 1, 4], [1, 3, 3]])
NETWORKS = [{1: 1.0, 2: 2.5, 30: 31.0}, {1: 1.5, 2: 2.1, 30: 12.0}]
TOO_MANY = [[0.0, 0.5, 1.0], [0.5, 0.1, -18.0]]
THINK_ON = {"to halt": [(0.97, 0.72), (0.98, 0.81)], "without": [(0.99, 0.93), (0.7, 0.71)]}
STARS = {BLUE: [1], PURPLE: [3]}  # their rows


def shown(values, where=True):
    """The image of values at the open places."""
    return np.where(OPEN & where, values, np.nan)


WHITE = np.full((3, 3), np.nan)
MAPS = [WALLS, *(shown(values, ASKED) for values in (ANSWERS, NEEDED, TAKEN))]
THREE = (MAZE, ANSWERS, NEEDED, TAKEN, ASKED)
FIGURES = {
    "maze": Drawn(draw.maze, (MAZE,), [WALLS, WHITE, 1, 3, [1, 1, 3, 3], [1, 3, 1, 3]], STARS),
    "maze, with a way": Drawn(draw.maze, (MAZE, [(1, 3), (2, 3), (3, 2)]), None, written=["1", "2", "3"]),
    # In both, circles are where steps are not as needed: columns 3 and 2, rows 1 and 3.
    "three maps": Drawn(draw.three_maps, THREE, [*MAPS, [3, 2], [1, 3]], STARS | {DARK_GREY: [2], LIMIT: [1, 3]}),
    "three maps, the longest in training": Drawn(draw.three_maps, (*THREE, 3), [*MAPS, [3, 2], [1, 3]], written=["3"]),
    "moments": Drawn(
        draw.moments,
        (MAZE, ANSWERS, TAKEN, [1, 3]),
        [WALLS, *(shown(ANSWERS, TAKEN.numpy() <= n) for n in (1, 3))],
        STARS,
        ["1", "3"],
    ),
    "mistakes": Drawn(
        draw.mistakes,
        (MAZE, ANSWERS, WRONG_AT, ASKED),
        [WALLS, MAPS[1], shown(np.where(WRONG_AT, 1, np.nan), ASKED), 1, 2, 3],
    ),
    "against need": Drawn(draw.against_need, (NETWORKS, 21), [*TOO_MANY, [1, 30]]),
    "if all think on": Drawn(draw.if_all_think_on, (THINK_ON,), start=0),
}


test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("map_of_thought", FIGURES)


def test_answers_have_the_colours_of_the_stars_and_steps_are_on_one_scale():
    answers, needed, taken, _ = draw.three_maps(*THREE).axes
    assert needed.images[-1].get_clim() == taken.images[-1].get_clim() == (1, 4)
    image = answers.images[-1]
    colours = image.to_rgba(image.get_array())
    for place in zip(*np.nonzero(OPEN), strict=True):
        if ASKED[place]:
            assert tuple(colours[place][:3]) == pytest.approx(to_rgb(PURPLE if ANSWERS[place] else BLUE), abs=1e-3)
        else:
            assert colours[place][3] == 0  # white: nothing is drawn over the ground


def test_news_of_a_star_reaches_places_a_step_at_a_time():
    model = PonderNet(mazes.MazeStep(4).double().eval(), 6)
    reached, changed = draw.reached_and_changed(model, torch.tensor(MAZE).double()).values()
    assert reached.flatten(1).sum(1).tolist() == [1, 2, 4, 6, 7, 7]  # of seven, round a corner
    assert not (changed & ~reached).any()
    assert torch.equal(changed[0], reached[0])  # a network hears of it at once


def test_what_is_right_and_in_time_is_counted_where_it_is_asked():
    y, answers = torch.tensor([0.0, 1.0, 0.0, -1.0]), torch.tensor([0.0, 1.0, 1.0, 0.0])
    needed, taken = torch.tensor([1, 2, 3, 4]), torch.tensor([1, 3, 3, 4])
    assert numbers(draw.right_and_exactly_in_time(answers, y, needed, taken, y >= 0)) == ["2", "3", "2"]


def test_steps_by_need_are_means():
    assert draw.steps_by_need({"by_need": {"1": [30, 1.0], "5": [10, 5.101]}}) == {1: 1.0, 5: 5.101}


class Thought:
    y_hat = torch.tensor([[[1.0, -1.0, 5.0]], [[1.0, 1.0, -5.0]]])  # two mazes of three places
    steps = torch.tensor([[[1, 2, 9]], [[1, 3, 9]]])


Y = torch.tensor([[[1.0, 0.0, -1.0]], [[1.0, 0.0, -1.0]]])  # the third place is not asked


def test_whole_mazes_are_right_where_all_that_is_asked_is():
    assert draw.whole_mazes(Thought.y_hat, Y) == 0.5
    assert draw.whole_mazes(torch.stack([Thought.y_hat, -Thought.y_hat]) > 0, Y).tolist() == [0.5, 0.0]


def test_sentences_of_whole_mazes_have_what_was_counted():
    by_itself, together = torch.tensor([1.0, 0.95]), torch.tensor([0.5, 0.45])
    assert numbers(draw.right_in_words(by_itself, together, 9, 20)) == ["20", "20", "19", "9", "10", "9"]
    assert numbers(draw.what_thinking_on_costs(THINK_ON)) == ["100", "17", "6"]
    assert draw.ends_of([{"20": {"mazes": 0.9, "by_step": {"mazes": [0.1, 0.8, 0.7]}}}]) == [(0.9, 0.7)]


def test_places_near_a_front_are_those_to_which_both_stars_are_nearly_as_far():
    x, y = MazeTask(4).batch(3, torch.Generator().manual_seed(0))
    blue, pink = (draw.distances(x[:, 0], x[:, star]) for star in (1, 2))
    assert torch.equal(draw.near_a_front(x, margin=2), ((blue - pink).abs() <= 2) & (y >= 0))
