"""The figures of lesson 11 draw the numbers that they are given."""

import numpy as np
from drawn import image_of, lines_of

from ponder_course.common.style import BLACK, BLUE, DARK_GREY, HALTING, LIMIT
from ponder_course.judges import figures as draw

ENDS = {"left": [(0.96, 0.85), (0.97, 0.66)], "stayed": [(0.93, 0.95), (0.94, 0.91)]}


def test_a_bar_stands_where_a_fresh_line_begins_and_its_steps_before_it():
    steps = np.array([[1, 4], [2, 5], [3, 1], [1, 2], [1, 1]])  # [updates, slots]
    (ax,) = draw.slots(steps).axes
    assert np.array_equal(image_of(ax), steps.T)
    bars = {(round(line[0, 0] + 0.5), round(line[0, 1] + 0.5)) for line in lines_of(ax, BLACK)}
    assert bars == {(update + 1, slot + 1) for update, slot in np.argwhere(steps == 1)}
    written = {text.get_position(): text.get_text() for text in ax.texts}
    assert written == {(3, 1): "3", (4, 1): "1", (2, 2): "5", (4, 2): "2"}


def test_what_a_judge_says_stands_beside_what_guesses_are_worth():
    said = {2: [[0.99, 0.51, 0.24], [0.97, 0.55, 0.26]], 5: [[0.95, 0.21, 0.05]]}
    (ax,) = draw.ladder(said).axes
    np.testing.assert_allclose([line[:, 1] for line in lines_of(ax, LIMIT)], [[1, 0.5, 0.25], [1, 0.2, 0.04]])
    assert [line[:, 1].tolist() for line in lines_of(ax, BLUE)] == said[2]


def test_a_line_leads_from_the_halt_to_the_end_of_each_network():
    for ax, networks in zip(draw.to_the_end(ENDS).axes, ENDS.values(), strict=True):
        assert [tuple(line[:, 1]) for line in lines_of(ax, HALTING)] == networks
        assert lines_of(ax, DARK_GREY)[0][:, 1].tolist() == [last for _, last in networks]
