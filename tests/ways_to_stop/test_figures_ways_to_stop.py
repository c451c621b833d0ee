"""The figures of lesson 06 draw the data that they are given, where they belong and in the colours of their method."""

import io

import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex

from ponder_course.common.style import BLACK, BLUE, DARK_GREY, GREEN, LIMIT, ORANGE, PURPLE
from ponder_course.light_cone.figures import Votes
from ponder_course.ways_to_stop import figures as draw
from ponder_course.ways_to_stop.figures import (
    agree_since,
    behind,
    bet_1a,
    bet_2,
    draw_judges,
    draw_message,
    draw_signals,
    finding,
    guess,
    in_words,
    jump_in_time,
    lacking,
    none_is_safe,
    not_before,
    on_worst_kind,
    outcome,
    partly_lucky,
    who_stops,
    worst_of_each,
)
from ponder_course.ways_to_stop.regret import Regret, Setting, ThreeQuestions
from ponder_utils import LineParityTask, LocalStep, PonderNet

CURVES = [[0.5, 0.9, 0.95, 1.0], [0.5, 0.6, 0.7, 0.8]]
OTHERS = [[0.1, 0.1, 0.8, 0.9], [0.0, 0.2, 0.1, 0.3]]


def signals():
    colours = {"a": BLUE, "b": GREEN}
    signals_of, needs = {"a": CURVES, "b": OTHERS}, {"short": 2, "hopeless": None}
    return draw_signals(signals_of, needs, {"a": 0.9, "b": 0.5}, colours, {"a": "sum of a", "b": "b itself"})


def tradeoffs(labels=None):
    act = [[(0.9, 7), (0.5, 3)], [(0.8, 2), (0.6, 2)]]
    lines = {"ACT": act, "coin": [[(0.6, 4)]], "coin 2": [[(0.7, 5), (0.4, 8)]]}
    families = {"ACT": "a price", "coin": "a prior", "coin 2": "a prior"}
    return draw.tradeoffs({"lines": lines, "noisy": {"coin": [[(0.4, 6)]]}}, families, {"lines": 3.5}, labels)


RUNS = {
    "lines": {"ACT": [Regret(0.01, 0.02), Regret(0.03, 0.0)], "coin": [Regret(0.2, 0.1)]},
    "noisy": {"coin": [Regret(-0.01, 0.3), Regret(-0.02, 0.001)]},
}


def regrets(cut=25):
    return draw.regrets(RUNS, {"ACT": "a price", "coin": "a prior"}, cut)


NO = [[0.9, 0.1], [0.2, 0.8], [0.3, 0.4], [0.0, 0.1]]
VOTES = [Votes(NO, [1, 0], 2, 3, "first bit 1"), Votes(NO[::-1], [0, 0], 3, 3, "first bit 0")]


def message():
    return draw_message(VOTES)


JUDGES = [{"yes": [1.0, 0.5, None], "right": [1.0, 0.4, 0.2]}, {"yes": [0.9, 0.6, 0.3], "right": [1.0, 0.5, 0.1]}]


def judges():
    return draw_judges(JUDGES)


FIGURES = {"signals": signals, "tradeoffs": tradeoffs, "regrets": regrets, "judges": judges, "message": message}


def named(ax):
    return {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}


