"""The figures of lesson 07 draw the data that they are given."""

import numpy as np
import pytest
from drawn import check, pairs, points, written
from matplotlib.colors import to_rgb

from ponder_course.common.style import ANSWER, BLUE, HALTING, LIMIT, PURPLE, WRONG
from ponder_course.map_of_thought import figures as draw

MAZE = np.array([
    [[1, 1, 1], [0, 0, 1], [1, 1, 1]],
    [[1, 0, 0], [0, 0, 0], [0, 0, 0]],
    [[0, 0, 0], [0, 0, 0], [1, 0, 0]],
])  # fmt: skip
ANSWERS = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1]])
NEEDED = np.array([[1, 2, 3], [9, 9, 4], [1, 2, 3]])
TAKEN = np.array([[1, 2, 4], [1, 1, 4], [1, 3, 3]])
WRONG_AT = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]], bool)
NETWORKS = [{1: 1.0, 2: 2.5, 30: 31.0}, {1: 1.5, 2: 2.0, 30: 12.0}]
BY_STEP, BY_ITSELF = [[0.1, 0.6, 0.4], [0.0, 0.7, 0.8]], [[0.0, 0.3, 1.0], [0.1, 0.2, 0.9]]
FORGOTTEN = [[0.0, 0.0, 0.6], [0.0, 0.1, 0.2]]
ASKED = np.array([[1, 1, 1], [0, 0, 0], [1, 1, 1]], bool)
FIGURES = {
    "maze": lambda: draw.maze(MAZE),
    "three_maps": lambda: draw.three_maps(MAZE, ANSWERS, NEEDED, TAKEN, ASKED),
    "moments": lambda: draw.moments(MAZE, ANSWERS, TAKEN, [1, 3]),
    "mistakes": lambda: draw.mistakes(MAZE, ANSWERS, WRONG_AT, ASKED),
    "against_need": lambda: draw.against_need(NETWORKS, 21),
    "right_by_step": lambda: draw.right_by_step(BY_STEP, BY_ITSELF, FORGOTTEN),
    "right_by_size": lambda: draw.right_by_size(BY_SIZE),
}
BY_SIZE = {"ours": {9: [1.0, 0.9], 19: [0.8, 0.7]}, "theirs": {9: [0.6, 0.5], 19: [0.1, 0.2]}}
OPEN = MAZE[0] > 0


def values(ax):
    """What is drawn on the open places, walls as nan: the last picture of a panel."""
    return np.ma.filled(ax.images[-1].get_array().astype(float), np.nan)


def colours(ax):
    """The colour of each place, walls included, [height, width, 3]."""
    drawn = np.ones((*OPEN.shape, 3))
    for image in ax.images:
        shown = image.to_rgba(image.get_array())
        drawn = np.where(shown[..., 3:] > 0, shown[..., :3], drawn)
    return drawn.round(3)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_labelled_and_legible_whatever_the_readers_style(name):
    if name in ("against_need", "right_by_step", "right_by_size"):
        check(FIGURES[name])
    else:  # a maze has no axes to label
        assert FIGURES[name]().get_facecolor() == (1, 1, 1, 1)


def test_three_maps_hold_the_answers_and_the_steps_of_places_that_are_asked_on_one_scale():
    answers, needed, taken = draw.three_maps(MAZE, ANSWERS, NEEDED, TAKEN, ASKED).axes[:3]
    for ax, wanted in ((answers, ANSWERS), (needed, NEEDED), (taken, TAKEN)):
        np.testing.assert_array_equal(values(ax), np.where(OPEN & ASKED, wanted, np.nan))
        assert (colours(ax)[OPEN & ~ASKED] == 1).all()
    assert needed.images[-1].get_clim() == taken.images[-1].get_clim() == (1, 4)
    assert taken.collections[-1].get_offsets().tolist() == [[3, 1], [2, 3]]  # column and row where it is not as needed
    for ax in (answers, needed, taken):
        assert ax.collections[0].get_offsets().tolist() == [[3, 2]]  # open, and not asked


def test_answers_have_the_colours_of_the_stars():
    ax = draw.three_maps(MAZE, ANSWERS, NEEDED, TAKEN, ASKED).axes[0]
    shown = colours(ax)
    for place in zip(*np.nonzero(OPEN & ASKED), strict=True):
        np.testing.assert_allclose(shown[place], to_rgb(PURPLE if ANSWERS[place] else BLUE), atol=1e-3)
    np.testing.assert_allclose(shown[~OPEN], [to_rgb(draw.WALL)] * 2, atol=1e-3)
    _, blue, purple = ax.collections
    assert blue.get_offsets().tolist() == [[1, 1]]
    assert purple.get_offsets().tolist() == [[1, 3]]


