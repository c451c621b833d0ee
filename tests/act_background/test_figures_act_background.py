"""The figures of lesson 01 draw the numbers that they are given, and say what these say."""

import pandas as pd
import pytest
from drawn import check_drawn, over

from ponder_course.act_background import figures as draw
from ponder_course.act_background.scripted import halt
from ponder_course.common.style import ANSWER, BLACK, BLUE, HALTING, LIMIT, NOT_LEARNT, SKY, WRONG
from ponder_course.research.act_background import figures as evidence

NAN = float("nan")
H, P = [[0.1, 0.5, 0.6, 0.2], [0.7, 0.9]], [[0.1, 0.5, 0.4], [1.0]]
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
        {"update": [0, 4, 8], "accuracy": [0.6, 0.7, 0.9], "steps": [2.0, 5.0, 90.0]},
    ],
    "early": [{"update": [0, 10, 20], "accuracy": [0.55, 0.56, 0.57], "steps": [2.0, 1.0, 1.5]}],
}
SPANS = [[[0, 0], [5, 1]], [[7, 0], [9, 1]]]
BY_N = [
    {"n": 1, "halt": 0.0, "right": None, "remainder": None, "right, going on": 0.5},
    {"n": 2, "halt": 0.6, "right": 1.0, "remainder": 0.9, "right, going on": 0.7},
    {"n": 3, "halt": 0.395, "right": 0.8, "remainder": 0.4, "right, going on": 1.0},  # few go on
]
R, COST, BY_GRADIENT = [0.4, 0.2, 1.0, 0.9], [2.4, 2.2, 2.0, 1.9], [2.4, 2.3, 2.2, 2.1]


def jump(values):
    """A line that breaks before its third point, a hollow dot where it would have gone on, and a full one."""
    broken = [[0, values[0]], [1, values[1]], [NAN, NAN], [2, values[2]], [3, values[3]]]
    hollow = [[2, values[1]]]
    return {HALTING: [broken, hollow, [[2, values[2]]]], "hollow": [hollow]}