def test_signals_are_drawn_in_the_colour_of_their_method_each_line_with_its_own_limit():
    rows = zip(signals().axes, (CURVES, OTHERS), (0.9, 0.5), "ab", (BLUE, GREEN), strict=True)
    for ax, curves, level, title, colour in rows:
        assert (ax.get_title(), ax.get_ylabel()) == (title, {"a": "sum of a", "b": "b itself"}[title])
        lines = named(ax)
        assert [*lines] == ["short", "hopeless"]
        for line, curve in zip(lines.values(), curves, strict=True):
            assert [*line.get_xdata()] == [1, 2, 3, 4]
            assert [*line.get_ydata()] == curve
            assert line.get_color() == colour
        rings = [[*zip(*line.get_data(), strict=True)] for line in ax.get_lines() if line.get_markersize() == 13]
        steps = [[n for n, value in enumerate(curve, 1) if value >= level][:1] for curve in curves]
        stops = zip(curves, steps, strict=True)
        assert rings == [[(n, curve[n - 1])] for curve, step in stops for n in step]  # none where it never stops
        assert [line.get_markerfacecolor() for line in lines.values()] == [colour, "none"]
        (limit,) = [line for line in ax.get_lines() if line.get_color() == BLACK]  # the hopeless line has no limit
        (stop,) = [line for line in ax.get_lines() if line.get_color() == DARK_GREY]
        assert ({*limit.get_xdata()}, limit.get_linestyle()) == ({2}, "-")
        assert ({*stop.get_ydata()}, stop.get_linestyle()) == ({level}, "--")
        short, hopeless = curves
        assert {text.get_text(): text.xy for text in ax.texts} == {
            "short": (2, 1.2),
            "an answer": (4, short[-1]),
            "hopeless": (4, hopeless[-1]),
            f"stops at {level}": (0, level),
        }


def test_a_low_level_is_named_at_the_right_and_lines_that_all_have_an_answer_have_no_names():
    (ax,) = draw_signals({"a": CURVES}, {"L=2": 2, "L=3": 3}, {"a": 0.2}, {"a": PURPLE}, {"a": "a"}).axes
    assert {text.get_text(): text.xy for text in ax.texts} == {
        "L=2": (2, 1.05),
        "L=3": (3, 1.05),
        "stops at 0.2": (1, 0.2),
    }
    assert ax.title.get_color() == draw.WRITTEN[PURPLE]


def test_a_line_without_a_need_of_its_own_is_not_left_out():
    with pytest.raises(ValueError, match="zip"):
        draw_signals({"a": CURVES}, {"short": 2}, {"a": 0.9}, {"a": BLUE}, {"a": "sum of a"})


@pytest.mark.parametrize(("level", "found"), [(0.9, "The a"), (0.97, "None"), (0.15, "None"), (2.0, "None")])
def test_the_finding_names_who_reaches_the_level_at_the_very_step(level, found):
    curves = {"a's yes": [[0.1, 0.95, 1.0], [0.1, 0.2, 1.0]], "b": [[0.1, 0.95, 1.0], [0.1, 0.95, 1.0]]}
    needs = {"L = 2": 2, "L = 3": 3}
    sentence = jump_in_time(curves, needs, {"a's yes": level, "b": level})
    assert sentence == f"{found} reaches its level exactly at step $L$"
    both = {"certainty": curves["a's yes"], "judge's yes": curves["a's yes"]}
    sentence = jump_in_time(both, needs, dict.fromkeys(both, 0.9))
    assert sentence == "Certainty and the judge reach their levels exactly at step $L$"
    by_name = {"PonderNet's head": curves["a's yes"]}
    assert (
        jump_in_time(by_name, needs, dict.fromkeys(by_name, 0.9)) == "PonderNet reaches its level exactly at step $L$"
    )
    three = {"certainty": curves["a's yes"]} | dict.fromkeys(("coin's bias", "judge's yes"), curves["a's yes"])
    sentence = jump_in_time(three, needs, dict.fromkeys(three, 0.9))
    assert sentence == "Certainty, the coin and the judge reach their levels exactly at step $L$"


