"""The figures of lesson 02 draw the numbers that they are given."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from drawn import bars, check, heights, named, points, written
from notebook_code import function

from ponder_course.figures.style import BLACK, BLUE, COLOURS, ORANGE, PURPLE

draw_best_halting = function("02_pondernet_theory", "draw_best_halting")
draw_pushes = function("02_pondernet_theory", "draw_pushes")
draw_learnt = function("02_pondernet_theory", "draw_learnt")
draw_bound_path = function("02_pondernet_theory", "draw_bound_path")
draw_prior_bars = function("02_pondernet_theory", "draw_prior_bars")
draw_fitted = function("02_numerics_and_bound", "draw_fitted")
draw_underflow = function("02_numerics_and_bound", "draw_underflow")
draw_assignments = function("02_numerics_and_bound", "draw_assignments")
draw_stopping = function("02_numerics_and_bound", "draw_stopping")

P, Q, LOSSES = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.9, 0.4, 0.6]
TABLE = pd.DataFrame(
    {"steps": [2.0, 3.0], "steps_sd": [0.5, 0.0], "answer": [0.6, 0.3], "answer_sd": [0.2, 0.0]},
    index=["sample", "median"],
)
CLOSED, FITS = {"paper": [P, Q], "reversed": [Q, P]}, {"paper": [Q, Q], "reversed": [P, P]}
FIGURES = {
    "best_halting": lambda: draw_best_halting(LOSSES, [("a", P, Q), ("b", Q, [0.0, 0.0004, 0.9996])]),
    "pushes": lambda: draw_pushes([0.1, 0.01], {"losses": [0.2, 0.02], "reversed": [0.15, 0.154]}, 0.16),
    "learnt": lambda: draw_learnt(
        [1, 2, 3], {"none": [2, 3, 4], "mean": [5, 5, 5]}, {"none": [P, Q], "mean": [LOSSES]}
    ),
    "bound_path": lambda: draw_bound_path(
        [0, 1, 100], {"bound": [2, 1, 3], "mean loss": [4, 5, 6], "averaged": [0.8, 0.7, 0.5]}, 1.0
    ),
    "priors": lambda: draw_prior_bars({"a": {"renormalise": P, "remainder": Q, "geometric": LOSSES}}),
    "fitted": lambda: draw_fitted({"easy": LOSSES, "hard": P}, CLOSED, FITS),
    "underflow": lambda: draw_underflow([0, 1, 2], {"half": [0.1, 0.01, 0]}, [-1, -3, -5]),
    "assignments": lambda: draw_assignments({"none": [1, 2], "mean": [3, 4]}, ["prior", "oracle"]),
    "stopping": lambda: draw_stopping(P, LOSSES, TABLE),
}


def over(x, y):
    return [[a, pytest.approx(b)] for a, b in zip(x, y, strict=True)]


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "assignments"])  # its numbers are small
def test_figures_are_opaque_labelled_and_legible(name):
    check(FIGURES[name])


def test_best_halting_has_losses_above_and_prior_and_best_below_with_their_means():
    above, other, below, certain = FIGURES["best_halting"]().axes
    for ax in (above, other):
        assert [(x, height) for x, height, _ in bars(ax)] == [*enumerate(LOSSES, start=1)]
        assert written(ax) == ["0.90", "0.40", "0.60"]
    for ax, prior, best in ((below, P, Q), (certain, Q, [0.0, 0.0004, 0.9996])):
        assert [heights(container) for container in ax.containers] == [prior, best]
        triangles = [[pytest.approx(np.dot([1, 2, 3], p)), 1.34] for p in (prior, best)]
        assert [line[0] for line in points(ax, marker="v")] == triangles
    assert written(below) == ["0.100", "0.200", "0.700"]
    assert written(certain) == ["< .001", "< .001", "1.000"]
    assert below.lines[1].get_color() == ORANGE  # the best one's mean


def test_what_is_drawn_may_be_tensors():
    t = torch.tensor([0.0, 1.0, 10.0])
    (line,) = points(draw_bound_path(t, {"bound": t + 1}, 1.0).axes[0], color=BLACK, linestyle="-", marker="None")
    assert line == [[0, 1], [1, 2], [10, 11]]
    below = draw_best_halting(t / 2, [("a", torch.tensor(P), torch.tensor(Q))]).axes[1]
    assert heights(below.containers[1]) == pytest.approx(Q)


def test_pushes_are_sizes_against_the_coin_which_falls_to_the_right():
    ax = FIGURES["pushes"]().axes[0]
    assert named(ax, "losses") == [[0.1, 0.2], [0.01, 0.02]]
    assert named(ax, "reversed") == [[0.1, 0.15], [0.01, 0.154]]
    assert [y for _, y in named(ax, "$p_G(3)$")] == [0.16, 0.16]
    assert ax.xaxis_inverted()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_learnt_steps_are_marks_on_the_line_of_theory():
    ax = FIGURES["learnt"]().axes[0]
    assert named(ax, "averaged last: equation 6") == [[1, 2], [2, 3], [3, 4]]
    assert named(ax, "averaged first: equation 6") == [[1, 5], [2, 5], [3, 5]]
    assert points(ax, linestyle="None", color=COLOURS[0]) == [over([1, 2, 3], P), over([1, 2, 3], Q)]
    assert points(ax, linestyle="None", color=COLOURS[1]) == [over([1, 2, 3], LOSSES)]
    assert named(ax, "needed") == [[1, 1], [2, 2], [3, 3]]


def test_the_bound_touches_where_it_is_marked_and_the_gap_lies_under_it():
    ax = FIGURES["bound_path"]().axes[0]
    for part in (ax, *ax.child_axes):
        assert named(part, "bound") == [[0, 2], [1, 1], [100, 3]]
        assert named(part, "mean loss") == [[0, 4], [1, 5], [100, 6]]
        assert named(part, "averaged") == [[0, 0.8], [1, 0.7], [100, 0.5]]
        assert named(part, "they touch") == [[1, 1.0]]
        (gap,) = part.collections
        corners = {tuple(corner) for corner in gap.get_paths()[0].vertices.tolist()}
        assert {(0, 1), (0, 2), (100, 1), (100, 3)} <= corners
    assert [line.get_color() for line in ax.lines[:3]] == [BLACK, BLUE, ORANGE]
    (inset,) = ax.child_axes
    assert inset.get_xlim() == (0, 2)
    assert inset.get_ylim() == pytest.approx((0.98, 2.01))


def test_a_prior_has_a_line_for_each_repair_and_the_number_of_its_mean():
    ax = FIGURES["priors"]().axes[0]
    assert heights(ax.containers[0]) == LOSSES
    assert named(ax, "renormalised") == over([1, 2, 3], P)
    assert named(ax, "remainder on the last step") == over([1, 2, 3], Q)
    means = [[pytest.approx(1.7), 0.94]], [[pytest.approx(2.6), 0.82]]
    assert points(ax, marker="v") == [*means]
    assert [line.get_color() for line in ax.lines if line.get_marker() == "v"] == [BLACK, PURPLE]
    assert written(ax) == ["1.7", "2.6"]


def test_fits_are_marks_and_closed_forms_lines_case_by_case():
    figure = FIGURES["fitted"]()
    assert [ax.get_title() for ax in figure.axes] == ["easy", "hard"]
    for i, (ax, losses) in enumerate(zip(figure.axes, (LOSSES, P), strict=True)):
        assert named(ax, r"loss $\ell_n$ (nats)") == over([1, 2, 3], losses)
        for which, label in enumerate(CLOSED):
            assert points(ax, marker="None", color=COLOURS[which]) == [over([1, 2, 3], CLOSED[label][i])]
            assert named(ax, label) == over([1, 2, 3], FITS[label][i])
        assert ax.get_yscale() == "log"


def test_underflow_is_a_logarithm_that_ends_in_a_cross():
    ax = FIGURES["underflow"]().axes[0]
    assert named(ax, "half") == over([0, 1], [-1, -2])
    assert points(ax, marker="X") == [over([1], [math.log10(0.01)])]
    assert named(ax, "sum of logarithms, float32") == [[0, -1], [1, -3], [2, -5]]


def test_assignments_are_pairs_of_bars():
    ax = FIGURES["assignments"]().axes[0]
    none, mean = ax.containers
    assert [heights(container) for container in (none, mean)] == [[1, 2], [3, 4]]
    assert [bar.get_x() < other.get_x() for bar, other in zip(none, mean, strict=True)] == [True, True]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["prior", "oracle"]
    assert ax.get_legend_handles_labels()[1] == ["none", "mean"]
    assert written(ax) == ["1.00", "2.00", "3.00", "4.00"]


def test_rules_stand_at_their_steps_and_answer_with_an_error_bar_for_each():
    left, right = FIGURES["stopping"]().axes
    assert heights(left.containers[0]) == P
    assert named(left, "answer, P(odd)") == over([1, 2, 3], LOSSES)
    sample, median = right.containers
    assert [container.get_label() for container in (sample, median)] == ["sample", "median"]
    assert sample.lines[0].get_xydata().tolist() == [[2.0, 0.6]]
    segments = [collection.get_segments()[0].tolist() for collection in sample.lines[2]]
    assert segments == [over([1.5, 2.5], [0.6, 0.6]), [[2.0, pytest.approx(0.4)], [2.0, pytest.approx(0.8)]]]
    assert median.lines[0].get_xydata().tolist() == [[3.0, 0.3]]
    assert not median.lines[2]
