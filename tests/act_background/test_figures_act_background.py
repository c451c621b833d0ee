"""The figures of lesson 01 draw the numbers that they are given."""

import numpy as np
import pandas as pd
import pytest
from drawn import bars, check, heights, named, points, written
from matplotlib.colors import to_hex

from ponder_course.act_background import figures as draw
from ponder_course.act_background.figures import (
    draw_halting_units,
    draw_jumps,
    draw_small_test_sets,
    draw_whose,
    waits,
    who,
    who_learns,
)
from ponder_course.common.style import ANSWER, BLUE, HALTING, NOT_LEARNT, SKY, WRONG

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
BY_N = [
    {"n": 1, "halt": 0.0, "right": None, "remainder": None, "right, going on": 0.5},
    {"n": 2, "halt": 0.6, "right": 1.0, "remainder": 0.9, "right, going on": 0.7},
    {"n": 3, "halt": 0.395, "right": 0.8, "remainder": 0.4, "right, going on": 1.0},
]
FIGURES = {
    "halting": lambda: draw_halting_units(H, P, [0.1, 0.35]),
    "jumps": lambda: draw_jumps(
        [0, 1, 2, 3], [2, 2, 1, 1], [0.4, 0.2, 1.0, 0.9], [2.4, 2.2, 2.0, 1.9], [2.4, 2.3, 2.2, 2.1]
    ),
    "by_setting": lambda: draw.by_setting(TABLE, COLUMNS, "price"),
    "stories": lambda: draw.stories(RUNS, EXPENSIVE, live=1),
    "whose": lambda: draw_whose(BY_N),
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
        assert named(ax, r"halting unit $\lambda_n$") == [[n + 1, h[n]] for n in range(len(p))]
        assert named(ax, "never taken") == [[n + 1, h[n]] for n in range(len(p), len(h))]
        assert named(ax, r"$\lambda_1 + ... + \lambda_n$") == [
            [n + 1, pytest.approx(sum(h[: n + 1]))] for n in range(len(p))
        ]
        assert [y for _, y in named(ax, r"$1 - \epsilon$")] == pytest.approx([enough] * 2)
        assert ax.get_title() == f"$N$ = {len(p)}, $R$ = {p[-1]:.2f}"


def test_a_jump_has_a_full_dot_on_the_value_that_is_taken_and_no_line_across():
    steps, cost, remainder = FIGURES["jumps"]().axes
    assert [ax.get_title()[:5] for ax in (steps, remainder, cost)] == ["steps", "remai", "cost "]
    assert cost.get_position().width > 1.5 * steps.get_position().width  # it holds the finding
    for ax, values in zip((steps, remainder), ([2, 2, 1, 1], [0.4, 0.2, 1.0, 0.9]), strict=True):
        line, hollow, full = ax.lines
        x, y = line.get_data()
        assert np.isnan(y).tolist() == [False, False, True, False, False]
        assert [*zip(x[[0, 1, 3, 4]], y[[0, 1, 3, 4]], strict=True)] == [*enumerate(values)]
        assert hollow.get_xydata().tolist() == [[2, values[1]]]
        assert hollow.get_markerfacecolor() == "white"
        assert full.get_xydata().tolist() == [[2, values[2]]]
        assert full.get_markerfacecolor() == HALTING
    assert points(cost, color=WRONG) == [[[0, 2.4], [1, 2.3], [2, 2.2], [3, 2.1]]]
    assert cost.texts[0].xy == (2, 2.2)
    assert (cost.texts[1].xyann, cost.texts[1].xy) == ((3, 2.1), (3, 1.9))
    assert written(cost) == ["as the gradient sees it", "not seen: 0.2"]


def test_runs_stand_at_their_setting_and_only_those_that_learnt_are_in_the_mean():
    accuracy, steps = FIGURES["by_setting"]().axes
    assert [ax.get_ylabel() for ax in (accuracy, steps)] == ["right answers", "steps $N$"]
    assert [label.get_text() for label in accuracy.get_xticklabels()] == ["0.01", "0.1"]
    for ax, column, means in ((accuracy, "accuracy", [0.99, 0.97]), (steps, "steps", [3.5, 2.0])):
        assert named(ax, "ACT, learnt") == [[-0.1, pytest.approx(means[0])], [0.9, means[1]]]  # in the middle
        assert named(ax, "fixed, learnt") == []
        marks = {}
        for group in ax.collections:
            for x, y in group.get_offsets().tolist():
                face = to_hex(group.get_facecolor()[0]).upper() if len(group.get_facecolor()) else "hollow"
                marks[round(x, 3), y] = face, to_hex(group.get_edgecolor()[0]).upper()
        places = [-0.14, -0.1, -0.06, 0.9, 1.1]  # side by side
        grey = NOT_LEARNT
        colours = [(BLUE, BLUE), ("hollow", BLUE), ("hollow", grey), ("hollow", BLUE), (grey, grey)]
        assert marks == dict(zip(zip(places, TABLE[column], strict=True), colours, strict=True))


def test_of_a_single_kind_it_is_counted_how_many_learnt_and_steps_have_the_colour_of_halting():
    accuracy, steps = draw.by_setting(TABLE[TABLE["kind"] == "ACT"], COLUMNS, "price").axes
    assert {text.get_position()[0]: text.get_text() for text in accuracy.texts} == {0: "2/3", 1: "1/1"}
    for ax, colour in ((accuracy, ANSWER), (steps, HALTING)):
        assert {line.get_color() for line in ax.lines} == ({HALTING} if ax is steps else set())
        edges = {to_hex(group.get_edgecolor()[0]).upper() for group in ax.collections}
        assert edges == {colour, NOT_LEARNT}


def test_settings_on_a_log_axis_stand_where_they_are_and_near_labels_one_above_the_other():
    rows = [("ACT", setting, 1.0, 2.0, True, False) for setting in (0.001, 0.01, 0.01, 0.015)]
    (ax,) = draw.by_setting(pd.DataFrame(rows, columns=TABLE.columns), {"steps": "N"}, "price", log=True).axes
    assert ax.get_xticks().tolist() == pytest.approx([-3, -2, np.log10(0.015)])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.001", "0.01", "\n0.015"]
    assert [text.get_text() for text in ax.texts] == ["1/1", "2/2", "1/1\n"]
    marks = [x for group in ax.collections for x, _ in group.get_offsets().tolist()]
    assert marks == pytest.approx([-3, -2.03, -1.97, np.log10(0.015)])


def test_a_story_has_accuracy_above_steps_who_has_not_learnt_in_grey_and_a_shade_where_it_is_expensive():
    figure = FIGURES["stories"]()
    above, below = figure.axes[:2], figure.axes[2:]
    assert [ax.get_title() for ax in above] == ["cheap\n1 of 2 learn", "early\n0 of 1 learn"]
    assert [ax.get_xlim() for ax in below] == [(0, 8), (0, 20)]
    assert figure.axes[0].get_gridspec().get_width_ratios() == [10, 20]
    for axes, column, colour in ((above, "accuracy", ANSWER), (below, "steps", HALTING)):
        for ax, (story, runs) in zip(axes, RUNS.items(), strict=True):
            lines = [line.get_xydata().tolist() for line in ax.lines]
            assert lines == [[*map(list, zip(run["update"], run[column], strict=True))] for run in runs]
            assert [line.get_linewidth() for line in ax.lines] == [2.8, 1.3][: len(runs)]
            learnt = [run["accuracy"][-1] >= 0.95 for run in runs]
            assert [line.get_color() for line in ax.lines] == [colour if one else NOT_LEARNT for one in learnt]
            shades = [(shade.get_x(), shade.get_x() + shade.get_width()) for shade in ax.patches]
            assert shades == EXPENSIVE[story]
    assert [len(written(ax)) for ax in above] == [0, 2]


def test_peaks_of_the_steps_are_cut_off():
    runs = {"one": [{"update": range(100), "accuracy": [0.5] * 100, "steps": [2.0] * 98 + [90.0, 99.0]}]}
    high = draw.stories(runs, {"one": []}).axes[1].get_ylim()[1]
    assert 2 < high < 90


def test_whose_answer_has_a_bar_for_those_that_halt_and_one_for_those_that_go_on_unless_they_are_few():
    right, weight = FIGURES["whose"]().axes
    halting, going_on = (heights(container) for container in right.containers)
    np.testing.assert_equal(halting, [np.nan, 1.0, 0.8])
    np.testing.assert_equal(going_on, [0.5, 0.7, np.nan])
    np.testing.assert_equal([height for _, height, _ in bars(weight)], [np.nan, 0.9, 0.4])
    ticks = [label.get_text() for label in right.get_xticklabels()]
    assert ticks == ["1\n0% halt", "2\n60% halt", "3\n40% halt"]


def test_a_finding_says_what_the_rows_say():
    rows = [(0.1, True, 2.0), (0.1, True, 3.0), (1, True, 4.0), (1, False, 1.0), (2, False, 1.0)]
    table = pd.DataFrame(rows, columns=["setting", "learnt", "steps"])
    assert who_learns(table) == "At 0.1, 1: 2.5, 4.0 steps;\nfrom 2 on, none learns"
    assert who_learns(table[table["setting"] > 0.1]) == "1 of 3 networks learn"  # no price to compare with
    assert who_learns(table.assign(setting=3 - table["setting"])) == "3 of 5 networks learn"  # the cheapest fails
    assert waits(RUNS["cheap"]) == [8]
    assert waits(RUNS["cheap"], since=2) == [6]
    assert waits(RUNS["early"]) == waits([]) == []
    assert [who(RUNS["cheap"]), who(RUNS["cheap"][:1]), who([])] == ["1 of 2 learn", "all learn", "0 of 0 learn"]


def test_small_sets_are_fractions_and_equal_scores_are_piled_up():
    left, right = FIGURES["small_test_sets"]().axes
    assert points(left, linestyle="--") == [[[2, 0.5], [4, 0.6]], [[2, 0.4], [4, 0.9]]]
    assert [(x, pytest.approx(height)) for x, height, _ in bars(right)] == [*enumerate([0] * 13 + [0.1, 0.2, 0.3, 0.4])]
    assert to_hex(right.patches[0].get_facecolor()).upper() == SKY
    scores = named(right, "printed in the presentation")
    assert [x for x, _ in scores] == [13, 16, 13]
    assert scores[2][1] > scores[0][1] == scores[1][1]
    assert written(right) == []


def halt(lambdas, epsilon):
    """The weights of the steps that are taken, in a loop."""
    weights, total = [], 0
    for unit in lambdas[:-1]:
        if total + unit >= 1 - epsilon:
            break
        weights.append(unit)
        total = total + unit
    return [*weights, 1 - total]


def test_the_gradient_of_a_growing_unit_adds_up_between_the_jumps_alone():
    unit, steps, remainder, cost, by_gradient = draw.as_the_first_unit_grows(halt, [0.5, 0.5], 0.01)
    for at in (0, 900, 1500, 2000):
        p = halt([unit[at].item(), 0.5, 0.5], 0.01)
        assert (steps[at].item(), remainder[at].item()) == (len(p), pytest.approx(p[-1]))
    assert cost.tolist() == pytest.approx((steps + remainder).tolist())
    slope = (by_gradient[1:] - by_gradient[:-1]) / (unit[1:] - unit[:-1])
    jumps = (steps[1:] != steps[:-1]).nonzero()[:, 0].tolist()
    assert slope[:900].tolist() == pytest.approx([-1.0] * 900)  # of R = 1 - lambda_1 - 1 / 2
    assert slope[jumps[0] + 1 : jumps[1]].tolist() == pytest.approx([-1.0] * (jumps[1] - jumps[0] - 1))
    fall, seen = cost[0] - cost[-1], cost[0] - by_gradient[-1]
    expected = f"The cost falls by {fall:.1f}, but its gradient sees only {seen:.1f} of it"
    assert draw.what_the_gradient_sees(cost, by_gradient) == expected


def trained(at, prices="late", **change):
    """A run that has learnt from this update on, or never."""
    accuracy = [0.5 if at is None or update < at else 1.0 for update in (0, 10, 20, 30)]
    return {"update": [0, 10, 20, 30], "accuracy": accuracy, "prices": prices, **change}


def test_both_stories_are_of_unchanged_runs_and_say_who_learns_and_waits():
    rows = [trained(10), trained(20, "early"), trained(30, "early"), trained(10, "early", reset=True)]
    found = draw.by_story(rows, {"charged late": "late", "charged early": "early"})
    assert found == {"charged late": rows[:1], "charged early": rows[1:3]}
    late, early = found.values()
    assert draw.what_both_stories_say(late, early, 5) == "Charged late, all learn. Charged early, all, and much later"
    assert draw.what_both_stories_say(late, early, 15) == "Charged late, all learn. Charged early, all learn"
    some = draw.what_both_stories_say(late, [trained(None)], 5)
    assert some == "Charged late, all learn. Charged early, 0 of 1 learn"


def test_the_controls_are_told_apart_by_what_was_changed():
    rows = [trained(None), trained(10, reset=True), trained(20, depth=2), trained(None)]
    controls = draw.by_change(rows)
    assert [len(group) for group in controls.values()] == [2, 1, 1]
    expected = "If nothing changes, 0 of 2 learn;\nwith two steps for everyone, all learn"
    assert draw.what_the_controls_say(controls) == expected


def test_sliders_draw_the_weights_of_their_units():
    figure, text = draw.one_case(halt, 0.1, lambda_1=0.25, lambda_2=0.5, lambda_3=0.5)
    (ax,) = figure.axes
    assert [height for _, height, _ in bars(ax)] == [0.25, 0.5, 0.25]
    assert text == "3 steps; weights 0.25, 0.50, 0.25."
    assert (
        draw.what_the_cases_say([[1] * 3, [1] * 2, [1] * 4]) == "A larger first unit: 2 steps, not 3. Tiny units: all 4"
    )