def test_the_bets_are_settled_in_words():
    late = {"certainty": [0, 0, 0], "budget": [1, 2, 1], "PonderNet's head": [0, 0, 3], "judge's yes": [0, 0, 0]}
    assert bet_1a(late) == (
        "**Bet 1 (a)**, at these levels: certainty and the judge stop at $L$ on every line, the budget on none, "
        "PonderNet's head on about 7 of ten. Furthest from $L$ is the budget, by 1.3 steps on average."
    )
    late_by_one = [1.0]
    nobody = bet_1a(dict.fromkeys(("certainty", "PonderNet's head", "judge's yes"), late_by_one))
    assert nobody.startswith("**Bet 1 (a)**, at these levels: certainty, PonderNet's head and the judge stop at $L$ on")
    early = {"certainty": [-4, 1], "budget": [0] * 49 + [1], "judge's yes": [0] + [1] * 49}
    assert bet_1a(early) == (
        "**Bet 1 (a)**, at these levels: certainty stops at $L$ on none, the budget on about 9 of ten, "
        "the judge on about 1 of ten. Furthest from $L$ is certainty, by 2.5 steps on average."
    )
    settled = "**Bet 2:** before step $L$ the two networks stop 32 and 20 of the 64 lines, and are right on"
    assert bet_2([(32, 32), (20, 20)], 64) == f"{settled} all of these."
    assert bet_2([(32, 31), (20, 20)], 64) == f"{settled} 31 and 20 of these."


def test_fresh_networks_stand_beside_those_that_chose():
    assert on_worst_kind(RUNS_OF_BOTH, "ACT") == pytest.approx([30])
    assert on_worst_kind(RUNS_OF_BOTH, "coin") == pytest.approx([16, 12])
    assert partly_lucky([0.5, 0.7], [4.0, 3.0, 5.0]).endswith(
        "lost 0.6 hundredths with the 2 networks that chose its settings, and 4.0 with 3 fresh ones."
    )


def test_the_findings_say_what_the_numbers_say():
    assert [who_stops(CURVES, level) for level in (0.5, 0.65, 0.9)] == [
        "stops at step 1",
        "stops at step 3",
        "never stops",
    ]
    assert worst_of_each(RUNS_OF_BOTH) == pytest.approx({"ACT": 30, "coin": 14})
    one_kind = {"lines": {"ACT": [Regret(0.0, 0.0269)], "coin": [Regret(0.1, 0.0)]}}
    assert none_is_safe(one_kind) == "None is safe: each loses more than 2 hundredths\non some kind of question"
    one_kind["lines"]["coin"] = [Regret(0.0, 0.009)]
    assert none_is_safe(one_kind) == "On none of these kinds of question\ncoin loses a hundredth of an answer"
    assert behind("ACT", RUNS_OF_BOTH["noisy"]) == pytest.approx(16)
    assert behind("coin", RUNS_OF_BOTH["noisy"]) == 0


RUNS_OF_BOTH = {
    "lines": {"ACT": [Regret(0.01, 0.02), Regret(0.03, 0.0)], "coin": [Regret(0.05, 0.01)]},
    "noisy": {"ACT": [Regret(0.2, 0.1)], "coin": [Regret(0.1, 0.06), Regret(0.02, 0.1)]},
}


def test_a_tradeoff_is_drawn_in_the_order_of_its_steps_in_the_colour_of_what_training_adds():
    first, second = tradeoffs().axes
    curves = [[*zip(*line.get_data(), strict=True)] for line in first.get_lines()]
    assert curves == [[(3, 0.5), (7, 0.9)], [(2, 0.6), (2, 0.8)], [(4, 0.6)], [(5, 0.7), (8, 0.4)], [(3.5, 1.0)]]
    assert [to_hex(line.get_color()).upper() for line in first.get_lines()] == [ORANGE, ORANGE, GREEN, GREEN, BLACK]
    act, coin, other, star = named(first).values()
    assert [line.get_label() for line in (act, coin, other)] == ["ACT", "coin", "coin 2"]
    assert coin.get_marker() == act.get_marker() != other.get_marker()  # of one family each has its own
    assert star.get_marker() == "*"
    assert (star.get_markerfacecolor(), star.get_zorder() < act.get_zorder()) == ("none", True)  # hides no winner
    (alone,) = second.get_lines()  # no star where no need is known
    assert [*zip(*alone.get_data(), strict=True)] == [(6, 0.4)]
    assert (first.get_xlabel(), first.get_ylabel()) == ("mean steps", "right answers")


