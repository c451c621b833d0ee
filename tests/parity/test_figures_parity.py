"""The figures of lesson 03 draw the numbers that they are given, and their sentences speak of these."""

import numpy as np
import pandas as pd
from drawn import COMPUTED, Drawn, numbers, tests_of_figures, written
from scipy import stats

from ponder_course.common.style import COLOURS, GREY, HALTING, NOT_LEARNT
from ponder_course.parity import figures as draw
from ponder_course.parity.figures import AMBERS, UNDECIDED
from ponder_evidence.parity import figures as evidence
from ponder_evidence.parity.figures import BLUES
from ponder_evidence.parity.learning_curves import learning_curves
from ponder_utils.evaluation import Score

K, P_G = range(1, 4), [0.5, 0.3, 0.2]
BY_STEP = [[0.5, 0.6, 0.9], [0.4, 0.8, 0.7]]
MOMENTS = [  # of training: easy inputs come to the prior first, then the hump, on easy inputs first
    {"update": 0, "easy": [1.0, 0.0, 0.0], "hard": [1.0, 0.0, 0.0], "easy right": 0.5, "hard right": 0.55},
    {"update": 1, "easy": [0.6, 0.2, 0.2], "hard": P_G, "easy right": 0.6, "hard right": 0.5},
    {"update": 2, "easy": [0.0, 0.9, 0.1], "hard": [0.3, 0.4, 0.3], "easy right": 1.0, "hard right": 0.65},
    {"update": 3, "easy": [0.0, 1.0, 0.0], "hard": [0.0, 0.95, 0.05], "easy right": 1.0, "hard right": 0.98},
]
LOGS = {
    kind: [[{"update": u, "accuracy": 0.5 + u / 100 + k / 10, "steps": 2 + k + u / 10} for u in (0, 9)] for k in slopes]
    for kind, slopes in {"a": (0, 1), "b": (0.5, 3)}.items()
}
OWN = {0.1: [(1.0, 0.64), (0.99, 0.97)], 0.9: [(1.0, 0.99)]}  # lambda_p: by itself, at the best fixed step
STEPS = [{"steps": [1.0, 2.0, 3.0], "learnt": True}, {"steps": [5.0, 6.0, 7.5], "learnt": False}]
SCORES = {
    "one": [Score(0.95, 2.5, BY_STEP[0], ()), Score(0.85, 1.5, BY_STEP[1], ())],
    "two": [Score(0.75, 2.2, BY_STEP[1], ())],
}
RUNS = {
    "ACT": [
        {"accuracy": [1.0, 0.9, 0.8], "steps": [1.0, 2.0, 3.0], "learnt": True},
        {"accuracy": [0.5, 0.4, 0.6], "steps": [5.0, 6.0, 7.0], "learnt": False},
        {"accuracy": [0.8, 0.7, 0.4], "steps": [2.0, 3.0, 4.5], "learnt": True},
    ],
    "fixed": [{"accuracy": [0.6, 0.5, 0.3], "steps": [20.0] * 3, "learnt": False}],
}
CHANGE = {"ACT": [1.0, 2.0, 6.0]}
BY_CAP = {  # at caps of 20, 40 and 60 the three runs of ACT, and three times the other
    "ACT": [{"learnt": True, "by_cap": dict(zip(("20", "40", "60"), RUNS["ACT"], strict=True))}],
    "fixed": [{"learnt": False, "by_cap": dict.fromkeys(("20", "40", "60"), RUNS["fixed"][0])}],
}
RISES = {
    ("small", "a", 0.1): [1.0, 2.0, 3.0],
    ("small", "a", 0.9): [0.5, 1.0],
    ("small", "b", 0.1): [2.0, 2.5, 6.0, 5.0],
    ("large", "b", 0.1): [-2.0, -2.1, -1.9],
}
OUTCOMES = pd.DataFrame(
    [(*setting, "learnt", rise) for setting, rises in RISES.items() for rise in rises]
    + [("small", "a", 0.9, "not learnt", np.nan)] * 7
    + [("small", "b", 0.9, "crashed", np.nan)] * 10,
    columns=["size", "loss", "lambda_p", "outcome", "rise"],
)
BY_ONES = {
    "a": [{"steps": [3.0, 2.0], "accuracy": [1, 1]}, {"steps": [4.0, 5.0, 6.0], "accuracy": [1, 1, 0]}],
    "b": [{"steps": [7.0, 8.0], "accuracy": [0, 1]}, {"steps": [9.0, 10.0, 11.0], "accuracy": [1, 1, 1]}],
}


def t_interval(x, values):
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    return [[low, high], np.mean(values), [x, x]]


def welch_interval(x, a, b, level):
    low, high = stats.ttest_ind(b, a, equal_var=False).confidence_interval(level)
    return [[low, high], np.mean(b) - np.mean(a), [x, x]]


