"""The figures of lesson 03 draw the numbers that they are given, and their sentences speak of these."""

import numpy as np
from drawn import image_of, lines_of, numbers, texts_of

from ponder_course.common.style import ANSWER, DARK_ORANGE, HALTING, NOT_LEARNT
from ponder_course.parity import figures as draw

P_G = [0.5, 0.3, 0.2]
MOMENTS = [  # of training: easy inputs come to the prior first, then the hump, on easy inputs first
    {"update": 0, "easy": [1.0, 0.0, 0.0], "hard": [1.0, 0.0, 0.0], "easy right": 0.5, "hard right": 0.55},
    {"update": 1, "easy": [0.6, 0.2, 0.2], "hard": P_G, "easy right": 0.6, "hard right": 0.5},
    {"update": 2, "easy": [0.0, 0.9, 0.1], "hard": [0.3, 0.4, 0.3], "easy right": 1.0, "hard right": 0.65},
    {"update": 3, "easy": [0.0, 1.0, 0.0], "hard": [0.0, 0.95, 0.05], "easy right": 1.0, "hard right": 0.98},
]
HALTS, ODD, RIGHT_AT = [1, 2, 2], [1, 1, 0], [[1, 0, 1], [0, 1, 0], [0, 1, 1]]  # of three inputs


def test_its_own_time_is_drawn_beside_every_fixed_step():
    by_step = [0.4, 0.8, 0.7]
    figure = draw.draw_own_time(0.95, by_step)
    (ax,) = figure.axes
    np.testing.assert_allclose(lines_of(ax, ANSWER), [[[1, 0.4], [2, 0.8], [3, 0.7]]])
    np.testing.assert_allclose(lines_of(ax, HALTING)[0][:, 1], 0.95)
    assert [numbers(text) for text in texts_of(figure) if ":" in text] == [["95"], ["80", "2"]]


def test_the_map_shows_where_inputs_are_right_and_where_they_halt():
    figure = draw.draw_map(HALTS, ODD, RIGHT_AT)
    ax, below = figure.axes
    np.testing.assert_array_equal(image_of(ax), RIGHT_AT)
    halting = ax.collections[0].get_segments()
    np.testing.assert_allclose([segment[:, 0] for segment in halting], [[1, 1], [2, 2], [2, 2]])
    np.testing.assert_allclose(lines_of(below, ANSWER), [[[1, 1 / 3], [2, 2 / 3], [3, 2 / 3]]])
    assert {"1 halt at step 1", "2 halt at step 2", "1 odd", "1 even"} <= {*texts_of(figure)}
    assert draw.what_the_map_shows(HALTS, RIGHT_AT) != draw.what_the_map_shows([2, 2, 2], [[0, 1, 0]] * 3)


def test_the_two_most_frequent_cases_are_told_with_their_answers():
    halts, odd, right = [1, 2, 2, 2, 2], [1, 1, 1, 0, 0], [[1, 1, 1, 1]] + [[1, 1, 0, 0]] * 2 + [[0, 0, 1, 0]] * 2
    lines = draw.most_frequent(halts, odd, [row[:3] for row in right])
    assert [numbers(line) for line in lines] == [["2", "1", "3", "2"]] * 2
    assert lines[0] == lines[1].replace("even inputs", "odd inputs")  # both are told: odd, odd, even


def test_networks_stand_at_their_best_fixed_steps_and_those_that_lose_are_full_and_counted():
    stored, mine = {0.1: [(1.0, 0.64), (0.99, 0.97)], 0.9: [(1.0, 0.99)]}, [(0.98, 0.7), (0.96, 0.94)]
    figure = draw.draw_best_fixed_steps(stored, mine, 0.3)
    (ax,) = figure.axes
    marks = [line for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())]
    assert [line.get_ydata()[0] for line in marks] == [0.64, 0.97, 0.99, 0.7, 0.94]
    assert [line.get_markerfacecolor() != "white" for line in marks] == [True, False, False, True, False]
    assert [line[0, 1] for line in lines_of(ax, HALTING)] == [1.0, 0.99, 1.0, 0.98, 0.96]
    assert {"1 of 2\nstored", "0 of 1\nstored", "1 of 2\nyours"} <= {*texts_of(figure)}
    assert numbers(draw.how_many_lose(mine, stored)) == ["1", "3", "1", "2", "5"]