def test_names_stand_at_the_first_points_of_their_curves():
    figure = tradeoffs({"ACT": (3, 4), "coin 2": (-5, 0)})
    first, second = figure.axes
    found = {text.get_text(): (text.xy, text.get_position(), text.get_ha()) for text in first.texts}
    assert found == {
        "ACT": ((3, 0.5), (3, 4), "left"),
        "coin 2": ((5, 0.7), (-5, 0), "right"),
        "the best clock": ((3.5, 1.0), (-12, 24), "right"),
    }
    assert not second.texts
    assert not figure.legends
    assert tradeoffs().legends


def marked(ax, marker):
    return [[*zip(*line.get_data(), strict=True)] for line in ax.get_lines() if line.get_marker() == marker]


def test_every_run_is_a_ring_and_their_mean_a_dot_with_a_number():
    first, second = regrets(cut=None).axes
    act, act_mean, coin, coin_mean = [[pytest.approx(point) for point in points] for points in marked(first, "o")]
    assert (act, act_mean, coin, coin_mean) == ([(3, 0), (3, 0)], [(3, 0)], [(30, 1)], [(30, 1)])
    assert marked(second, "o") == [[pytest.approx((29, 1)), pytest.approx((-1.9, 1))], [pytest.approx((13.55, 1))]]
    for ax, numbers in ((first, {-0.5: "mean", 0: "3.0", 1: "30.0"}), (second, {-0.5: "mean", 1: "13.5"})):
        beside = [text for text in ax.texts if text.get_text() != "best clock"]
        assert {text.get_position()[1]: text.get_text() for text in beside} == numbers
        assert not marked(ax, ">")
        low, high = ax.get_xlim()
        assert low < -1.9
        assert high > 30
    assert first.get_xlim() == second.get_xlim()
    assert [label.get_text() for label in first.get_yticklabels()] == ["ACT", "coin"]
    assert first.get_ylim() == (1.5, -0.5)  # the first row on top
    assert [text.get_position() for text in first.texts if text.get_text() == "best clock"] == [(0, -0.5)]
    label = "regret, hundredths of an answer (stretched near 0)"  # one, in the middle of all panels
    assert [ax.get_xlabel().strip() for ax in (first, second)] == ["", label]


def test_a_regret_has_the_colour_of_what_training_adds():
    first, _ = regrets().axes
    rings = [line for line in first.get_lines() if line.get_marker() == "o"]
    assert [to_hex(line.get_color()).upper() for line in rings] == [ORANGE, ORANGE, GREEN, GREEN]
    assert [label.get_color() for label in first.get_yticklabels()] == [draw.WRITTEN[ORANGE], GREEN]
    numbers = {text.get_text(): text.get_color() for text in first.texts}
    assert (numbers["3.0"], numbers["30.0"]) == (draw.WRITTEN[ORANGE], GREEN)
    assert not regrets().legends  # a colour for each row: nothing to say
    (legend,) = draw.regrets(RUNS_OF_BOTH, {"ACT": "a prior", "coin": "a prior"}).legends
    (patch,), (text,) = legend.get_patches(), legend.get_texts()
    assert (to_hex(patch.get_facecolor()).upper(), text.get_text()) == (GREEN, "a prior")
    (legend,) = draw.regrets(RUNS_OF_BOTH, {"ACT": "nobody", "coin": "nobody"}).legends  # as METHODS have it
    (patch,), (text,) = legend.get_patches(), legend.get_texts()
    assert (to_hex(patch.get_facecolor()).upper(), text.get_text()) == (BLUE, "nothing")


def test_what_lies_beyond_the_cut_is_an_arrow_head_and_the_mean_is_written():
    first, second = regrets().axes
    for ax in (first, second):
        (((x, row),),) = marked(ax, ">")
        assert 25 < x < ax.get_xlim()[1]
        assert row == 1
    assert first.texts[2].get_text() == "30.0"
    assert marked(first, "o")[3] == [(25, 1)]  # at the edge
    assert marked(second, "o")[0] == [pytest.approx((-1.9, 1))]


