"""The figures of lesson 01 draw the numbers that they are given."""

import numpy as np
import pandas as pd
import pytest
from drawn import bars, check, named, points, written
from matplotlib.colors import to_hex
from notebook_code import function

from ponder_course.figures import act_background as draw
from ponder_course.figures.style import BLACK, BLUE, COLOURS, GREY, SKY

draw_halting_units = function("01_act_background", "draw_halting_units")
draw_jumps = function("01_act_background", "draw_jumps")
draw_over_batches = function("01_act_background", "draw_over_batches")
draw_small_test_sets = function("01_presentation", "draw_small_test_sets")

H, P = [[0.1, 0.5, 0.6, 0.2], [0.7, 0.9]], [[0.1, 0.5, 0.4], [1.0]]
TABLE = pd.DataFrame(
    [
        ("ACT", 0.01, 1.0, 3.0, True, True),
        ("ACT", 0.01, 0.98, 4.0, True, False),
        ("ACT", 0.01, 0.6, 1.5, False, False),
        ("ACT", 0.1, 0.97, 2.0, True, False),
        ("fixed", 0.1, 0.55, 8.0, False, True),
    ],
    columns=["kind", "setting", "accuracy", "steps", "learnt", "live"],
)
COLUMNS = {"accuracy": "right answers", "steps": "steps $N$"}


def run(last, accuracy, steps):
    return {"update": [0, last / 2, last], "accuracy": accuracy, "steps": steps}


