"""The figures of lesson 01 draw the numbers that they are given, and say what these say."""

import math

import numpy as np
import pandas as pd
import pytest
from drawn import Drawn, numbers, tests_of_figures

from ponder_course.act_background import figures as draw
from ponder_course.act_background.scripted import halt
from ponder_course.common.style import ANSWER, NOT_LEARNT
from ponder_evidence.act_background import figures as evidence

NAN = float("nan")
RUNS = [
    ("ACT", 0.01, 1.0, 3.0, True, True),
    ("ACT", 0.01, 0.98, 4.0, True, False),
    ("ACT", 0.01, 0.6, 1.5, False, False),
    ("ACT", 0.1, 0.97, 2.0, True, False),
    ("fixed", 0.1, 0.55, 8.0, False, True),
]
TABLE = pd.DataFrame(RUNS, columns=["kind", "setting", "accuracy", "steps", "learnt", "live"])
COLUMNS = {"accuracy": "right answers", "steps": "steps $N$"}
NEAR = pd.DataFrame(
    {"kind": "ACT", "setting": [0.001, 0.1, 0.15], "steps": [2.0, 3.0, 4.0], "learnt": True, "live": False}
)
STORIES = {
    "cheap": [
        {"update": [0, 4, 8], "accuracy": [0.5, 0.8, 1.0], "steps": [2.0, 3.0, 4.0]},
        {"update": [0, 4, 8], "accuracy": [0.6, 0.7, 0.9], "steps": [2.5, 5.0, 90.0]},
    ],
    "early": [{"update": [0, 10, 20], "accuracy": [0.55, 0.56, 0.57], "steps": [2.1, 1.0, 1.5]}],
}
BY_N = [
    {"n": 1, "halt": 0.0, "right": None, "remainder": None, "right, going on": 0.5},
    {"n": 2, "halt": 0.6, "right": 1.0, "remainder": 0.9, "right, going on": 0.7},
    {"n": 3, "halt": 0.395, "right": 0.8, "remainder": 0.4, "right, going on": 1},  # few go on: not drawn
]
FIRST = [0.02 * n for n in range(1, 49)] + [0.995, 0.998]
DOWN = [0.03 * n for n in range(1, 49)] + [0.0] * 2
PULLS = {"knows": ([0.5] * 48 + [0.0] * 2, DOWN)}
UNIT, STEPS, R = [0.0, 1.0, 2.0, 3.0], [2, 2, 1, 1], [0.4, 0.2, 1.0, 0.9]  # a jump at the third point
COST, BY_GRADIENT = [2.4, 2.2, 2.05, 1.9], [2.45, 2.3, 2.25, 2.1]

MEANS = [[0.99, 0.97], [3.5, 2.0], [-0.1, 0.9]]  # of those that learnt, and where they stand
ASIDE = [-0.14, -0.1, -0.06, 0.9, 1.1]
LATER = [
    {"update": [0, 4, 8], "accuracy": [0.5, 0.6, 1.0], "later": [0.25, 0.01, 0.9]},
    {"update": [0, 4, 8], "accuracy": [0.5, 0.6, 0.7], "later": [0.2, 0.02, 0.03]},
]

FIGURES = {
    "weight of later states": Drawn(
        draw.weight_of_later_states,
        [LATER, 4, {0.01: LATER[1:], 0.1: LATER[:1]}],
        colours={NOT_LEARNT: LATER[1]["later"]},
    ),
    "tug of war": Drawn(draw.tug_of_war, [FIRST, PULLS, 0.99, 0.73], colours={ANSWER: DOWN}),
    "jumps": Drawn(draw.jumps, [UNIT, STEPS, R, COST, BY_GRADIENT], written=["0.2"]),
    "by setting": Drawn(
        draw.by_setting,
        [TABLE, COLUMNS, "price"],
        [*MEANS, ASIDE],
        {NOT_LEARNT: [0.6, 1.5, 0.55, 8.0]},
        written=["0.01", "0.1"],
    ),
    "by setting, one kind": Drawn(
        draw.by_setting,
        [TABLE[TABLE["kind"] == "ACT"], COLUMNS, "price"],
        [*MEANS, [0, 1], [-0.1, 0.0, 0.1, 1.0]],
        {NOT_LEARNT: [0.6, 1.5], ANSWER: [1.0, 0.98, 0.97]},
        written=["2", "3", "1"],
    ),
    "by setting, log": Drawn(draw.by_setting, [NEAR, {"steps": "N"}, "price", True], [[-3, -1, math.log10(0.15)]]),
    "stories": Drawn(
        draw.stories,
        [STORIES, [[], [(0.0, 5.0), (7.0, 9.0)]], 1],
        colours={ANSWER: STORIES["cheap"][0]["accuracy"]},
        written=["1", "2", "0"],
    ),
    "whose": Drawn(draw.whose, [BY_N], [[0.5, 0.7, NAN]], {ANSWER: [1.0, 0.8, 0.5, 0.7]}, written=["60", "40"]),
    "small test sets": Drawn(
        evidence.small_test_sets,
        [[2, 4], [[0.51, 0.6], [0.4, 0.9]], [0] * 13 + [1, 2, 3, 4], [13, 16, 13]],
        [[0] * 13 + [0.1, 0.2, 0.3, 0.4], [0.012, 0.012, 0.032]],
        start=0,
    ),
}