def test_votes_are_drawn_until_the_line_halts_and_bits_unlike_those_of_the_first_line_are_bold():
    for ax, line in zip(message().axes, VOTES, strict=True):
        (image,) = ax.images
        np.testing.assert_array_equal(image.get_array(), line.no[: line.halts])
        assert image.get_extent() == [0.5, 2.5, line.halts + 0.5, 0.5]
        assert ax.get_ylim() == (4.5, 0.5)
        (after,) = ax.patches  # the rows after the halt: none of them is drawn, all of them are hatched
        assert (after.get_hatch(), after.get_y(), after.get_y() + after.get_height()) == (
            "//",
            line.halts + 0.5,
            len(line.no) + 0.5,
        )
        rules = {rule.get_color(): {*rule.get_ydata()} for rule in ax.get_lines()}
        assert rules == {LIMIT: {line.need - 0.5}, GREEN: {line.halts - 0.5}}  # in time they lie together
        bits = [(text.get_text(), text.get_weight(), text.xy) for text in ax.texts if hasattr(text, "xy")]
        bold = "bold" if line is VOTES[1] else "normal"
        assert bits == [(str(line.bits[0]), bold, (1, 0.5)), (str(line.bits[1]), "normal", (2, 0.5))]
        words = {text.get_text(): text.get_position()[1] for text in ax.texts if not hasattr(text, "xy")}
        assert words == ({"halts at 2": 2, "$L$ = 3": 3} if line.halts < 3 else {"halts at 3 = $L$": 3})
        assert ax.get_title() == line.title
    (key,) = message().legends
    assert [text.get_text() for text in key.get_texts()] == ["dark: votes no", "it halts", "step $L$", "after the halt"]
    colours = [handle.get_color() for handle in key.legend_handles if hasattr(handle, "get_color")]
    assert colours == [GREEN, LIMIT]


def test_what_decides_is_true_of_all_lines_that_halt_early_and_of_no_other():
    bits = torch.tensor([[first, second, third] for first in (0, 1) for second in (0, 1) for third in (0, 1)])
    assert guess(bits[:, 0] == 1, bits) == "its first bit is 1"
    assert guess(bits[:, 0] == 0, bits) == "its first bit is 0"
    assert guess(bits[:, 0] != bits[:, 1], bits) == "its first 2 bits have an odd sum"
    for early in (bits[:, 1] == 1, bits[:, 0] > 1, (bits[:, 0] == 1) & (bits[:, 2] == 1)):
        assert guess(early, bits) == ""


