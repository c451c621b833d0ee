"""The figures of lesson 03 draw the numbers that they are given."""

import numpy as np
import pandas as pd
import pytest
from drawn import check, pairs, points
from notebook_code import function

from ponder_course.figures import parity as draw
from ponder_course.figures.style import BLACK, COLOURS, GREY, MARKERS, ORANGE
from ponder_utils.evaluation import Score

draw_over_training = function("03_parity", "draw_over_training")
draw_two_counts = function("03_parity", "draw_two_counts")
draw_traces = function("03_parity", "draw_traces")
draw_fractions = function("03_prior_and_divergence", "draw_fractions")
draw_beyond = function("03_beyond_the_border", "draw_beyond")
METHODS = function("03_beyond_the_border", "METHODS")
draw_accuracy_and_steps = function("03_papers_size", "draw_accuracy_and_steps")

K, PRIOR = [1, 2, 3], [0.5, 0.3, 0.2]
BY_STEP = [[0.5, 0.6, 0.9], [0.4, 0.8, 0.7]]
WATCHED = pd.DataFrame(
    {"kind": kind, "network": k, "update": u, "easy": [0.6 - u / 100, 0.3, 0.1 + u / 100], "hard": [0.2, 0.3, 0.5]}
    | {"easy right": 0.7 + u / 16 + k, "hard right": 0.5 + u / 16}
    for kind in ("a", "b") for k in range(2) for u in (0, 9)
)  # fmt: skip
SCORES = {
    "one": [Score(0.95, 2.5, BY_STEP[0], PRIOR), Score(0.85, 1.5, BY_STEP[1], PRIOR)],
    "two": [Score(0.75, 2.2, BY_STEP[1], PRIOR)],
}
COUNTS = {
    "one": [
        {"steps": [2.0, 3.0, 4.0], "by_ones": [1.0, 5.0, 6.0, 7.0], "learnt": True},
        {"steps": [2.5, 3.5, 4.5], "by_ones": [1.5, 5.5, 6.5, 7.5], "learnt": False},
    ],
    "two": [{"steps": [8.0, 9.0, 9.5], "by_ones": [8.0, 8.2, 8.4, 8.6], "learnt": True}],
}
RUNS = {
    "ACT": [
        {"accuracy": [1.0, 0.9, 0.8], "steps": [1.0, 2.0, 3.0], "learnt": True},
        {"accuracy": [0.5, 0.4, 0.6], "steps": [5.0, 6.0, 7.0], "learnt": False},
        {"accuracy": [0.8, 0.7, 0.4], "steps": [2.0, 3.0, 4.0], "learnt": True},
    ],
    "fixed": [{"accuracy": [0.6, 0.5, 0.3], "steps": [20.0] * 3, "learnt": False}],
}
CHANGE = {"ACT": [1.0, 2.0, 6.0]}
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
    "answers": [[0.1, 0.2, 0.9], [0.6, 0.5, 0.4]],
    "halting": [[0.3, 0.35, 0.5], [0.7, 0.75, 0.8]],
    "p": [PRIOR, PRIOR[::-1]],
    "inputs": [[0, 1], [-1, 1]],
    "targets": [1, 0],
}
FIGURES = {
    "over_training": lambda: draw_over_training(WATCHED, {"easy": "k = 1", "hard": "k = 8"}, PRIOR, [0, 9]),
    "stopped_at": lambda: draw.stopped_at(SCORES),
    "two_counts": lambda: draw_two_counts(COUNTS, K, "steps"),
    "traces": lambda: draw_traces(**TRACES),
    "rises": lambda: draw.rises(OUTCOMES, (-3, 4), "more"),
    "fractions": lambda: draw_fractions(OUTCOMES, "networks"),
    "beyond": lambda: draw_beyond(K, RUNS, 2, CHANGE, "change"),
    "accuracy_and_steps": lambda: draw_accuracy_and_steps(K, RUNS, 2, 20),
    "by_ones": lambda: draw.by_ones(BY_ONES, [1, 2]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_labelled_and_legible_whatever_the_readers_style(name):
    figure = check(FIGURES[name])
    assert all(ax.get_xlabel() for ax in figure.axes)


def test_the_moments_of_training_are_columns_and_every_network_a_line():
    axes = FIGURES["over_training"]().axes
    assert [ax.get_title() for ax in axes] == ["0 updates", "9 updates", "accuracy", "", "", ""]
    for row, colour in ((axes[:3], COLOURS[0]), (axes[3:], COLOURS[1])):
        for ax, update in zip(row[:2], (0, 9), strict=True):
            easy = [0.6 - update / 100, 0.3, 0.1 + update / 100]
            assert points(ax, color=colour) == [pairs(K, easy)] * 2
            assert points(ax, color=BLACK, linestyle="--") == [pairs(K, [0.2, 0.3, 0.5])] * 2
            assert points(ax, linestyle=":") == [pairs(K, PRIOR)]
        assert points(row[2], color=colour) == [pairs([0, 9], [0.7 + k, 0.7 + 9 / 16 + k]) for k in range(2)]
        assert points(row[2], color=BLACK) == [pairs([0, 9], [0.5, 0.5 + 9 / 16])] * 2
        assert [line[0][0] for line in points(row[2], color=GREY, linestyle=":")] == [0, 9]
    assert [ax.get_ylabel() for ax in axes] == ["a\n$p_n$", "", "", "b\n$p_n$", "", ""]


def test_stopped_at_a_step_and_where_halting_lands():
    one, two = FIGURES["stopped_at"]().axes
    assert (one.get_title(), two.get_title()) == ("one", "two")
    assert points(one, markersize=5.5) == [pairs(K, by_step) for by_step in BY_STEP]
    assert points(one, markersize=12) == [[[2.5, 0.95]], [[1.5, 0.85]]]
    assert points(two, markersize=5.5) == [pairs(K, BY_STEP[1])]
    assert points(two, markersize=12) == [[[2.2, 0.75]]]
    assert {line.get_color() for line in two.get_lines()} == {COLOURS[1], BLACK}


def test_steps_by_two_counts_stand_side_by_side():
    axes = FIGURES["two_counts"]().axes
    assert [ax.get_title() for ax in axes] == ["one", "one", "two", "two"]
    assert [("not 0" in ax.get_xlabel()) for ax in axes] == [True, False, True, False]
    for ax, networks in zip(axes[::2], COUNTS.values(), strict=True):
        assert points(ax) == [pairs(K, network["steps"]) for network in networks]
    for ax, networks in zip(axes[1::2], COUNTS.values(), strict=True):
        assert points(ax) == [pairs([0, 1, 2, 3], network["by_ones"]) for network in networks]
    assert points(axes[0], color=GREY) == [pairs(K, COUNTS["one"][1]["steps"])]
    assert points(axes[2], color=COLOURS[1]) == [pairs(K, COUNTS["two"][0]["steps"])]


def test_a_network_looks_the_same_in_every_figure():
    for name in ("stopped_at", "two_counts"):
        small = [line for line in FIGURES[name]().axes[0].get_lines() if line.get_markersize() == 5.5]
        assert [line.get_marker() for line in small if len(line.get_xdata())] == [*MARKERS[:2]]


def test_traces_have_the_answer_above_and_halting_below():
    axes = FIGURES["traces"]().axes
    minus, dot = "\N{MINUS SIGN}", "\N{MIDDLE DOT}"
    assert [ax.get_title() for ax in axes] == [f"{dot} +", f"{minus} +", "", ""]
    for i in range(2):
        above, below = axes[i], axes[i + 2]
        assert points(above, color=COLOURS[0]) == [pairs(K, TRACES["answers"][i])]
        assert {y for _, y in points(above, linestyle=":")[0]} == {TRACES["targets"][i]}
        assert points(below, color=ORANGE) == [pairs(K, TRACES["halting"][i])]
        bars = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in below.patches]
        assert bars == [pytest.approx(pair) for pair in zip(K, TRACES["p"][i], strict=True)]


def test_a_rise_is_a_mean_with_its_interval_or_a_cross_for_each_run_and_others_are_counted():
    small, large = FIGURES["rises"]().axes
    low, high = (2 + sign * 4.3027 / 3**0.5 for sign in (-1, 1))  # Student's t, two degrees of freedom
    x = 0.1 - 0.05 / 2
    interval, mark = points(small, color=COLOURS[0])[:2]
    assert interval == [pytest.approx([x, low], rel=1e-4), pytest.approx([x, high], rel=1e-4)]
    assert mark == [[pytest.approx(x), 2]]
    x = 0.9 - 0.05 / 2
    assert points(small, color=COLOURS[0])[2:] == [[[pytest.approx(x), 0.5], [pytest.approx(x), 1]]]
    assert points(small, color=COLOURS[1]) == []
    x = 0.1 + 0.05 / 2
    assert points(large, color=COLOURS[1]) == [[[pytest.approx(x), -2]] * 2, [[pytest.approx(x), -2]]]
    assert points(large, color=COLOURS[0]) == []
    rows = {text.get_text()[:-1]: text.get_position()[1] for text in small.texts if text.get_text().endswith(":")}
    assert [*rows] == ["not learnt", "crashed"]
    numbers = {(round(text.get_position()[0], 3), text.get_position()[1]): text.get_text() for text in small.texts}
    assert numbers[0.875, rows["not learnt"]] == "7"
    assert numbers[0.875, rows["crashed"]] == "1"
    assert numbers[0.125, rows["crashed"]] == "10"
    assert len(small.texts) == 2 + 3
    assert not large.texts


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
            steps = pairs(range(len(line["steps"])), line["steps"])
            assert points(ax, color=COLOURS[which], linestyle="-") == [steps]
            often = [right >= 0.9 for right in line["accuracy"]]
            full = [point for point, right in zip(steps, often, strict=True) if right]
            hollow = [point for point, right in zip(steps, often, strict=True) if not right]
            size = 7.5 - 1.5 * which
            marks = {"markersize": size, "color": COLOURS[which], "linestyle": "None"}
            assert points(ax, **marks, markerfacecolor=COLOURS[which]) == [full]
            assert points(ax, **marks, markerfacecolor="white") == ([hollow] if hollow else [])
    labels = [text.get_text() for text in FIGURES["by_ones"]().legends[0].get_texts()]
    assert labels == ["$k$ = 1", "$k$ = 2", "often wrong"]