FIGURES = {
    "halting units": (
        draw.halting_units,
        [H, P, 0.1],
        [
            {
                HALTING: [*over([1, 2, 3], H[0][:3]), [[4, 0.2]], *over([1, 2, 3], [0.1, 0.6, 1.2], P[0])],
                LIMIT: over([], 0.9),
                "text": ["= 3", "= 0.40"],
            },
            {HALTING: [[[1, 0.7]], [[2, 0.9]], [[1, 0.7]], [[1, 1]]], LIMIT: over([], 0.9), "text": ["= 1", "= 1.00"]},
        ],
    ),
    "jumps": (
        draw.jumps,
        [[0.0, 1.0, 2.0, 3.0], [2, 2, 1, 1], R, COST, BY_GRADIENT],
        [jump([2, 2, 1, 1]), jump(COST) | {WRONG: over(range(4), BY_GRADIENT), "text": ["0.2"]}, jump(R)],
    ),
    "by setting": (
        draw.by_setting,
        [TABLE, COLUMNS, "price"],
        [
            {
                BLUE: [[[-0.1, 0.99], [0.9, 0.97]], [[-0.1, 0.98], [0.9, 0.97]], [[-0.14, 1.0]]],
                NOT_LEARNT: [[[-0.06, 0.6]], [[1.1, 0.55]]],
                "text": ["0.01", "0.1"],
            },
            {
                BLUE: [[[-0.1, 3.5], [0.9, 2.0]], [[-0.1, 4.0], [0.9, 2.0]], [[-0.14, 3.0]]],
                NOT_LEARNT: [[[-0.06, 1.5]], [[1.1, 8.0]]],
            },
        ],
    ),
    "by setting, one kind": (
        draw.by_setting,
        [TABLE[TABLE["kind"] == "ACT"], COLUMNS, "price"],
        [
            {ANSWER: [[[0, 0.98], [1, 0.97]], [[-0.1, 1.0]]], NOT_LEARNT: [[[0.1, 0.6]]], "text": ["2/3", "1/1"]},
            {HALTING: [[[0, 3.5], [1, 2]], [[0, 4], [1, 2]], [[-0.1, 3]]], NOT_LEARNT: [[[0.1, 1.5]]]},
        ],
    ),
    "by setting, log": (
        draw.by_setting,
        [NEAR, {"steps": "N"}, "price", True],
        [{HALTING: over([-3, -1, -0.8239087409443188], [2, 3, 4], [2, 3, 4]), "text": ["0.1", "\n0.15", "1/1\n"]}],
    ),
    "stories": (
        draw.stories,
        [STORIES, [[], [(0.0, 5.0), (7.0, 9.0)]], 1],
        [
            {ANSWER: over([0, 4, 8], [0.5, 0.8, 1]), NOT_LEARNT: over([0, 4, 8], [0.6, 0.7, 0.9]), "text": ["1 of 2"]},
            {NOT_LEARNT: over([0, 10, 20], [0.55, 0.56, 0.57]), "span": SPANS, "text": ["0 of 1"]},
            {HALTING: over([0, 4, 8], [2, 3, 4]), NOT_LEARNT: over([0, 4, 8], [2, 5, 90])},
            {NOT_LEARNT: over([0, 10, 20], [2, 1, 1.5]), "span": SPANS},
        ],
    ),
    "whose": (
        draw.whose,
        [BY_N],
        [
            {
                ANSWER: over([0.8, 1.8, 2.8], [NAN, 1.0, 0.8]),
                "#FFFFFF": over([1.2, 2.2, 3.2], [0.5, 0.7, NAN]),
                "text": ["1\n0% halt", "2\n60% halt", "3\n40% halt"],
            },
            {HALTING: over([1, 2, 3], [NAN, 0.9, 0.4])},
        ],
    ),
    "small test sets": (
        evidence.small_test_sets,
        [[2, 4], [[0.5, 0.6], [0.4, 0.9]], [0] * 13 + [1, 2, 3, 4], [13, 16, 13]],
        [
            {BLUE: over([2, 4], [0.5, 0.6], [0.4, 0.9])},
            {SKY: over(range(17), [0] * 13 + [0.1, 0.2, 0.3, 0.4]), BLACK: over([13, 16, 13], [0.012, 0.012, 0.032])},
        ],
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_what_is_drawn_is_what_was_given(name):
    check_drawn(*FIGURES[name])


def test_peaks_of_the_steps_are_cut_off():
    runs = {"one": [{"update": range(100), "accuracy": [0.5] * 100, "steps": [2.0] * 98 + [90.0, 99.0]}]}
    high = draw.stories(runs, [[]]).axes[1].get_ylim()[1]
    assert 2 < high < 90


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
    for number in (cost[0] - cost[-1], cost[0] - by_gradient[-1]):
        assert f"{number:.1f}" in draw.what_the_gradient_sees(cost, by_gradient)


def trained(at, prices="late", **change):
    """A run that has learnt from this update on, or never."""
    accuracy = [0.5 if at is None or update < at else 1.0 for update in (0, 10, 20, 30)]
    return {"update": [0, 10, 20, 30], "accuracy": accuracy, "prices": prices, **change}


def test_a_finding_says_who_learns():
    rows = [(0.1, True, 2.0), (0.1, True, 3.0), (1, True, 4.0), (1, False, 1.0), (2, False, 1.0)]
    table = pd.DataFrame(rows, columns=["setting", "learnt", "steps"])
    assert draw.who_learns(table) == "At 0.1, 1: 2.5, 4.0 steps;\nfrom 2 on, none learns"
    assert draw.who_learns(table[table["setting"] > 0.1]).startswith("1 of 3")  # no price to compare with
    assert draw.who_learns(table.assign(setting=3 - table["setting"])).startswith("3 of 5")  # the cheapest fails
    rows = [trained(10), trained(None), trained(30)]
    assert draw.waits(rows) == [10, 30]
    assert draw.waits(rows, since=2) == [8, 28]
    assert [draw.who(some) for some in (rows, rows[:1], [])] == ["2 of 3 learn", "all learn", "0 of 0 learn"]


def test_both_stories_say_who_learns_and_whether_the_early_ones_wait_longer():
    late, early = [trained(10)], [trained(20), trained(30)]
    assert draw.what_both_stories_say(late, early, 5) == "Charged late, all learn. Charged early, all, and much later"
    assert draw.what_both_stories_say(late, early, 15) == "Charged late, all learn. Charged early, all learn"
    assert draw.what_both_stories_say(late, [trained(None)], 5).endswith("0 of 1 learn")


def test_the_controls_are_told_apart_by_what_was_changed():
    controls = draw.by_change([trained(None), trained(10, reset=True), trained(20, depth=2), trained(None)])
    assert [len(group) for group in controls.values()] == [2, 1, 1]
    finding = draw.what_the_controls_say(controls)
    assert finding == "If nothing changes, 0 of 2 learn;\nwith two steps for everyone, all learn"


def test_a_case_says_steps_and_weights():
    figure, text = draw.one_case(0.1, lambda_1=0.25, lambda_2=0.5, lambda_3=0.5)
    assert [bar.get_height() for bar in figure.axes[0].patches] == [0.25, 0.5, 0.25]
    assert text == "3 steps; weights 0.25, 0.50, 0.25."
    finding = draw.what_the_cases_say([[1] * 3, [1] * 2, [1] * 4])
    assert finding == "A larger first unit: 2 steps, not 3. Tiny units: all 4"