def test_what_a_line_and_its_twin_show_is_said_of_when_they_halt():
    def lines(halts):
        return [Votes(NO, [1, 0], step, 6, "") for step in halts]

    titles = [outcome(line) for line in lines([3, 5, 6, 7])]
    assert titles == ["3 steps early", "1 step early", "in time", "1 step late"]
    twins = [Votes(NO, [1, 0], 5, 6, ""), Votes(NO, [0, 0], 6, 6, "")]
    halts = "First bit 1: it halts at step 5. First bit 0: at step 6"
    assert finding(twins, correct=True) == f"{halts}. Both are right"
    assert finding(twins, correct=False) == halts
    unheard = [[True] * 6] * 3 + [[True, False, True, True, False, False]]  # right, [steps, places]
    objects = twins[0]._replace(no=[[0.9] * 6] * 3 + [[0.9, 0.1, 0.1, 0.1, 0.1, 0.9]] + [[0.1] * 6] * 2)
    assert not_before(objects, unheard) == (
        "Section 6, left panel, step 4: places 2, 5 and 6 still guess wrong, and places 1 and 6 object."
    )
    unheard[-1] = [True] * 5 + [False]
    alone = objects._replace(no=[[0.9] * 6] * 3 + [[0.9, 0.1, 0.1, 0.1, 0.1, 0.1]])
    sentence = "Section 6, left panel, step 4: place 6 still guesses wrong, and place 1 objects."
    assert not_before(alone, unheard) == sentence
    assert not_before(alone, [[True] * 6] * 4) == ""  # nothing is wrong
    assert not_before(alone._replace(no=[[0.0] * 6] * 4), unheard) == ""  # nobody objects
    assert not_before(alone._replace(halts=1), unheard) == ""  # no step before
    line, twin = lines([5, 6])
    line, quiet = (each._replace(no=[[0.1, 0.7]] * 6) for each in (line, twin))
    assert in_words([line, quiet]) == ""
    alone, both = ([[0.0, 0.0]] * 4 + [no] for no in ([0.1, 0.9], [0.9, 0.9]))
    assert in_words([line, twin._replace(no=alone)]) == (
        "Right panel, step 5: place 2, which has heard the first bit, is the only one to object, and holds up the "
        "whole line."
    )
    assert in_words([line, twin._replace(no=both)]) == (
        "Right panel, step 5: places 1 and 2, which have heard the first bit, object, and hold up the whole line."
    )
    assert lacking((1, 0, 0, 0, 0, 0), 3) == (
        "Step 3: place 4 has not heard the first bit, place 5 the first 2, place 6 the first 3. "
        "Each assumes that what it lacks sums to an odd number. Here it does, so nobody objects."
    )
    assert "sums to an even number" in lacking((0, 0, 1, 1, 1, 1), 4)
    assert lacking((1, 1, 0, 0, 0, 0), 3) == lacking((1, 0, 0, 0, 0, 0), 5) == ""
    assert in_words(lines([6, 6])) == "No line of the network drawn halts early."


def test_from_which_step_on_objections_and_mistakes_are_the_same():
    def since(quiet, correct):
        return agree_since(torch.tensor(quiet), torch.tensor(correct))

    assert since([[True, False], [False, False], [True, False]], [[True, False]] * 3) == 3
    assert since([[True, False]] * 3, [[True, False]] * 3) == 1
    assert since([[True, False], [True, True]], [[True, False]] * 2) == 3  # after the last: never
    assert since([[True, True], [False, False]], [[True, False], [True, False]]) == 3


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_the_same_whatever_the_readers_style(name):
    def pixels():
        buffer = io.BytesIO()
        FIGURES[name]().savefig(buffer, format="png")
        buffer.seek(0)
        return matplotlib.image.imread(buffer)

    plain = pixels()
    with plt.rc_context({"figure.facecolor": "black", "axes.facecolor": "black", "text.color": "white"}):
        assert np.array_equal(pixels(), plain)
    assert (plain[0, 0, :3] == 1).all()


def test_judges_are_drawn_beside_how_often_they_are_right_and_a_coin_for_each_open_place():
    (ax,) = judges().axes
    *runs, coins = ax.get_lines()
    assert coins.get_ydata().tolist() == [1, 0.5, 0.25]
    assert coins.get_label() == "a coin for every open place"
    drawn = [line.get_ydata().tolist() for line in runs]
    for judge, yes, right in zip(JUDGES, drawn[::2], drawn[1::2], strict=True):
        np.testing.assert_equal(yes, np.array(judge["yes"], float))
        assert right == judge["right"]
    assert [line.get_label() for line in runs[:2]] == ["the judge's yes", "right"]
    assert ax.get_yscale() == "log"


def test_what_each_looks_at_is_picked_by_line():
    looks = torch.arange(6.0).reshape(3, 2)  # [N, lines]
    curves, levels = draw.of_lines({"certainty": (looks, 0.9), "judge": (looks + 10, 0.2)}, [1, 0])
    assert curves == {"certainty": [[1, 3, 5], [0, 2, 4]], "judge": [[11, 13, 15], [10, 12, 14]]}
    assert levels == {"certainty": 0.9, "judge": 0.2}
    stops = {"certainty": 0.9, "PonderNet's head": 0.5}
    found = draw.stops_without_an_answer({"certainty": CURVES, "PonderNet's head": CURVES}, stops)
    assert found == "No answer: certainty never stops, PonderNet's head stops at step 1"


