"""The figures of lesson 04 draw the numbers that they are given."""

import numpy as np
import pytest
from drawn import check, drawn, pairs
from matplotlib.colors import to_hex, to_rgb
from notebook_code import function

from ponder_course.figures import mnist_rotation as draw
from ponder_course.figures.mnist_rotation import Difference
from ponder_course.figures.style import COLOURS, MARKERS, mpl

draw_images = function("04_mnist_rotation", "draw_images")
draw_thoughts = function("04_mnist_rotation", "draw_thoughts")
draw_beside_prior = function("04_mnist_rotation", "draw_beside_prior")
Thought = function("04_mnist_rotation", "Thought")

rng = np.random.default_rng(0)
IMAGES = rng.random((6, 5, 4))  # [images, height, width]
CNN, PATCHES = [[0.9, 0.91, 0.92], [0.89, 0.9, 0.86]], [[0.2, 0.5, 0.96, 0.7], [0.1, 0.4, 0.8, 0.6]]
P = [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]]
ANGLES = [0, 45, 90, 180]
ACCURACY = {"CNN": [[0.9, 0.8, 0.4, 0.3], [0.95, 0.7, 0.5, 0.2]], "patches": [[0.85, 0.6, 0.35, 0.25]]}
STEPS = {"CNN": [[4.0, 3.5, 3.0, 3.2], [5.0, 4.5, 4.0, 4.2]], "patches": [[5.5, 5.2, 5.0, 5.1]]}
ROWS = [
    Difference("short"),
    Difference("as it is", "each", [[4.0, 3.9], [1.0]]),
    Difference("no prior", "batch", [[-1.2, -1.0, -2.0], []]),
]


def flat_line(curves=None):
    curves = curves or {"CNN": CNN, "patches": PATCHES}
    own = {"CNN": [(2.2, 0.91), (1.5, 0.9)], "patches": [(2.9, 0.88)]}
    return draw.flat_line(curves, own, {"CNN": [(1, 0.88)]}, live=1, chance=0.1)


def thoughts():
    return draw_thoughts([
        Thought(IMAGES[0], P[0], [6, 6, 9], 6, "0 degrees", 0),
        Thought(IMAGES[1], P[1], [9, 9, 9], 6, "180 degrees", 1),
    ])  # fmt: skip


FIGURES = {
    "images": lambda: draw_images([IMAGES[:3], IMAGES[3:]], [["a", "b", "c"], ["d", "e", "f"]]),
    "flat_line": flat_line,
    "thoughts": thoughts,
    "beside_prior": lambda: draw_beside_prior({"CNN": P, "patches": P[1:]}, {"CNN": P[1], "patches": P[0]}),
    "over_angles": lambda: draw.over_angles(ANGLES, [ACCURACY, STEPS], ["accuracy", "steps"], 22.5, live=1),
    "forest": lambda: draw.forest(ROWS, ["steps", "change"], ["each", "batch"], left="fewer", right="more"),
}


def marked(ax):
    """The points of every group of marks that is not empty."""
    groups = [np.round(np.asarray(group.get_offsets(), float), 9).tolist() for group in ax.collections]
    return [group for group in groups if group]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_white_and_labelled_and_legible_whatever_the_readers_style(name):
    figure = check(FIGURES[name])
    assert all(ax.get_xlabel() for ax in figure.axes)


def test_images_are_drawn_in_rows_as_ink_on_paper_each_with_its_caption():
    axes = FIGURES["images"]().axes
    for ax, image, caption in zip(axes, IMAGES, "abcdef", strict=True):
        (shown,) = ax.images
        assert np.array_equal(shown.get_array(), image)
        assert shown.origin == "upper"
        assert (shown.norm.vmin, shown.norm.vmax) == (0, 1)
        assert to_rgb(shown.cmap(0.0)) == (1, 1, 1)  # no ink
        assert ax.get_xlabel() == caption
    first, second = axes[0].get_position(), axes[3].get_position()
    assert first.y0 > second.y0