test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("act_background", FIGURES)


def test_jumps_break_the_line_before_a_full_dot_and_after_a_hollow_one():
    line, hollow, full = draw.jumps(UNIT, STEPS, R, COST, BY_GRADIENT).axes[0].lines
    assert pd.isna(line.get_ydata()).tolist() == [False, False, True, False, False]
    assert (hollow.get_xydata().tolist(), full.get_xydata().tolist()) == ([[2, 2]], [[2, 1]])


def test_the_gradient_of_a_growing_unit_adds_up_between_the_jumps_alone():
    unit, steps, remainder, cost, by_gradient = draw.as_the_first_unit_grows([0.5, 0.5], 0.01)
    for at in (0, 900, 1500, 2000):
        p = halt([unit[at], 0.5, 0.5], 0.01)
        assert (steps[at], remainder[at]) == (len(p), pytest.approx(p[-1]))
    assert cost == pytest.approx(steps + remainder)
    slope = (by_gradient[1:] - by_gradient[:-1]) / (unit[1:] - unit[:-1])
    first, second = (steps[1:] != steps[:-1]).nonzero()[0]
    assert slope[:900] == pytest.approx(-1)  # of R = 1 - lambda_1 - 1 / 2
    assert slope[first + 1 : second] == pytest.approx(-1)
    fall, seen = cost[0] - cost[-1], cost[0] - by_gradient[-1]
    assert numbers(draw.what_the_gradient_sees(cost, by_gradient)) == [f"{fall:.1f}", f"{seen:.1f}"]


def trained(at, prices="late", **change):
    """A run that has learnt from this update on, or never."""
    accuracy = [0.5 if at is None or update < at else 1.0 for update in (0, 10, 20, 30)]
    return {"update": [0, 10, 20, 30], "accuracy": accuracy, "prices": prices, **change}


def test_a_finding_says_who_learns():
    rows = [(0.1, True, 2.0), (0.1, True, 3.0), (1, True, 4.0), (1, False, 1.0), (2, False, 1.0)]
    table = pd.DataFrame(rows, columns=["setting", "learnt", "steps"])
    assert numbers(draw.who_learns(table)) == ["0.1", "1", "2.5", "4.0", "2"]
    alike = table.assign(steps=table["steps"].clip(2.4, 2.6))
    assert numbers(draw.who_learns(alike)) == ["2.5", "2.6", "2"]  # hardly any change
    assert numbers(draw.who_learns(table[table["setting"] > 0.1])) == ["1", "3"]  # no price to compare with
    assert numbers(draw.who_learns(table.assign(setting=3 - table["setting"]))) == ["3", "5"]  # the cheapest fails
    rows = [trained(10), trained(None), trained(30)]
    assert draw.waits(rows) == [10, 30]
    assert draw.waits(rows, since=2) == [8, 28]
    assert [numbers(draw.who(some)) for some in (rows, rows[:1], [])] == [["2", "3"], [], ["0", "0"]]


def test_both_stories_say_who_learns_and_whether_the_early_ones_wait_longer():
    late, early = [trained(10)], [trained(20), trained(30)]
    longer, as_long = (draw.what_both_stories_say(late, early, half) for half in (5, 10))
    assert longer != as_long == draw.what_both_stories_say(late, early, 15)
    assert numbers(draw.what_both_stories_say([*late, trained(None)], [trained(None)], 5)) == ["1", "2", "0", "1"]


def test_the_controls_are_told_apart_by_what_was_changed():
    controls = draw.by_change([trained(None), trained(10, reset=True), trained(20, depth=2), trained(None)])
    assert [len(group) for group in controls.values()] == [2, 1, 1]
    assert numbers(draw.what_the_controls_say(controls)) == ["0", "2"]  # with a new unit or two steps all learn


def test_who_comes_back_names_the_largest_weight_when_the_price_falls_and_who_learns():
    assert numbers(draw.who_comes_back(LATER, 4))[-3:] == ["2.0", "1", "2"]


def test_state_2_is_named_where_some_inputs_halt_there_and_some_go_on():
    assert numbers(draw.what_state_2_says(BY_N))[-2:] == ["100", "70"]
    assert not {"100", "70"} & {*numbers(draw.what_state_2_says(BY_N[:1]))}


def test_the_pulls_are_slopes_of_the_loss_of_two_steps_and_vanish_from_the_threshold_on():
    unit, up, down = draw.pulls_on_the_first(4.0, tau=0.5, epsilon=0.01)
    inside = unit < 0.99
    assert up[inside] == pytest.approx(0.5)  # of tau * (2 + 1 - lambda_1)
    assert down[inside] == pytest.approx(4 / (1 + np.exp(4 * (1 - unit[inside]))))  # of log(1 + exp(-4 (1 - lambda_1)))
    assert not up[~inside].any()
    assert not down[~inside].any()
    _, _, nothing = draw.pulls_on_the_first(0.0, tau=0.5, epsilon=0.01)
    assert not nothing.any()
    held, lost = draw.what_the_pulls_say(unit, {"it knows": (up, down), "not": (up, nothing)}).split("\n")
    assert held.endswith(f"{1 - math.log(7) / 4:.2f};")
    assert lost == "if not, the price wins"