def test_kinds_of_question_have_the_titles_of_their_panels_and_methods_their_short_names():
    stored = {"lines": [{"seed": 1}], "no answer": [], "one answer": [{"seed": 2}], "8 elements": [{"seed": 3}]}
    asked = {"every line\nhas an answer": [{"seed": 1}], "only one place\nis asked": [{"seed": 2}]}
    assert draw.kinds_of_question(stored) == asked
    runs = [Regret(0.01, 0.02)]
    rows, pays = draw.under({"ACT": "budget", "PonderNet, threshold": "head"}, {"lines": {"ACT": runs, "CALM": runs}})
    assert rows == {"lines": {"budget": runs}}
    assert pays == {"budget": "a price", "head": "a prior"}


def test_the_findings_of_regrets_name_who_loses_and_by_how_much():
    cheap = {"asked": {"ACT": [Regret(0.001, 0.0)], "coin": [Regret(0.05, 0.01)], "judge": [Regret(0.2, 0.0)]}}
    assert draw.who_loses(cheap) == "Where one place is asked, coin and judge lose\nmore than a hundredth of an answer"
    same = "the same step for all"
    panels = {
        title: {"same step for all": [Regret(loss, 0)], "ACT": [Regret(0.01, 0)]}
        for title, loss in (("on lines", 0.034), ("on 8 elements", 0.012))
    }
    assert draw.same_step_behind(panels).lower() == f"{same}: 2.4 behind the best on lines,\n0.2 on 8 elements"


def test_points_of_a_network_are_those_of_its_training_and_rule():
    measured = {
        who: {test: {"rules": {"fixed": [[value, 1]], "confidence": [[value, 2]]}} for test, value in tests.items()}
        for who, tests in (("nothing", {"near": 0.1, "far": 0.2}), ("a price", {"near": 0.3, "far": 0.4}))
    }
    ways = {"certainty": ("nothing", "confidence"), "budget": ("a price", "fixed")}
    assert draw.points(measured, ways, ["near", "far"]) == {
        "near": {"certainty": [[[0.1, 2]]], "budget": [[[0.3, 1]]]},
        "far": {"certainty": [[[0.2, 2]]], "budget": [[[0.4, 1]]]},
    }
    found = {"certainty": [[(0.98, 3), (0.99, 7.04), (1.0, 9)]], "same step for all": [[(0.5, 20)]]}
    assert draw.steps_to_be_right(found) == (
        "99 % right: certainty takes 7.0 steps, the same step for all more steps than it has"
    )


def test_what_the_table_says_is_what_it_holds(monkeypatch):
    asked = {
        "a judge": ThreeQuestions([0.01, 0.03], [0.05, 0.01], [0.2], Setting("judge", 1, 1)),
        "the answers alone": ThreeQuestions([0.02, 0.0212], [0.04, 0.0678], [0.1], Setting("certainty", 1, 1)),
    }
    assert draw.which_loses_least(asked) == (
        "*If you know the kind of question,* **the answers alone** lose least: at most 2.12 hundredths. *If one "
        "setting must do for all three,* what each family chose loses 5.00 or more on one of them."
    )
    chose = {"judge": [0.001, 0.0345], "certainty": [0.05, 0.001]}
    monkeypatch.setattr(draw.regret, "mean_regrets", lambda problems, setting, test, price: chose[setting.name])
    seemed = "With the networks that chose the settings, the best was **a judge**: at most 3.45."
    assert draw.seemed_best(asked, {}, 0.005) == seemed