def test_the_flat_line_is_the_accuracy_of_every_run_and_their_mean_against_the_step():
    ax = flat_line().axes[0]
    one, two = pairs([1, 2, 3], CNN[0]), pairs([1, 2, 3], CNN[1])
    mean = pairs([1, 2, 3], np.round(np.mean(CNN, axis=0), 9))
    assert drawn(ax)[:3] == [one, two, mean]
    assert drawn(ax)[3:5] == [pairs([1, 2, 3, 4], run) for run in PATCHES]
    assert drawn(ax)[6] == [[0, 0.1], [1, 0.1]]  # a guess, from edge to edge
    assert [line.get_alpha() for line in ax.lines[:2]] == [0.9, 0.3]  # this session's is darker
    assert [ax.lines[i].get_color() for i in (0, 1, 2, 3)] == [COLOURS[0]] * 3 + [COLOURS[1]]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step at which it is stopped", "digits read correctly")


def test_where_a_network_halts_the_mark_is_full_and_where_it_was_trained_for_one_depth_hollow():
    ax = flat_line().axes[0]
    assert marked(ax) == [[[2.2, 0.91], [1.5, 0.9]], [[1, 0.88]], [[2.9, 0.88]]]
    own, fixed, patches = ax.collections
    assert [len(marks.get_facecolor()) for marks in (own, fixed, patches)] == [1, 0, 1]
    assert [to_hex(marks.get_edgecolor()[0]).upper() for marks in (own, fixed, patches)] == [
        *COLOURS[:1] * 2,
        COLOURS[1],
    ]
    labels = ax.get_legend_handles_labels()[1]
    assert "CNN: trained for one depth" in labels
    assert "patches: trained for one depth" not in labels


def test_the_top_of_the_flat_line_is_drawn_again_only_if_a_network_comes_near_to_it():
    for best, insets in ((0.97, 1), (0.6, 0)):
        ax = draw.flat_line({"CNN": [[0.5, best]]}, {"CNN": [(1.5, best)]}, {}, 1, 0.1).axes[0]
        assert len(ax.child_axes) == insets
        for inset in ax.child_axes:
            assert inset.get_ylim() == (0.85, 1)
            assert drawn(inset)[-1] == [[1, 0.5], [2, best]]
            assert marked(inset) == [[[1.5, best]]]


def test_bars_are_full_where_the_answer_is_right_and_hatched_where_it_is_wrong():
    first, second = thoughts().axes[2:]
    for ax, p_n, right, colour in ((first, P[0], [True, True, False], 0), (second, P[1], [False] * 3, 1)):
        bars = {round(bar.get_x() + bar.get_width() / 2): bar for bar in ax.patches if bar.get_height()}
        assert [bars[n].get_height() for n in (1, 2, 3)] == p_n
        assert [bars[n].get_hatch() is None for n in (1, 2, 3)] == right
        ink = [
            bars[n].get_facecolor() if ok else bars[n].get_edgecolor() for n, ok in zip((1, 2, 3), right, strict=True)
        ]
        assert {to_hex(shade).upper() for shade in ink} == {COLOURS[colour]}
    assert [text.get_text() for text in first.texts] == ["6", "6", "9"]
    assert [text.xy for text in first.texts] == [(1, 0.5), (2, 0.3), (3, 0.2)]


def test_above_the_bars_stands_the_image_that_they_are_of():
    above = thoughts().axes[:2]
    for ax, image, caption in zip(above, IMAGES, ("0 degrees", "180 degrees"), strict=False):
        assert np.array_equal(ax.images[0].get_array(), image)
        assert ax.get_xlabel() == caption