def test_stored_runs_are_compared_at_their_best_fixed_steps_and_the_worst_is_found():
    setting = {"elements": 2, "k_max": 2, "accuracy": [1.0, 1.0], "by_step": [[1.0, 0.5], [0.5, 0.9]], "seed": 0}
    worst = {"lambda_p": 0.1, "seed": 1, "by_step": [[0.5, 0.6], [0.5, 0.8]]}
    rows = [{"lambda_p": 0.9}, {"lambda_p": 0.1}, worst, {"lambda_p": 0.1, "accuracy": [1.0, 0.6]}]  # not learnt
    rows = [setting | row for row in rows]
    compared = draw.own_and_fixed(rows)
    assert [*compared.items()] == [(0.1, [(1.0, 0.75), (1.0, 0.7)]), (0.9, [(1.0, 0.75)])]
    assert draw.worst_at_fixed_steps(rows) == rows[2]
    assert draw.right_by_step(rows[2]) == [0.5, 0.7]


def test_the_film_shows_the_start_the_prior_this_moment_and_the_end():
    assert draw.widest_gap(MOMENTS) == 2
    assert draw.nearest_to_prior(MOMENTS, P_G) == 1
    figure = draw.film(MOMENTS, 2, P_G, 8)
    for ax, row in zip(figure.axes, MOMENTS, strict=True):
        assert lines_of(ax, HALTING)[0][:, 1].tolist() == row["easy"]
        assert lines_of(ax, DARK_ORANGE)[0][:, 1].tolist() == row["hard"]
    assert [numbers(text)[-1] for text in texts_of(figure) if text.startswith("hard")] == ["55", "50", "65", "98"]
    others = [(1, MOMENTS), (3, MOMENTS), (1, MOMENTS[1:])]  # too early; no gap; the prior comes first
    assert len({draw.in_which_order(rows, moment, P_G) for moment, rows in others}) == 1
    assert draw.in_which_order(MOMENTS, 2, P_G) != draw.in_which_order(MOMENTS, 1, P_G)


def test_steps_by_k_end_with_their_change():
    rows = [{"steps": [1.0, 2.0, 3.0], "learnt": True}, {"steps": [5.0, 6.0, 7.5], "learnt": False}]
    figure = draw.steps_by_k(rows, range(1, 4))
    (ax,) = figure.axes
    np.testing.assert_allclose(lines_of(ax, HALTING), [[[1, 1], [2, 2], [3, 3]]])
    np.testing.assert_allclose(lines_of(ax, NOT_LEARNT), [[[1, 5], [2, 6], [3, 7.5]]])
    assert {"+2.0", "+2.5"} <= {*texts_of(figure)}
    more = [-0.04, -1.0, 2.04]
    assert draw.signed(more[0]) == "+0.0"
    assert numbers(draw.what_the_seed_does(more)) == ["\N{MINUS SIGN}1.0", "+2.0"]


def test_a_counter_is_called_one_and_so_is_who_takes_all_the_steps():
    counter = [{"steps": [20.0 - 2 * ones for ones in range(k + 1)], "accuracy": [1.0] * (k + 1)} for k in (4, 8)]
    shifted = [counter[0], {**counter[1], "steps": [n + 10 for n in counter[1]["steps"]]}]  # k counts as well
    slow = [{"steps": [20.0, 19.5] + [20.0] * (k - 1)} for k in (4, 8)]
    flat = [{"steps": [9.0 - ones / 10 for ones in range(k + 1)], "accuracy": [1.0] * (k + 1)} for k in (4, 8)]
    upwards = [{**line, "steps": [24.0 - n for n in line["steps"]]} for line in counter]
    counting, rising, *others = [draw.pace(lines) for lines in (counter, upwards, shifted, slow, flat)]
    assert counting == rising
    assert (others[0], numbers(others[1]), others[2]) == ("", ["20"], "")
    falls, _ = draw.by_ones({"one": counter, "two": upwards}).axes
    assert lines_of(falls, draw.AMBERS[0])[0].tolist() == [[ones, n] for ones, n in enumerate(counter[0]["steps"])]
    assert counting in [text.get_text() for text in falls.texts]


def test_each_method_says_how_many_learn_and_their_steps_at_both_ends():
    row = {"network": "ACT", "k_max": 64, "accuracy": [1.0] * 64, "steps": [3.0, *[5.0] * 62, 9.0]}
    lines = draw.learnt_by_method([row, {**row, "accuracy": [0.5] * 64}])
    found = {line.partition(":")[0]: numbers(line.partition(":")[2]) for line in lines}
    assert found["ACT"] == ["1", "2", "1", "64", "3", "9"]
    assert found["PonderNet"] == ["0", "0"]
