"""The figures of lesson 09 draw the data that they are given."""

import numpy as np
import pytest
from drawn import bars, check, pairs, points, written
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch

from ponder_course.adding_a_column import figures as draw
from ponder_course.common.style import ANSWER, DARK_GREY, GREY, HALTING, LIMIT, NOT_LEARNT, PALE_GREY, WRONG

NUMBERS = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]])  # 3, 1 and 6, of three digits
SUMS = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 1]])  # 3, 4 and 2; the last as if one were wrong
TRAVELLED = np.array([[0, 0, 0], [0, 1, 2], [0, 0, 0]])
RIGHT = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]])
NETWORKS = [{1: 2.0, 5: 5.5, 20: 20.5}, {1: 1.5, 5: 6.0, 20: 21.0}]
TIMES = {"halts": (HALTING, [[1.0, 1.0, 0.9], [1.0, 0.8, 0.8]]), "all": (DARK_GREY, [[1.0, 0.5, 0.2]])}
FIGURES = {
    "machine": lambda: draw.machine(4, (1, 3, 2)),
    "trace": lambda: draw.trace(NUMBERS, SUMS, TRAVELLED, [2, 4, 1], [1, 3, 1], RIGHT),
    "against_need": lambda: draw.against_need(NETWORKS, 8, [{1: 1.0, 20: 3.0}], live=1),
    "by_time": lambda: draw.by_time(TIMES, 2),
    "saving": lambda: draw.saving([12, 24, 48], [3.7, 4.8, 5.9], [[4.0, 5.0, 6.0], [4.4, 5.1, 6.2]]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_labelled_and_legible_whatever_the_readers_style(name):
    if name == "machine":  # across, nothing is measured
        assert FIGURES[name]().get_facecolor() == (1, 1, 1, 1)
    else:
        check(FIGURES[name])


def test_the_machine_takes_the_steps_that_it_is_given_and_passes_its_state_on():
    (ax,) = FIGURES["machine"]().axes
    assert [float(circles.get_offsets()[0, 0]) for circles in ax.collections] == pytest.approx(
        [0.0, 1.85, 2.85, 3.85, 5.7, 6.7]
    )
    assert all(len(circles.get_offsets()) == 4 for circles in ax.collections)
    assert [text for text in written(ax) if text.isdigit()] == ["1", "1", "2", "3", "1", "2"]
    assert len(points(ax, color=HALTING)) == 2 * 10  # two times a state goes on; each place hears two or three
    assert len(points(ax, color=PALE_GREY)) == 3 * 10
    assert all(abs(a[1] - b[1]) <= 1 for a, b in points(ax, color=HALTING) + points(ax, color=PALE_GREY))


def test_a_trace_has_every_digit_at_its_place_and_wrong_ones_in_red():
    above, _ = FIGURES["trace"]().axes
    seen = {}
    for text in above.texts:
        x, place = text.get_position()
        seen[round(x), place, x > round(x)] = (int(text.get_text()), to_rgb(text.get_color()))
    assert len(seen) == 2 * NUMBERS.size
    for t in range(3):
        for place in range(3):
            assert seen[t, place, False] == (NUMBERS[t, place], to_rgb(DARK_GREY))
            colour = ANSWER if RIGHT[t, place] else WRONG
            assert seen[t, place, True] == (SUMS[t, place], to_rgb(colour))


def test_a_trace_has_an_arrow_for_each_carry_from_where_it_was_made_to_where_it_ends():
    above, _ = FIGURES["trace"]().axes
    arrows = [patch for patch in above.patches if isinstance(patch, FancyArrowPatch)]
    ends = [np.round(arrow._posA_posB, 2).tolist() for arrow in arrows]
    assert ends == [[[1.36, 0], [1.36, 2.15]]]
    both = np.array([[0, 1, 1, 2]])  # two carries of one place, and one that the second lets pass
    figure = draw.trace(np.ones((1, 4)), np.ones((1, 4)), both, [3], [3], np.ones((1, 4)))
    ends = [np.round(arrow._posA_posB, 2)[:, 1].tolist() for arrow in figure.axes[0].patches]
    assert ends == [[0, 1.15], [1, 3.15]]


def test_a_trace_has_the_steps_taken_beside_the_steps_needed():
    _, below = FIGURES["trace"]().axes
    found = bars(below)
    assert [height for _, height, _ in found] == [2, 4, 1, 1, 3, 1]
    assert [round(x) for x, _, _ in found] == [0, 1, 2, 0, 1, 2]
    assert {to_rgb(bar.get_facecolor()[:3]) for bar in below.patches[:3]} == {to_rgb(HALTING)}
    assert {to_rgb(bar.get_facecolor()[:3]) for bar in below.patches[3:]} == {to_rgb(LIMIT)}
    assert [label.get_text() for label in below.get_xticklabels()] == ["1", "2", "3"]


def test_steps_against_the_need_have_every_network_and_the_need_itself():
    (ax,) = FIGURES["against_need"]().axes
    assert points(ax, color=HALTING) == [pairs(line.keys(), line.values()) for line in NETWORKS]
    assert points(ax, color=NOT_LEARNT) == [[[1, 1], [20, 3]]]
    assert points(ax, color=LIMIT) == [[[1, 1], [20, 20]]]
    thick, thin = (line.get_linewidth() for line in ax.lines if line.get_color() == HALTING)
    assert thick > thin
    (ground,) = ax.patches
    assert (ground.get_x(), ground.get_x() + ground.get_width()) == (8.5, 20.5)


def test_long_columns_have_a_line_for_each_network_and_the_names_of_both_kinds():
    figure = FIGURES["by_time"]()
    (ax,) = figure.axes
    for colour, lines in TIMES.values():
        assert points(ax, color=colour) == [pairs([1, 2, 3], line) for line in lines]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["halts", "all"]
    (ground,) = ax.patches
    assert ground.get_x() == 2.5


def test_what_is_saved_is_drawn_between_the_worst_case_and_the_need():
    (ax,) = FIGURES["saving"]().axes
    assert points(ax, color=GREY) == [[[12, 12], [24, 24], [48, 48]]]
    assert points(ax, color=LIMIT) == [[[12, 3.7], [24, 4.8], [48, 5.9]]]
    assert points(ax, color=HALTING) == [[[12, 4.0], [24, 5.0], [48, 6.0]], [[12, 4.4], [24, 5.1], [48, 6.2]]]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert written(ax) == ["worst case: all wait", "steps taken", "mean need"]