def test_places_that_still_think_are_white():
    for ax, n in zip(draw.moments(MAZE, ANSWERS, TAKEN, [1, 3]).axes, (1, 3), strict=True):
        np.testing.assert_array_equal(values(ax), np.where(OPEN & (n >= TAKEN), ANSWERS, np.nan))
        assert ax.get_title() == f"step {n}"
        assert (colours(ax)[OPEN & (n < TAKEN)] == 1).all()


def test_mistakes_are_marked_where_they_are():
    (ax,) = draw.mistakes(MAZE, ANSWERS, WRONG_AT, ASKED).axes
    shown = OPEN & ASKED
    np.testing.assert_array_equal(values(ax) == 1, shown & WRONG_AT)
    assert np.isnan(values(ax)[~(shown & WRONG_AT)]).all()
    answers = np.ma.filled(ax.images[1].get_array().astype(float), np.nan)
    np.testing.assert_array_equal(answers, np.where(shown, ANSWERS, np.nan))
    np.testing.assert_allclose(colours(ax)[shown & WRONG_AT], [to_rgb(WRONG)] * 2, atol=1e-3)
    assert ax.collections[0].get_offsets().tolist() == [[3, 2]]  # open, and not asked


def test_steps_against_need_are_drawn_beside_the_limit_and_what_they_are_too_many_below():
    above, below = draw.against_need(NETWORKS, 21).axes
    assert points(above, color=HALTING) == [pairs(line, line.values()) for line in NETWORKS]
    assert points(above, color=LIMIT) == [[[1, 1], [30, 30]]]
    too_many = [[steps - need for need, steps in line.items()] for line in NETWORKS]
    assert points(below, color=HALTING) == [pairs(line, late) for line, late in zip(NETWORKS, too_many, strict=True)]
    assert points(below, color=LIMIT) == [[[1, 0], [30, 0]]]
    assert written(above) == ["more steps than in training", "dashes: steps taken", "line: steps needed"]
    for ax in (above, below):
        (beyond,) = ax.patches
        assert beyond.get_x() == 21.5


def test_networks_of_this_session_are_thick_and_on_top_and_stored_ones_pale():
    below = draw.against_need(NETWORKS, 21, live=1).axes[1]
    live, stored = [line for line in below.lines if line.get_color() == HALTING]
    assert [(line.get_linewidth(), line.get_alpha()) for line in (live, stored)] == [(2.0, 1.0), (1.0, 0.4)]
    assert live.get_zorder() > stored.get_zorder()


def test_the_longest_in_training_is_marked_on_the_scale():
    bar = draw.three_maps(MAZE, ANSWERS, NEEDED, TAKEN, ASKED, border=3).axes[3]
    assert {3} in [set(line.get_xdata()) for line in bar.lines]
    assert "3, the most in training" in bar.get_xlabel()
    assert draw.three_maps(MAZE, ANSWERS, NEEDED, TAKEN, ASKED).axes[3].get_xlabel() == "steps"


def test_right_by_step_draws_each_network_at_all_steps_and_by_itself_and_what_it_forgets():
    above, below = draw.right_by_step(BY_STEP, BY_ITSELF, FORGOTTEN).axes
    assert points(above, color=ANSWER) == [pairs([1, 2, 3], line) for line in BY_STEP]
    assert points(above, color=HALTING) == [pairs([1, 2, 3], line) for line in BY_ITSELF]
    assert points(below, color=WRONG) == [pairs([1, 2, 3], line) for line in FORGOTTEN]
    assert written(above) == ["every place halts by itself", "all stop at step $n$"]
    assert written(below) == ["a place that was right is wrong now"]


def test_right_by_size_draws_a_line_for_each_network_and_none_upon_another():
    (ax,) = draw.right_by_size(BY_SIZE).axes
    assert points(ax, color=HALTING) == [[[8.75, 1.0], [18.75, 0.8]], [[9.25, 0.9], [19.25, 0.7]]]
    assert points(ax, color=ANSWER) == [[[8.75, 0.6], [18.75, 0.1]], [[9.25, 0.5], [19.25, 0.2]]]
    assert ax.get_xticks().tolist() == [9, 19]
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["ours", "theirs"]