def test_the_bars_beside_the_prior_are_the_mean_of_the_networks():
    first, second = FIGURES["beside_prior"]().axes
    for ax, networks, prior, title in ((first, P, P[1], "CNN"), (second, P[1:], P[0], "patches")):
        bars = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in ax.patches if bar.get_height()]
        assert np.allclose(bars, pairs([1, 2, 3], np.mean(networks, axis=0)))
        lines = [line for line in drawn(ax) if line]
        assert lines == [pairs([1, 2, 3], p_n) for p_n in (*networks, prior)]
        assert ax.get_title() == title
    prior = first.lines[2]
    assert (prior.get_linestyle(), prior.get_color(), prior.get_label()) == (":", "#000000", "$p_G(n)$, prior")


def test_every_run_is_drawn_against_the_angle_and_grey_begins_where_training_ends():
    axes = FIGURES["over_angles"]().axes
    for ax, group, label in zip(axes, (ACCURACY, STEPS), ("accuracy", "steps"), strict=True):
        runs = [pairs(ANGLES, run) for run in group["CNN"]]
        mean = pairs(ANGLES, np.round(np.mean(group["CNN"], axis=0), 9))
        alone = pairs(ANGLES, group["patches"][0])
        assert drawn(ax) == [*runs, mean, alone, alone]
        assert ax.get_ylabel() == label
        assert ax.get_xlim() == (0, 180)
        assert ax.get_ylim()[0] == 0
        (grey,) = ax.patches
        assert (grey.get_x(), grey.get_x() + grey.get_width()) == (22.5, 180)
    assert [line.get_alpha() for line in axes[0].lines[:2]] == [0.9, 0.3]


def test_panels_over_angles_that_share_an_axis_show_the_lines_of_both_from_0():
    figure = draw.over_angles([0, 90], [{"CNN": [[1.0, 2.0]]}, {"CNN": [[4.0, 5.0]]}], ["a", "b"], 22.5, sharey=True)
    for ax in figure.axes:
        low, high = ax.get_ylim()
        assert low == 0
        assert high > 5


def test_differences_are_rows_from_the_top_with_every_run_their_mean_and_its_interval():
    first, second = FIGURES["forest"]().axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["short", "as it is", "no prior"]
    assert [label.get_fontweight() for label in first.get_yticklabels()] == ["bold", "normal", "normal"]
    assert first.yaxis_inverted()
    assert marked(first)[:4] == [[[4.0, 1.22], [3.9, 1.22]], [[3.95, 0.92]], [[-1.2, 2.22], [-1.0, 2.22], [-2.0, 2.22]],
                                 [[-1.4, 1.92]]]  # fmt: skip
    assert marked(second) == [[[1.0, 1.22]], [[1.0, 0.92]]]  # one run has no interval
    half = 12.7062 * 0.05  # Student's t with one degree of freedom, times the standard error
    spread = 4.30265 * (0.28 / 3) ** 0.5  # with two; the variance of -1.2, -1, -2 is 0.28
    bar, other, zero = first.lines
    assert np.allclose(bar.get_xydata(), [[3.95 - half, 0.92], [3.95 + half, 0.92]], rtol=1e-4)
    assert np.allclose(other.get_xydata(), [[-1.4 - spread, 1.92], [-1.4 + spread, 1.92]], rtol=1e-4)
    assert zero.get_xdata() == [0, 0]
    assert [line.get_color() for line in (bar, other)] == [COLOURS[0], COLOURS[1]]
    assert [ax.get_xlabel() for ax in (first, second)] == ["steps", "change"]


def test_what_a_side_means_stands_on_that_side():
    texts = {text.get_text(): text.xy[0] for text in FIGURES["forest"]().axes[0].texts}
    assert texts["fewer"] < 0.5 < texts["more"]


def test_only_groups_that_have_rows_are_named():
    labels = draw.forest(ROWS[:2], ["a", "b"], ["batch", "each"]).axes[0].get_legend_handles_labels()
    assert labels[1] == ["each"]
    assert labels[0][0].get_paths()[0].vertices.shape == _marker(MARKERS[1])


def _marker(name):
    marker = mpl.markers.MarkerStyle(name)
    return marker.get_path().vertices.shape
