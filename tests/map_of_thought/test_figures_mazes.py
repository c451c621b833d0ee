"""The figures of lesson 07 draw the data that they are given."""

import numpy as np
import pytest
import torch
from drawn import check, pairs, points, written
from matplotlib.colors import to_rgb

from ponder_course.common.style import ANSWER, BLUE, HALTING, LIMIT, PURPLE, WRONG
from ponder_course.map_of_thought import experiment as mazes
from ponder_course.map_of_thought import figures as draw
from ponder_utils import MazeTask, PonderNet

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


def test_news_of_a_star_reaches_places_a_step_at_a_time():
    torch.manual_seed(0)
    maze = torch.tensor(MAZE).double()
    model = PonderNet(mazes.MazeStep(4).double().eval(), 6)
    found = draw.reached_and_changed(model, maze)
    reached, changed = found["reached by news"], found["changed"]
    assert reached.flatten(1).sum(1).tolist() == [1, 2, 4, 6, 7, 7]  # of seven, round a corner
    assert not (changed & ~reached).any()
    assert torch.equal(changed[0], reached[0])  # a network hears of it at once


def test_what_is_right_and_in_time_is_counted_where_it_is_asked():
    y, answers = torch.tensor([0.0, 1.0, 0.0, -1.0]), torch.tensor([0.0, 1.0, 1.0, 0.0])
    needed, taken = torch.tensor([1, 2, 3, 4]), torch.tensor([1, 3, 3, 4])
    found = draw.right_and_exactly_in_time(answers, y, needed, taken, y >= 0)
    assert found == "2 of 3 places are right; 2 halt at the very step at which they can know"
    assert draw.mean_steps(taken, needed, y >= 0) == {1: 1.0, 2: 3.0, 3: 3.0}
    fronts = "Fronts spread and meet: 25% of the places have halted at step 1, 75% at step 3"
    assert draw.fronts_meet(taken, [1, 2, 3]) == fronts


def test_any_step_of_a_maze_can_be_drawn():
    draw_step = draw.any_step(MAZE, ANSWERS, TAKEN, ASKED)
    figure, sentence = draw_step(3)
    (ax,) = figure.axes
    assert ax.get_title() == "step 3"
    (same,) = draw.moments(MAZE, ANSWERS, TAKEN, [3], ASKED).axes
    np.testing.assert_array_equal(values(ax), values(same))
    assert sentence == "Places that have halted, in the colour that they answer; white ones still think."


def test_the_finding_of_steps_rounds_up_what_means_are_off():
    stored = draw.steps_by_need({"by_need": {"1": [30, 1.0], "5": [10, 5.101]}})
    assert stored == {1: 1.0, 5: 5.101}
    assert draw.one_line([stored, {1: 1.0, 7: 7.0}]) == (
        "2 networks, one line: up to a need of 7 steps,\nno mean is off by more than 0.11 steps"
    )


class Thought:
    y_hat = torch.tensor([[[1.0, -1.0, 5.0]], [[1.0, 1.0, -5.0]]])  # two mazes of three places
    steps = torch.tensor([[[1, 2, 9]], [[1, 3, 9]]])


Y = torch.tensor([[[1.0, 0.0, -1.0]], [[1.0, 0.0, -1.0]]])  # the third place is not asked


def test_whole_mazes_are_right_where_all_that_is_asked_is():
    assert draw.whole_mazes(Thought.y_hat, Y) == 0.5
    assert draw.whole_mazes(torch.stack([Thought.y_hat, -Thought.y_hat]) > 0, Y).tolist() == [0.5, 0.0]


def test_an_answer_is_lost_where_a_place_had_halted_with_it():
    wrong = torch.zeros(3, 2, 1, 3, dtype=torch.bool)
    wrong[2, 0, 0, 0] = wrong[0, 0, 0, 1] = wrong[:, 1, 0, 1] = (
        True  # the second is before its halt, the third never right
    )
    finished, forgotten = draw.finished_and_forgotten([Thought], [wrong], Y)
    assert finished == [[0.0, 0.5, 0.5]]
    assert forgotten == [[0.0, 0.0, 0.5]]


def test_what_is_said_of_whole_mazes_is_what_was_counted():
    by_itself, by_step = torch.tensor([1.0, 0.95]), torch.tensor([[0.0, 0.5, 0.25], [0.1, 0.25, 0.0]])
    assert draw.right_in_words(by_itself, by_step) == (
        "whole mazes right: by itself 100%, 95%; all at step 3: 25%, 0%\nstill right at step 3, of ten mazes: 2.5, 0"
    )
    assert draw.alone_and_at_the_same_step(by_itself, by_step) == (
        "Each place by itself: at least 95% of mazes are right;\nall at the same step: 50% at best"
    )
    assert "itself: every maze is right;" in draw.alone_and_at_the_same_step(by_itself[:1], by_step)


def test_places_near_a_front_are_those_to_which_both_stars_are_nearly_as_far():
    x, y = MazeTask(4).batch(3, torch.Generator().manual_seed(0))
    near = draw.near_a_front(x, margin=2)
    blue, pink = (draw.distances(x[:, 0], x[:, star]) for star in (1, 2))
    assert torch.equal(near, ((blue - pink).abs() <= 2) & (y >= 0))
    is_wrong = torch.ones_like(near[0])
    found = f"{near[0].sum()} of the {near[0].numel()} wrong places\nlie where two fronts meet"
    assert draw.where_fronts_meet(is_wrong, near[0]) == found


def test_ours_halts_by_itself_and_others_have_their_best_step():
    def run(right):
        return {side: {"mazes": right, "by_step": {"mazes": [0.0, right / 2, 0.1]}} for side in ("5", "10", "20", "30")}

    right = draw.mazes_by_size({"ours": [run(1.0), run(0.5)], "recall": [run(0.5)], "recall_masked": []})
    for by_side, fractions in zip(right.values(), ([1.0, 0.5], [0.25], []), strict=True):
        assert by_side == {9: fractions, 19: fractions, 39: fractions, 59: fractions}
    assert draw.on_59_places(right) == (
        "On 59 x 59 places, on average: ours 75% right,\nthe others 25%, with their walls masked none stored"
    )