HALTS, ODD, RIGHT_AT = [1, 2, 2], [1, 1, 0], [[1, 0, 1], [0, 1, 0], [0, 1, 1]]  # of three inputs

ACT, FIXED = RUNS.values()
RIGHT = {name: [{key: row[key] for key in ("accuracy", "learnt")} for row in rows] for name, rows in RUNS.items()}
LEARNT = [0.9, 0.8, 0.6]  # the mean of the two that learnt
ROWS = [{"kind": kind, "network": k, **row} for kind in LOGS for k, log in enumerate(LOGS[kind]) for row in log]
T = [t_interval(0.1, RISES[setting]) for setting in RISES if setting[2] == 0.1]
DIFFERENCE = welch_interval(0.1, RISES["small", "a", 0.1], RISES["small", "b", 0.1], 0.9)
SIZES = [0.1 - 0.035, 0.1 + 0.035, 0.9 - 0.035]  # the places of both sizes
FIGURES = {
    "film": Drawn(draw.film, (MOMENTS, 2, P_G, 8), written=["50", "65", "98"]),
    "own time": Drawn(draw.draw_own_time, (0.95, BY_STEP[1]), written=["95", "80"]),
    "best fixed steps": Drawn(
        draw.draw_best_fixed_steps,
        (OWN, [(0.98, 0.7), (0.96, 0.94)], 0.3),
        written=["1", "2", "0.1", "0.3", "0.9"],
        start=0,
    ),
    "stopped at": Drawn(evidence.stopped_at, (SCORES,)),
    "steps by k": Drawn(
        draw.steps_by_k,
        (STEPS, K),
        COMPUTED,
        {NOT_LEARNT: STEPS[1]["steps"], HALTING: STEPS[0]["steps"]},
        ["+2.0", "+2.5"],
    ),
    "map": Drawn(
        draw.draw_map,
        (HALTS, ODD, RIGHT_AT),
        [0, [1 / 3, 2 / 3, 2 / 3], [1, 2, 3]],
        {HALTING: [*HALTS, 0]},
        ["1", "2"],
        sideways=True,
    ),
    "rises": Drawn(
        draw.rises,
        (OUTCOMES, (-3.0, 9.0), "more", ("a", "b"), 0.9),
        [*T, DIFFERENCE, SIZES],
        {UNDECIDED: [T[0][:2], DIFFERENCE[:2], 0.5, 1.0], HALTING: [part[:2] for part in T[1:]]},
        ["7", "10"],
    ),
    "rises of one size": Drawn(
        draw.rises,
        (OUTCOMES[OUTCOMES["size"] == "small"], (-3.0, 9.0), "more", ("a", "b"), 0.9),
        [*T, DIFFERENCE],
        written=["7", "10"],
    ),
    "fractions": Drawn(
        evidence.draw_fractions,
        (OUTCOMES.drop(columns="rise"), "networks"),
        [[0, 0], [0, 1], [1, 2 / 9], [1, 0], [0.1, 0.9]],
        {COLOURS[0]: [0, 1, 2 / 9]},
    ),
    "beyond": Drawn(
        evidence.draw_beyond,
        (K, RIGHT, 2, CHANGE, "change"),
        [LEARNT, t_interval(-0.12, CHANGE["ACT"])],
        {GREY: [0.5, 0.4, 0.6, 0.3]},
        ["2", "3", "0", "1"],
    ),
    "by cap": Drawn(
        evidence.draw_by_cap, (BY_CAP, 2), colours={AMBERS[0]: ACT[0]["steps"], BLUES[2]: ACT[2]["accuracy"]}
    ),
    "accuracy and steps": Drawn(
        evidence.accuracy_and_steps, (K, RUNS, 2, 20), colours={GREY: [0.5, 0.4, 0.6, 0.3, 5, 6, 7, 20]}
    ),
    "learning curves": Drawn(
        learning_curves, (pd.DataFrame(ROWS), {"steps": "n", "accuracy": "right"}, {"accuracy": 0.5})
    ),
    "by ones": Drawn(draw.by_ones, (BY_ONES,), colours={AMBERS[0]: [3, 2, 7, 8]}, start=0),
}


test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("parity", FIGURES)


