"""The figures of lesson 03 draw the numbers that they are given."""

import numpy as np
import pandas as pd
import pytest
import torch
from drawn import bars, check, pairs, points, written
from scipy import stats

from ponder_course.common.style import (
    ANSWER,
    COLOURS,
    DARK_ORANGE,
    DASHES,
    GREY,
    HALTING,
    MARKERS,
    NOT_LEARNT,
    PRIOR,
)
from ponder_course.parity import figures as draw
from ponder_course.parity.experiment import SIZES
from ponder_course.parity.figures import (
    METHODS,
    SHADES,
    apart,
    draw_accuracy_and_steps,
    draw_beyond,
    draw_by_cap,
    draw_fractions,
    draw_halting,
    draw_learning,
    draw_own_time,
    draw_steps,
    draw_traces,
)
from ponder_utils.evaluation import Score
from ponder_utils.halting import PonderOutput, halting_log_probs

K, P_G = [1, 2, 3], [0.5, 0.3, 0.2]
BY_STEP = [[0.5, 0.6, 0.9], [0.4, 0.8, 0.7]]
MOMENTS = [
    {"update": u, "easy": [0.6, 0.3, 0.1 + u / 1e4], "hard": [0.2, 0.3, 0.5], "easy right": 1.0, "hard right": 0.55}
    for u in (0, 50, 500, 2000)
]
LEARNING = pd.DataFrame(
    {"kind": kind, "network": k, "update": u, "accuracy": 0.5 + u / 100 + k / 10, "steps": 2 + k + u / 9}
    for kind in ("a", "b") for k in range(2) for u in (0, 9)
)  # fmt: skip
OWN = {0.1: [(1.0, 0.64), (0.99, 0.97)], 0.9: [(1.0, 1.0)]}  # lambda_p: by itself, at the best fixed step
SCORES = {
    "one": [Score(0.95, 2.5, BY_STEP[0], P_G), Score(0.85, 1.5, BY_STEP[1], P_G)],
    "two": [Score(0.75, 2.2, BY_STEP[1], P_G)],
}
STEPS = {"one": [[2.0, 3.0, 4.0], [2.5, 3.5, 4.1]], "two": [[8.0, 9.0, 9.5]]}
ENDS, LEARNT = {"one": ["+2", "+1.6"], "two": ["+1.5"]}, {"one": [True, False], "two": [True]}
RUNS = {
    "ACT": [
        {"accuracy": [1.0, 0.9, 0.8], "steps": [1.0, 2.0, 3.0], "learnt": True},
        {"accuracy": [0.5, 0.4, 0.6], "steps": [5.0, 6.0, 7.0], "learnt": False},
        {"accuracy": [0.8, 0.7, 0.4], "steps": [2.0, 3.0, 4.0], "learnt": True},
    ],
    "fixed": [{"accuracy": [0.6, 0.5, 0.3], "steps": [20.0] * 3, "learnt": False}],
}
CHANGE = {"ACT": [1.0, 2.0, 6.0]}
BY_CAP = {  # at caps of 20, 40 and 60 the first three runs of ACT, and three times the other
    "ACT": [{"learnt": True, "by_cap": dict(zip(("20", "40", "60"), RUNS["ACT"], strict=True))}],
    "fixed": [{"learnt": False, "by_cap": dict.fromkeys(("20", "40", "60"), RUNS["fixed"][0])}],
}
OUTCOMES = pd.DataFrame(
    [("small", "paper's", 0.1, "learnt", rise) for rise in (1.0, 2.0, 3.0)]
    + [("small", "paper's", 0.9, "learnt", rise) for rise in (0.5, 1.0)]
    + [("small", "paper's", 0.9, "not learnt", np.nan)] * 7
    + [("small", "paper's", 0.9, "crashed", np.nan)]
    + [("small", "reversed", 0.1, "crashed", np.nan)] * 10
    + [("large", "reversed", 0.1, "learnt", -2.0)] * 3,
    columns=["size", "loss", "lambda_p", "outcome", "rise"],
)
BY_ONES = {
    "a": [{"steps": [3.0, 2.0], "accuracy": [1.0, 0.95]}, {"steps": [4.0, 5.0, 6.0], "accuracy": [1.0, 0.9, 0.5]}],
    "b": [{"steps": [7.0, 8.0], "accuracy": [0.1, 1.0]}, {"steps": [9.0, 10.0, 11.0], "accuracy": [1.0, 1.0, 1.0]}],
}
TRACES = {
    "answers": {"one": [0.1, 0.2, 0.9], "two": [0.6, 0.5, 0.4]},
    "halting": [[0.3, 0.35, 0.5], [0.7, 0.75, 0.8]],
    "p": [P_G, P_G[::-1]],
    "target": 1,
    "prior": 0.3,
}
FIGURES = {
    "halting": lambda: draw_halting(MOMENTS, P_G, 8, last=3),
    "learning": lambda: draw_learning(LEARNING),
    "own_time": lambda: draw_own_time(0.95, BY_STEP[1], P_G, OWN, 0.05),
    "own_time_alone": lambda: draw_own_time(0.95, BY_STEP[1], P_G, {}, 0.05),
    "stopped_at": lambda: draw.stopped_at(SCORES),
    "steps": lambda: draw_steps(STEPS, K, "non-zero", ENDS, LEARNT),
    "traces": lambda: draw_traces(**TRACES),
    "rises": lambda: draw.rises(OUTCOMES, (-3, 4), "more"),
    "fractions": lambda: draw_fractions(OUTCOMES, "networks"),
    "beyond": lambda: draw_beyond(K, RUNS, 2, CHANGE, "change"),
    "accuracy_and_steps": lambda: draw_accuracy_and_steps(K, RUNS, 2, 20),
    "by_cap": lambda: draw_by_cap(BY_CAP, 2),
    "by_ones": lambda: draw.by_ones(BY_ONES, [1, 2]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_labelled_and_legible_whatever_the_readers_style(name):
    figure = check(FIGURES[name])
    assert all(ax.get_xlabel() for ax in figure.axes)


def test_each_moment_of_training_has_both_distributions_the_prior_and_what_is_right():
    axes = FIGURES["halting"]().axes
    assert [ax.get_title() for ax in axes] == [f"{u:,} updates" for u in (0, 50, 500, 2000)]
    for ax, row in zip(axes, MOMENTS, strict=True):
        assert points(ax, color=HALTING) == [pairs(K, row["easy"])]
        assert points(ax, color=DARK_ORANGE, linestyle="--") == [pairs(K, row["hard"])]
        assert points(ax, color=PRIOR, linestyle=":") == [pairs(K, P_G)]
        assert written(ax)[:2] == ["easy, $k$ = 1: 100%", "hard, $k$ = 8: 55%"]
    assert [written(ax)[2:] for ax in axes] == [["prior"], [], [], []]


def test_every_network_learns_on_a_line_with_its_steps_in_the_end():
    accuracy, steps = FIGURES["learning"]().axes
    for ax, colour, column in ((accuracy, ANSWER, "accuracy"), (steps, HALTING, "steps")):
        for kind, dashes in zip("ab", DASHES, strict=False):
            networks = LEARNING[LEARNING["kind"] == kind].groupby("network")
            wanted = [pairs(network["update"], network[column]) for _, network in networks]
            assert points(ax, color=colour, linestyle=dashes) == wanted
    to_labels = points(steps, color=GREY)  # from where each line ends to its number
    assert [line[0] for line in to_labels] == [[9, 3.0], [9, 4.0]] * 2
    assert sorted(written(steps)) == ["3.0", "3.0", "4.0", "4.0"]


def test_a_networks_own_time_stands_beside_every_fixed_step_and_who_gains_is_counted():
    one, many = FIGURES["own_time"]().axes
    assert points(one, color=ANSWER) == [pairs(K, BY_STEP[1])]
    assert {y for _, y in points(one, color=HALTING)[0]} == {0.95}
    assert [bar[1] for bar in bars(one)] == P_G
    assert "halting by itself: 95%" in written(one)
    assert "all stop at step 2: 80%" in written(one)
    high, low = (text for text in one.texts if text.get_text().startswith(("halting", "all")))
    assert high.get_position()[1] - low.get_position()[1] > 0.1  # neither runs into the other
    marks = [(line.get_ydata()[0], line.get_markerfacecolor()) for line in many.lines if line.get_marker() == "o"]
    assert marks == [(0.64, ANSWER), (0.97, "white"), (1.0, "white")]
    assert [line[0][1] for line in points(many, color=HALTING)] == [1.0, 0.99, 1.0]
    assert written(many)[:2] == ["1 of\n2", "0 of\n1"]
    assert many.get_title() == "stored: 1 of 3"
    assert len(FIGURES["own_time_alone"]().axes) == 1


def test_stopped_at_a_step_and_where_halting_lands():
    one, two = FIGURES["stopped_at"]().axes
    assert (one.get_title(), two.get_title()) == ("one", "two")
    assert points(one, markersize=5.5) == [pairs(K, by_step) for by_step in BY_STEP]
    assert points(one, markersize=12) == [[[2.5, 0.95]], [[1.5, 0.85]]]
    assert points(two, markersize=5.5) == [pairs(K, BY_STEP[1])]
    assert points(two, markersize=12) == [[[2.2, 0.75]]]
    assert {line.get_color() for line in two.get_lines()} == {ANSWER, HALTING, GREY}


def test_steps_are_a_line_for_each_network_with_its_change_at_the_end():
    one, two = FIGURES["steps"]().axes
    assert (one.get_title(), two.get_title()) == ("one", "two")
    assert points(one, color=HALTING) == [pairs(K, STEPS["one"][0])]
    assert points(one, color=NOT_LEARNT) == [pairs(K, STEPS["one"][1])]
    assert points(two, color=HALTING) == [pairs(K, STEPS["two"][0])]
    assert (written(one), written(two)) == (ENDS["one"], ENDS["two"])
    heights = [text.get_position()[1] for text in one.texts]
    assert heights[1] - heights[0] > 0.5
    to_labels = points(one, color=GREY)  # from where each line ends to its number
    assert [line[0] for line in to_labels] == [[3, 4.0], [3, 4.1]]
    assert [line[1][1] for line in to_labels] == heights


def test_what_stands_too_close_is_moved_apart():
    moved = apart([3.0, 1.0, 1.1, 5.0], 0.5)
    assert moved == pytest.approx([3.0, 0.8, 1.3, 5.0])
    assert apart([1.0, 2.0], 0.5) == [1.0, 2.0]


def test_a_network_looks_the_same_in_every_figure():
    for name in ("stopped_at", "steps"):
        small = [line for line in FIGURES[name]().axes[0].get_lines() if line.get_markersize() == 5.5]
        assert [line.get_marker() for line in small if len(line.get_xdata())] == [*MARKERS[:2]]


def test_traces_have_the_answer_above_and_halting_below():
    axes = FIGURES["traces"]().axes
    assert [ax.get_title() for ax in axes] == ["one", "two", "", ""]
    for i, answer in enumerate(TRACES["answers"].values()):
        above, below = axes[i], axes[i + 2]
        assert points(above, color=ANSWER) == [pairs(K, answer)]
        assert {y for _, y in points(above, linestyle=":")[0]} == {TRACES["target"]}
        assert points(below, color=DARK_ORANGE) == [pairs(K, TRACES["halting"][i])]
        assert {y for _, y in points(below, color=PRIOR)[0]} == {TRACES["prior"]}
        found = [(n, height) for n, height, _ in bars(below)]
        assert found == [pytest.approx(pair) for pair in zip(K, TRACES["p"][i], strict=True)]


def test_a_rise_is_a_mean_with_its_interval_or_a_cross_for_each_run_and_others_are_counted():
    paper, turned = FIGURES["rises"]().axes
    assert (paper.get_title(), turned.get_title()) == ("paper's", "reversed")
    half = 4.3027 / 3**0.5  # Student's t, two degrees of freedom
    x = 0.1 - 0.07 / 2  # small
    interval, mark = points(paper, color=draw.UNDECIDED)[:2]
    assert interval == [pytest.approx([x, 2 - half], rel=1e-4), pytest.approx([x, 2 + half], rel=1e-4)]
    assert mark == [[pytest.approx(x), 2]]
    (hollow,) = [line for line in paper.lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert hollow.get_markerfacecolor() == "white"
    x = 0.9 - 0.07 / 2
    assert points(paper, marker="x") == [[[pytest.approx(x), 0.5], [pytest.approx(x), 1]]]
    assert points(paper, color=HALTING) == []
    x = 0.1 + 0.07 / 2  # large: the interval leaves out 0
    assert points(turned, color=HALTING) == [[[pytest.approx(x), -2]] * 2, [[pytest.approx(x), -2]]]
    heights = {text.get_text()[:-1]: text.get_position()[1] for text in paper.texts if text.get_text().endswith(":")}
    assert [*heights] == ["not learnt", "crashed"]
    numbers = {
        (round(t.get_position()[0], 3), t.get_position()[1]): t.get_text() for t in [*paper.texts, *turned.texts]
    }
    assert numbers[0.865, heights["not learnt"]] == "7"
    assert numbers[0.865, heights["crashed"]] == "1"
    assert numbers[0.065, heights["crashed"]] == "10"
    assert len(paper.texts) == 2 + 2
    assert len(turned.texts) == 1


def test_a_single_size_is_drawn_larger_and_without_a_legend():
    figure = draw.rises(OUTCOMES[OUTCOMES["size"] == "small"], (-3, 4), "more")
    assert not figure.legends
    assert FIGURES["rises"]().legends
    assert points(figure.axes[0], color=draw.UNDECIDED)[1] == [[pytest.approx(0.1), 2]]  # in the middle of its lambda_p
    (mark,) = [line for line in figure.axes[0].lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert mark.get_markersize() > 8
    assert {text.get_fontsize() for text in figure.axes[0].texts} == {14}


def test_the_difference_of_two_losses_has_welchs_interval_and_a_panel_of_its_own():
    values = {"paper's": [1.0, 2.0, 4.0], "reversed": [5.0, 5.5, 9.0, 8.0]}
    rows = [("large", loss, 0.3, "learnt", rise) for loss, rises in values.items() for rise in rises]
    table = pd.DataFrame([*rows, ("large", "reversed", 0.9, "learnt", 1.0)], columns=OUTCOMES.columns)
    *_, panel = draw.rises(table, (-3, 9), "more", [*values], level=0.9).axes
    assert panel.get_title() == "the difference"
    low, high = stats.ttest_ind(values["reversed"], values["paper's"], equal_var=False).confidence_interval(0.9)
    middle = np.mean(values["reversed"]) - np.mean(values["paper's"])
    ends = [pytest.approx([0.3, end]) for end in (low, high)]
    assert points(panel, color=HALTING) == [ends, [[0.3, pytest.approx(middle)]]]  # and nothing at 0.9


def test_runs_of_one_seed_are_averaged_if_they_learnt():
    setting = {"elements": 2, "k_max": 2, "loss": "a", "lambda_p": 0.1}
    runs = [
        (0, [1.0, 1.0], [2.0, 3.0]),
        (0, [1.0, 0.5], [9.0, 9.0]),
        (0, [1.0, 1.0], [4.0, 9.0]),
        (1, [0.5, 0.5], [7, 8]),
    ]
    rows = [{**setting, "seed": seed, "stopped": 0, "accuracy": right, "steps": steps} for seed, right, steps in runs]
    first, second = draw.by_seed(rows)
    assert (first["seed"], first["accuracy"], first["steps"]) == (0, [1.0, 1.0], [3.0, 6.0])
    assert second == rows[3]
    assert len(draw.by_seed([rows[0], rows[0] | {"loss": "b"}])) == 2


def test_fractions_of_networks_that_crashed_and_that_learnt():
    axes = FIGURES["fractions"]().axes
    titles = ["small: crashed", "small: learnt", "large: crashed", "large: learnt"]
    assert [ax.get_title() for ax in axes] == titles
    assert points(axes[0]) == [[[0.1, 0], [0.9, 0.1]], [[0.1, 1]]]
    assert points(axes[1]) == [[[0.1, 1], [0.9, 0.2]], [[0.1, 0]]]
    assert points(axes[2]) == [[[0.1, 0]]]
    assert points(axes[3]) == [[[0.1, 1]]]
    assert axes[0].get_legend_handles_labels()[1] == ["paper's", "reversed"]


def test_beyond_the_border_only_runs_that_learnt_are_in_a_mean_and_the_others_are_counted():
    act, fixed, change = FIGURES["beyond"]().axes
    assert (act.get_title(), fixed.get_title()) == ("ACT\n2 of 3 learnt", "fixed\n0 of 1 learnt")
    learnt = [pairs(K, RUNS["ACT"][i]["accuracy"]) for i in (0, 2)]
    mean = [pytest.approx(pair) for pair in pairs(K, [0.9, 0.8, 0.6])]
    assert points(act, color=COLOURS[METHODS[0]]) == [*learnt, mean]
    assert points(act, color=GREY) == [pairs(K, RUNS["ACT"][1]["accuracy"])]
    assert points(fixed, color=GREY) == [pairs(K, RUNS["fixed"][0]["accuracy"])]
    half = 4.3027 * 7**0.5 / 3**0.5  # Student's t, times the standard error of 1, 2, 6
    _, interval, middle = points(change)
    assert interval == [pytest.approx([-0.12, 3 - half], rel=1e-4), pytest.approx([-0.12, 3 + half], rel=1e-4)]
    assert middle == [[-0.12, 3]]
    assert change.collections[0].get_offsets().tolist() == [[0.18, value] for value in CHANGE["ACT"]]
    assert change.get_title() == "change"


def test_each_cap_has_a_shade_and_who_has_not_learnt_is_grey():
    axes = FIGURES["by_cap"]().axes
    assert [ax.get_title() for ax in axes] == ["ACT\n1 of 1 learnt", "fixed\n0 of 1 learnt", "", ""]
    for (learnt, other), column in ((axes[:2], "accuracy"), (axes[2:], "steps")):
        for shade, run in zip(SHADES[column], RUNS["ACT"], strict=True):
            assert points(learnt, color=shade) == [pairs(K, run[column])]
        assert points(other, color=GREY) == [pairs(K, RUNS["fixed"][0][column])] * 3


def test_accuracy_stands_above_steps():
    axes = FIGURES["accuracy_and_steps"]().axes
    assert [ax.get_ylabel() for ax in axes] == ["accuracy", "", "steps", ""]
    for i, networks in enumerate(RUNS.values()):
        for ax, column in ((axes[i], "accuracy"), (axes[i + 2], "steps")):
            for learnt, colour in ((True, COLOURS[i]), (False, GREY)):
                wanted = [pairs(K, network[column]) for network in networks if network["learnt"] == learnt]
                assert points(ax, color=colour) == wanted
            border = ax.patches[0].get_extents().transformed(ax.transData.inverted())
            assert (border.x0, border.x1) == (pytest.approx(2.5), pytest.approx(3.5))


def test_steps_by_ones_are_hollow_where_they_are_often_wrong():
    a, b = FIGURES["by_ones"]().axes
    assert (a.get_title(), b.get_title()) == ("a", "b")
    for ax, lines in ((a, BY_ONES["a"]), (b, BY_ONES["b"])):
        for which, line in enumerate(lines):
            steps, colour = pairs(range(len(line["steps"])), line["steps"]), draw.AMBERS[which]
            assert points(ax, color=colour, linestyle="-") == [steps]
            often = [right >= 0.9 for right in line["accuracy"]]
            full = [point for point, right in zip(steps, often, strict=True) if right]
            hollow = [point for point, right in zip(steps, often, strict=True) if not right]
            marks = {"markersize": 7.5 - 1.5 * which, "color": colour, "linestyle": "None"}
            assert points(ax, **marks, markerfacecolor=colour) == [full]
            assert points(ax, **marks, markerfacecolor="white") == ([hollow] if hollow else [])
    labels = [text.get_text() for text in FIGURES["by_ones"]().legends[0].get_texts()]
    assert labels == ["$k$ = 1", "$k$ = 2", "often wrong"]


def test_a_counter_is_called_one_and_so_is_who_takes_all_the_steps():
    counter = [{"steps": [20.0 - 2 * ones for ones in range(k + 1)], "accuracy": [1.0] * (k + 1)} for k in (4, 8)]
    shifted = [counter[0], {**counter[1], "steps": [n + 10 for n in counter[1]["steps"]]}]  # k counts as well
    slow = [{"steps": [20.0, 19.5] + [20.0] * (k - 1), "accuracy": [1.0] * (k + 1)} for k in (4, 8)]
    flat = [{"steps": [9.0 - ones / 10 for ones in range(k + 1)], "accuracy": [1.0] * (k + 1)} for k in (4, 8)]
    names = ["a counter", "", "takes all 20", ""]
    assert [draw.pace(lines, 20) for lines in (counter, shifted, slow, flat)] == names
    assert draw.pace(slow, 40) == ""
    upwards = [{**line, "steps": [24.0 - n for n in line["steps"]]} for line in counter]
    falls, rises = draw.by_ones({"one": counter, "two": upwards}, [4, 8]).axes
    assert written(falls) == written(rises) == ["a counter"]
    assert falls.texts[0].get_position()[1] > 0.5 > rises.texts[0].get_position()[1]  # on the side without a line
    for ax in draw.by_ones({"below": flat, "above": upwards}, [4, 8]).axes:
        assert ax.get_ylim()[0] == 0
        assert ax.get_ylim()[1] > 20  # the panel that reaches highest


HALFWAY = [  # of training: easy inputs come to the prior first, then the hump, on easy inputs first
    {"update": 0, "easy": [1.0, 0, 0], "hard": [1.0, 0, 0], "easy right": 0.5, "hard right": 0.5},
    {"update": 1, "easy": [0.6, 0.2, 0.2], "hard": P_G, "easy right": 0.6, "hard right": 0.5},
    {"update": 2, "easy": [0, 0.9, 0.1], "hard": [0.3, 0.4, 0.3], "easy right": 1.0, "hard right": 0.6},
    {"update": 3, "easy": [0, 1.0, 0], "hard": [0, 1.0, 0], "easy right": 1.0, "hard right": 1.0},
]


def test_the_film_shows_the_start_the_prior_the_moment_and_the_end():
    assert draw.widest_gap(HALFWAY) == 2
    assert draw.nearest_to_prior(HALFWAY, P_G) == 1
    axes = draw.film(HALFWAY, 2, P_G, 8, last=3).axes
    assert [ax.get_title() for ax in axes] == [f"{update} updates" for update in range(4)]
    assert draw.in_which_order(HALFWAY, 2, P_G) == draw.IN_ORDER
    for moment, rows in ((1, HALFWAY), (3, HALFWAY), (1, HALFWAY[1:])):  # too early; no gap; the prior comes first
        assert draw.in_which_order(rows, moment, P_G) == "The mass moves from step 1"


def test_logs_are_a_row_for_each_evaluation():
    table = draw.logs({"a": [(None, HALFWAY[:2])], "b": [(None, HALFWAY[:1]), (None, HALFWAY[2:])]})
    assert list(zip(table["kind"], table["network"], table["update"], strict=True)) == [
        ("a", 0, 0), ("a", 0, 1), ("b", 0, 0), ("b", 1, 2), ("b", 1, 3),
    ]  # fmt: skip


def test_what_the_seed_does_is_said_of_the_kind_that_is_furthest_apart():
    more = {"a": [0.1, 0.4], "b": [-1.0, 2.04]}
    apart = "Longer on harder inputs?\nFrom \N{MINUS SIGN}1.0 to +2.0 steps, by seed alone"
    assert draw.what_the_seed_does(more) == apart
    near = draw.what_the_seed_does({"a": more["a"]})
    assert near == "+0.1 to +0.4 steps on harder inputs:\nthe seed hardly matters"
    cost = "Bet 1: k = 8 instead of k = 1 costs your 4 networks \N{MINUS SIGN}1.0 to +2.0 steps"
    assert draw.cost_of_harder_inputs(more, 8) == cost
    assert draw.are_right([{"accuracy": [1.0, 0.98]}, {"accuracy": [1.0, 0.97]}]) == [True, False]


def test_steps_by_ones_end_in_what_the_count_explains():
    rows = [{"by_ones": [1.0, 2.0, 3.0], "explained": {"ones": 0.9, "k": 0.2}}]
    (ax,) = draw.steps_by_ones({"one": rows}, {"one": [True]}).axes
    assert points(ax, color=HALTING) == [pairs([0, 1, 2], [1.0, 2.0, 3.0])]
    assert written(ax) == ["90%, $k$ 20%"]
    other = [{"explained": {"ones": 0.1, "k": 0.2}}]
    expected = "The +1s explain more than k does\nin 1 of 1 networks here, 1 of 3 stored"
    assert draw.what_the_ones_explain(iter(rows), rows + other * 2) == expected


def test_what_own_time_gains_is_said_of_the_readers_network_or_else_of_stored_ones():
    setting = {"elements": 2, "k_max": 2, "accuracy": [1.0, 1.0], "by_step": [[1.0, 0.5], [0.5, 0.9]]}
    rows = [
        setting | {"lambda_p": 0.9},
        setting | {"lambda_p": 0.1},
        setting | {"lambda_p": 0.1, "accuracy": [1.0, 0.6]},
    ]
    compared = draw.own_and_fixed(rows)
    assert [*compared.items()] == [(0.1, [(1.0, 0.75)]), (0.9, [(1.0, 0.75)])]
    gaining, alike = Score(0.95, 2.0, [0.5, 0.6], P_G), Score(0.95, 2.0, [0.5, 0.94], P_G)
    found = "95% right when it halts by itself, at most 60% at any one step"
    assert draw.what_own_time_gains(gaining, compared) == found
    stored = "Yours: one step for all gets 94%, halting by itself 95%.\nStored: 2 of 2 lose five points or more"
    assert draw.what_own_time_gains(alike, compared).startswith(stored)
    assert draw.what_own_time_gains(alike, {}) == "Here one step does for all: 94% right, by itself 95%"


def test_who_rises_more_is_by_welch_at_each_prior():
    rows = []
    for lambda_p, reversed_rises in ((0.1, [2.0, 2.1, 1.9]), (0.3, [-2.0, -2.1, -1.9]), (0.5, [0.0, 0.1, -0.1])):
        for loss, rises in (("log space", [0.0, 0.1, -0.1]), ("log space, reversed", reversed_rises)):
            for seed, rise in enumerate(rises):
                setting = {"elements": 8, "k_max": 8, "loss": loss, "lambda_p": lambda_p, "seed": seed, "stopped": 0}
                rows.append({**setting, "accuracy": [1.0] * 8, "steps": [3.0] + [3.0 + rise] * 7})
    n_small = SIZES["small"]["elements"]
    small = [{**rows[0], "elements": n_small, "k_max": n_small, "accuracy": [1.0] * n_small, "steps": [3.0] * n_small}]
    table = draw.rises_of_large(rows + small + [{**rows[0], "loss": "textbook"}], ["a", "b"])
    assert len(table) == len(rows)
    assert set(table["loss"]) == {"a", "b"}
    expected = "Reversed rises more than the paper's at 0.1, less than the paper's at 0.3;\nat 3 of 5 priors undecided"
    assert draw.who_rises_more(table, ["a", "b"]) == expected
    alike = table[table["lambda_p"] == 0.5]
    assert draw.who_rises_more(alike, ["a", "b"]).startswith("Reversed rises no more and no less;")
    titles = [ax.get_title() for ax in draw.rises_and_difference(table, ["a", "b"]).axes]
    assert titles == ["a", "b", "reversed less the paper's"]


class Fixed(torch.nn.Module):
    """Answers and halts as it is set to, whatever the input."""

    def __init__(self, answers):
        super().__init__()
        self.answers = answers

    def forward(self, x):
        y_hat = torch.tensor(self.answers)[:, None]
        halt_logits = torch.zeros(len(self.answers), 1)
        return PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits))


def test_two_networks_on_their_way_are_those_least_and_likeliest_right_at_the_end():
    scores = {"a": [Score(1, 1, [0.1, 0.7], P_G), Score(1, 1, [0.9, 0.6], P_G)], "b": [Score(1, 1, [0.1, 0.9], P_G)]}
    passes, stays = Fixed([2.0, -2.0]), Fixed([2.0, 3.0])
    shown = draw.least_and_most_right(scores, {"a": [None, passes], "b": [stays]}, {"a": "A", "b": "B"})
    assert shown == {"network 1, A": passes, "network 0, B": stays}
    x = torch.tensor([[1.0, 0.0, -1.0]])
    figure, finding = draw.on_their_way(shown, x, 1.0, 0.3)
    assert finding == "Left the answer passes by, right it stays"
    assert draw.on_their_way(shown, x, 0.0, 0.3)[1] == "One input, two networks"
    for ax, model in zip(figure.axes, shown.values(), strict=False):
        drawn = points(ax, color=ANSWER)[0]
        assert drawn == pairs([1, 2], torch.tensor(model.answers).sigmoid().tolist())
    assert draw.signs(x) == "+ 0 \N{MINUS SIGN}"


def test_each_method_says_how_many_learn_and_their_steps_at_both_ends():
    row = {"network": "ACT", "k_max": 64, "accuracy": [1.0] * 64, "steps": [3.0, *[5.0] * 62, 9.0]}
    rows = [row, {**row, "accuracy": [0.5] * 64}]
    lines = {line.partition(":")[0]: line for line in draw.learnt_by_method(rows)}
    assert lines["ACT"] == "ACT: 1 of 2 learn it; steps at k = 1 and 64:  3  9"
    assert lines["PonderNet"] == "PonderNet: 0 of 0 learn it; steps at k = 1 and 64:  no runs  no runs"