def test_halts_are_those_of_the_network_by_itself():
    torch.manual_seed(0)
    model = PonderNet(LocalStep(2, 4), 6).eval()
    x = draw.clock.fresh_lines("one segment", 4)  # all 16 lines
    y = LineParityTask.answers(x)
    found = draw.halts_of(model, x, q=0.5)
    by_itself, every = model.predict(x, "threshold", q=0.5), model(x)
    assert torch.equal(found.steps, by_itself.steps)
    right_then = ((by_itself.y_hat > 0) == (y > 0.5)).all(1)
    assert torch.equal(found.right.bool(), right_then)
    assert torch.equal(found.early, by_itself.steps < 4)
    at_fixed_steps = ((every.y_hat > 0) == (y > 0.5)).all(2).float().mean(1)
    assert found.fixed == at_fixed_steps[:3].max()
    assert found.stopped == (int((by_itself.steps < 4).sum()), int(right_then[by_itself.steps < 4].sum()))

    lines, correct, right = draw.line_and_twin(model, x, found, q=0.5)
    line, twin, soonest = lines
    assert [bit != other for bit, other in zip(line.bits, twin.bits, strict=True)] == [True, False, False, False]
    of_line = {tuple(bits): n for bits, n in zip(x[:, 0].int().tolist(), found.steps.tolist(), strict=True)}
    assert [each.halts for each in lines] == [of_line[tuple(each.bits)] for each in lines]
    assert line.halts == max([n for n in of_line.values() if n < 4], default=line.halts)
    assert soonest.halts <= min(found.steps[right_then].tolist(), default=soonest.halts)
    which = [x[:, 0].int().tolist().index(each.bits) for each in lines]
    assert correct == bool(right_then[which[:2]].all())
    assert torch.equal(right, ((every.y_hat > 0) == (y > 0.5))[:, which])
    assert line.title == f"first bit {line.bits[0]}: {outcome(line)}"


def test_halts_are_said_in_words():
    right = torch.tensor([1.0, 1.0, 0.0, 1.0])
    found = draw.Halts(torch.tensor([2, 3, 3, 5]), right, torch.tensor([True, True, True, False]), 0.5, 2, 4)
    assert draw.halts_in_words(found) == (
        "best fixed step before 4: right 50%. By itself: right 75% after 3.25 steps; 3 of 4 lines halt early, "
        "2 of them right."
    )
    assert draw.no_objection([2, 5, 4], 6) == (
        "network 1: at steps 2 to 5 a line meets no objection exactly if all its answers are right\n"
        "network 3: at steps 4 to 5 a line meets no objection exactly if all its answers are right\n"
    )


def test_local_rules_by_hand_are_never_wrong():
    x, y = LineParityTask(8).batch(20, torch.Generator().manual_seed(0))
    words = draw.by_hand_in_words(x, y, 10, torch.full((20,), 3.5))
    assert words.startswith("by hand: right 100.0% after ")
    assert words.endswith(" steps; the best clock takes 3.50")


def test_stored_networks_are_counted_by_length(monkeypatch):
    rows = [{"places": places, "speaks": speaks} for places, speaks in ((4, 1), (4, 0), (8, 1), (16, 1), (16, None))]
    monkeypatch.setattr(draw.clock, "has_learnt", lambda row: row["speaks"] is not None)
    monkeypatch.setattr(draw.clock, "speaks", lambda row: bool(row["speaks"]))
    monkeypatch.setattr(
        draw.clock, "at_own_length", lambda row: {"rules": {"threshold": {"steps": float(row["places"])}}}
    )
    table = draw.early_by_length(rows)
    assert [*table] == ["L = 4", "L = 8", "L = 16"]
    assert table["L = 4"] == {
        "stored networks": 2, "have learnt": 2, "halt early and right": 1, "after steps": "4.00",
    }  # fmt: skip
    assert [row["have learnt"] for row in table.values()] == [2, 1, 1]
    assert draw.halt_early_and_right(rows) == (
        "Of the stored networks that have learnt lines of 4, 6 or 8 places, 2 of 3 halt early and right."
    )
    travel = "where votes must travel, one place a step: 3 of 4 halt early and right"
    assert draw.votes_that_travel(rows) == travel