def test_a_counter_is_called_one_and_so_is_who_takes_all_the_steps():
    counter = [{"steps": [20.0 - 2 * ones for ones in range(k + 1)], "accuracy": [1.0] * (k + 1)} for k in (4, 8)]
    shifted = [counter[0], {**counter[1], "steps": [n + 10 for n in counter[1]["steps"]]}]  # k counts as well
    slow = [{"steps": [20.0, 19.5] + [20.0] * (k - 1)} for k in (4, 8)]
    flat = [{"steps": [9.0 - ones / 10 for ones in range(k + 1)], "accuracy": [1.0] * (k + 1)} for k in (4, 8)]
    upwards = [{**line, "steps": [24.0 - n for n in line["steps"]]} for line in counter]
    counting, rising, *others = [draw.pace(lines) for lines in (counter, upwards, shifted, slow, flat)]
    assert counting == rising
    assert (others[0], numbers(others[1]), others[2]) == ("", ["20"], "")
    falls, rises = draw.by_ones({"one": counter, "two": upwards}).axes
    assert counting in written(falls)
    assert falls.texts[0].get_position()[1] > 0.5 > rises.texts[0].get_position()[1]  # on the side without a line
    for ax in draw.by_ones({"below": flat, "above": upwards}).axes:
        assert ax.get_ylim()[0] == 0
        assert ax.get_ylim()[1] > 20  # the panel that reaches highest


def test_the_order_in_which_halting_is_learnt_is_seen_if_the_prior_comes_first_and_easy_inputs_lead():
    assert draw.widest_gap(MOMENTS) == 2
    assert draw.nearest_to_prior(MOMENTS, P_G) == 1
    others = [(1, MOMENTS), (3, MOMENTS), (1, MOMENTS[1:])]  # too early; no gap; the prior comes first
    assert len({draw.in_which_order(rows, moment, P_G) for moment, rows in others}) == 1
    assert draw.in_which_order(MOMENTS, 2, P_G) != draw.in_which_order(MOMENTS, 1, P_G)


def test_sentences_about_steps_have_their_numbers():
    more = [-0.04, -1.0, 2.04]
    assert draw.signed(more[0]) == "+0.0"
    assert numbers(draw.what_the_seed_does(more)) == ["\N{MINUS SIGN}1.0", "+2.0"]
    assert numbers(draw.cost_of_harder_inputs(more, 8)) == ["2", "8", "1", "3", "\N{MINUS SIGN}1.0", "+2.0"]


def test_stored_runs_are_compared_at_their_best_fixed_steps_and_the_worst_is_drawn():
    setting = {"elements": 2, "k_max": 2, "accuracy": [1.0, 1.0], "by_step": [[1.0, 0.5], [0.5, 0.9]], "seed": 0}
    worst = {"lambda_p": 0.1, "seed": 1, "by_step": [[0.5, 0.6], [0.5, 0.8]]}
    rows = [{"lambda_p": 0.9}, {"lambda_p": 0.1}, worst, {"lambda_p": 0.1, "accuracy": [1.0, 0.6]}]  # not learnt
    rows = [setting | row for row in rows]
    compared = draw.own_and_fixed(rows)
    assert [*compared.items()] == [(0.1, [(1.0, 0.75), (1.0, 0.7)]), (0.9, [(1.0, 0.75)])]
    assert draw.worst_at_fixed_steps(rows) == rows[2]
    assert draw.right_by_step(rows[2]) == [0.5, 0.7]
    assert draw.worst_at_fixed_steps([]) is None
    mine = [(0.95, 0.6), (0.95, 0.94), (1.0, 0.9)]
    assert numbers(draw.how_many_lose(mine, {0.1: [(1.0, 0.5)]})) == ["1", "1", "2", "3", "5"]
    assert numbers(draw.how_many_lose(mine, {})) == ["2", "3", "5"]


def test_the_map_says_whether_one_column_does_as_well():
    column = [[0, 1, 0]] * 3
    assert draw.what_the_map_shows(HALTS, RIGHT_AT) != draw.what_the_map_shows([2, 2, 2], column)


def test_the_two_most_frequent_cases_are_told_with_their_answers():
    halts, odd, right = [1, 2, 2, 2, 2], [1, 1, 1, 0, 0], [[1, 1, 1, 1]] + [[1, 1, 0, 0]] * 2 + [[0, 0, 1, 0]] * 2
    lines = draw.most_frequent(halts, odd, [row[:3] for row in right])
    assert [numbers(line) for line in lines] == [["2", "1", "3", "2"]] * 2
    assert lines[0] == lines[1].replace("even inputs", "odd inputs")  # both are told: odd, odd, even


def test_each_method_says_how_many_learn_and_their_steps_at_both_ends():
    row = {"network": "ACT", "k_max": 64, "accuracy": [1.0] * 64, "steps": [3.0, *[5.0] * 62, 9.0]}
    lines = draw.learnt_by_method([row, {**row, "accuracy": [0.5] * 64}])
    found = {line.partition(":")[0]: numbers(line.partition(":")[2]) for line in lines}
    assert found["ACT"] == ["1", "2", "1", "64", "3", "9"]
    assert found["PonderNet"] == ["0", "0"]