RUNS = {
    "cheap": [run(8, [0.5, 0.8, 1.0], [2, 3, 4]), run(8, [0.6, 0.7, 0.9], [2, 5, 6])],
    "early": [run(20, [0.55, 0.56, 0.57], [2, 1, 1.5])],
}
EXPENSIVE = {"cheap": [], "early": [(0, 5), (7, 9)]}
FIGURES = {
    "halting": lambda: draw_halting_units(H, P, [0.1, 0.35]),
    "jumps": lambda: draw_jumps([0, 1, 2, 3], [2, 2, 1, 1], [0.4, 0.2, 1.0, 0.9], [2.4, 2.2, 2.0, 1.9], [5, 6, 7, 8]),
    "by_setting": lambda: draw.by_setting(TABLE, COLUMNS, "price"),
    "stories": lambda: draw.stories(RUNS, EXPENSIVE, live=1),
    "over_batches": lambda: draw_over_batches(RUNS, first=2, falls=5),
    "small_test_sets": lambda: draw_small_test_sets(
        [2, 4], [[0.5, 0.6], [0.4, 0.9]], [0] * 13 + [1, 2, 3, 4], [13, 16, 13]
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_labelled_and_legible(name):
    check(FIGURES[name])


def test_halting_has_bars_for_weights_dots_for_units_and_their_sum():
    for ax, h, p, enough in zip(FIGURES["halting"]().axes, H, P, (0.9, 0.65), strict=True):
        assert [(x, height) for x, height, _ in bars(ax)] == [*enumerate(p, start=1)]
        assert named(ax, "halting unit $h_n$") == [[n + 1, h[n]] for n in range(len(p))]
        assert named(ax, "$h_n$ of steps never made") == [[n + 1, h[n]] for n in range(len(p), len(h))]
        assert named(ax, "$h_1 + ... + h_n$") == [[n + 1, pytest.approx(sum(h[: n + 1]))] for n in range(len(p))]
        assert [y for _, y in named(ax, r"$1 - \epsilon$")] == pytest.approx([enough] * 2)
        assert ax.get_title() == f"$N$ = {len(p)}, $R$ = {p[-1]:.2f}"


def test_a_jump_has_a_full_dot_on_the_value_that_is_taken_and_no_line_across():
    steps, remainder, cost = FIGURES["jumps"]().axes
    assert [ax.get_title()[:5] for ax in (steps, remainder, cost)] == ["steps", "remai", "ponde"]
    for ax, values in zip((steps, remainder), ([2, 2, 1, 1], [0.4, 0.2, 1.0, 0.9]), strict=True):
        line, hollow, full = ax.lines
        x, y = line.get_data()
        assert np.isnan(y).tolist() == [False, False, True, False, False]
        assert [*zip(x[[0, 1, 3, 4]], y[[0, 1, 3, 4]], strict=True)] == [*enumerate(values)]
        assert hollow.get_xydata().tolist() == [[2, values[1]]]
        assert hollow.get_markerfacecolor() == "white"
        assert full.get_xydata().tolist() == [[2, values[2]]]
        assert full.get_markerfacecolor() == BLUE
    assert named(cost, "as its gradient tells") == [[0, 5], [1, 6], [2, 7], [3, 8]]


def test_runs_stand_at_their_setting_and_only_those_that_learnt_are_in_the_mean():
    accuracy, steps = FIGURES["by_setting"]().axes
    assert [ax.get_ylabel() for ax in (accuracy, steps)] == ["right answers", "steps $N$"]
    assert [label.get_text() for label in accuracy.get_xticklabels()] == ["0.01", "0.1"]
    for ax, column, means in ((accuracy, "accuracy", [0.99, 0.97]), (steps, "steps", [3.5, 2.0])):
        assert named(ax, "ACT, learnt") == [[-0.1, pytest.approx(means[0])], [0.9, means[1]]]
        assert named(ax, "fixed, learnt") == []
        marks = {}
        for group in ax.collections:
            for x, y in group.get_offsets().tolist():
                face = to_hex(group.get_facecolor()[0]).upper() if len(group.get_facecolor()) else "hollow"
                marks[round(x, 3), y] = face, to_hex(group.get_edgecolor()[0]).upper()
        places = [-0.1, -0.1, -0.1, 0.9, 1.1]
        colours = [(BLUE, BLUE), ("hollow", BLUE), ("hollow", GREY), ("hollow", BLUE), (GREY, GREY)]
        assert marks == dict(zip(zip(places, TABLE[column], strict=True), colours, strict=True))


def test_of_a_single_kind_it_is_counted_how_many_learnt():
    ax = draw.by_setting(TABLE[TABLE["kind"] == "ACT"], {"accuracy": "accuracy"}, "price").axes[0]
    assert {text.xy[0]: text.get_text() for text in ax.texts} == {0: "2 of 3", 1: "1 of 1"}


def test_a_story_has_its_prices_as_bars_its_accuracy_and_its_steps():
    prices, accuracy, steps = FIGURES["stories"]().axes
    thick = points(prices, linewidth=9)
    assert thick == [[[0, 1], [5, 1]], [[7, 1], [9, 1]]]
    assert points(prices, linewidth=1.2) == [[[0, 0], [8, 0]], [[0, 1], [20, 1]]]
    assert [label.get_text() for label in prices.get_yticklabels()] == ["cheap", "early"]
    assert prices.get_xlim() == (0, 20)
    for ax, column in ((accuracy, "accuracy"), (steps, "steps")):
        for colour, runs in zip(COLOURS, RUNS.values(), strict=False):
            drawn = points(ax, color=colour)
            assert drawn == [[*map(list, zip(run["update"], run[column], strict=True))] for run in runs]
        widths = [line.get_linewidth() for line in ax.lines if len(line.get_xdata()) == 3]
        assert widths == [2.4, 1.1, 2.4]
    assert (accuracy.lines[0].get_linestyle(), accuracy.lines[0].get_zorder()) == ("--", 3)
    assert accuracy.lines[-2].get_linestyle() == "-"
    assert [y for _, y in named(accuracy, "chance")] == [0.5, 0.5]


def test_peaks_of_the_steps_are_cut_off():
    runs = {"one": [{"update": range(100), "accuracy": [0.5] * 100, "steps": [2.0] * 98 + [90.0, 99.0]}]}
    high = draw.stories(runs, {"one": []}).axes[2].get_ylim()[1]
    assert 2 < high < 90


def test_over_batches_accuracy_stands_above_steps_and_the_fall_is_dotted():
    figure = FIGURES["over_batches"]()
    assert [ax.get_title() for ax in figure.axes] == ["cheap", "early", "", ""]
    assert [figure.axes[i].get_ylabel() for i in (0, 2)] == ["accuracy", "steps $N$"]
    for i, runs in enumerate(RUNS.values()):
        for ax, column in ((figure.axes[i], "accuracy"), (figure.axes[i + 2], "steps")):
            drawn = [[*map(list, zip(run["update"], run[column], strict=True))] for run in runs]
            assert points(ax, color=COLOURS[2 + i]) == drawn
            assert points(ax, color=BLACK, visible=True) == [[[5, 0], [5, 1]]]
    (plain, _) = draw_over_batches({"a": RUNS["early"]}).axes
    assert points(plain, color=BLACK, visible=True) == []


def test_small_sets_are_fractions_and_equal_scores_are_piled_up():
    left, right = FIGURES["small_test_sets"]().axes
    assert points(left, linestyle="--") == [[[2, 0.5], [4, 0.6]], [[2, 0.4], [4, 0.9]]]
    assert [(x, pytest.approx(height)) for x, height, _ in bars(right)] == [*enumerate([0] * 13 + [0.1, 0.2, 0.3, 0.4])]
    assert to_hex(right.patches[0].get_facecolor()).upper() == SKY
    scores = named(right, "printed in the presentation")
    assert [x for x, _ in scores] == [13, 16, 13]
    assert scores[2][1] > scores[0][1] == scores[1][1]
    assert written(right) == []
