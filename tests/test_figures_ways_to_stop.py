"""The figures of lesson 06 draw the data that they are given, where they belong and in the colours of their method."""

import io

import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from notebook_code import function
from scipy.stats import t as student_t

from ponder_course.experiments.ways_to_stop_ranking import Regret
from ponder_course.figures import ways_to_stop as draw
from ponder_course.figures.style import BLACK, BLUE, COLOURS, GREEN, ORANGE

draw_signals = function("06_ways_to_stop", "draw_signals")
draw_judges = function("06_the_table", "draw_judges")

CURVES = [[0.5, 0.9, 0.95, 1.0], [0.5, 0.6, 0.7, 0.8]]
OTHERS = [[0.1, 0.1, 0.8, 0.9], [0.0, 0.2, 0.1, 0.3]]


def signals():
    return draw_signals({"a": CURVES, "b": OTHERS}, {"short": 2, "hopeless": None}, {"a": 0.9, "b": 0.5})


def tradeoffs():
    act = [[(0.9, 7), (0.5, 3)], [(0.8, 2), (0.6, 2)]]
    lines = {"ACT": act, "coin": [[(0.6, 4)]], "coin 2": [[(0.7, 5), (0.4, 8)]]}
    families = {"ACT": "a price", "coin": "a prior", "coin 2": "a prior"}
    return draw.tradeoffs({"lines": lines, "noisy": {"coin": [[(0.4, 6)]]}}, families, {"lines": 3.5})


RUNS = {
    "lines": {"ACT": [Regret(0.01, 0.02), Regret(0.03, 0.0)], "coin": [Regret(0.2, 0.1)]},
    "noisy": {"coin": [Regret(-0.01, 0.3), Regret(-0.02, 0.001)]},
}


def regrets(cut=25):
    live = {"lines": {"ACT": Regret(0.05, 0.01)}, "noisy": {"coin": Regret(0.0, 0.04)}}
    return draw.regrets(RUNS, {"ACT": "a price", "coin": "a prior"}, live, cut)


JUDGES = [{"yes": [1.0, 0.5, None], "right": [1.0, 0.4, 0.2]}, {"yes": [0.9, 0.6, 0.3], "right": [1.0, 0.5, 0.1]}]


def judges():
    return draw_judges(JUDGES)


FIGURES = {"signals": signals, "tradeoffs": tradeoffs, "regrets": regrets, "judges": judges}


def named(ax):
    return {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}


def test_signals_are_drawn_over_the_steps_each_with_its_own_limit():
    for ax, curves, level, title in zip(signals().axes, (CURVES, OTHERS), (0.9, 0.5), "ab", strict=True):
        assert ax.get_title() == title
        lines = named(ax)
        assert [*lines] == ["short", "hopeless", "a level to stop at"]
        for i, (line, curve) in enumerate(zip(lines.values(), curves, strict=False)):
            assert [*line.get_xdata()] == [1, 2, 3, 4]
            assert [*line.get_ydata()] == curve
            assert line.get_color() == COLOURS[i]
        assert {*lines["a level to stop at"].get_ydata()} == {level}
        (limit,) = [line for line in ax.get_lines() if line.get_linestyle() == ":"]  # the hopeless line has none
        assert {*limit.get_xdata()} == {2}
        assert limit.get_color() == lines["short"].get_color()


def test_a_line_without_a_need_of_its_own_is_not_left_out():
    with pytest.raises(ValueError, match="zip"):
        draw_signals({"a": CURVES}, {"short": 2}, {"a": 0.9})


def test_a_tradeoff_is_drawn_in_the_order_of_its_steps_in_the_colour_of_who_pays():
    first, second = tradeoffs().axes
    curves = [[*zip(*line.get_data(), strict=True)] for line in first.get_lines()]
    assert curves == [[(3, 0.5), (7, 0.9)], [(2, 0.6), (2, 0.8)], [(4, 0.6)], [(5, 0.7), (8, 0.4)], [(3.5, 1.0)]]
    assert [to_hex(line.get_color()).upper() for line in first.get_lines()] == [ORANGE, ORANGE, GREEN, GREEN, BLACK]
    act, coin, other, star = named(first).values()
    assert [line.get_label() for line in (act, coin, other)] == ["ACT", "coin", "coin 2"]
    assert coin.get_marker() == act.get_marker() != other.get_marker()  # of one family each has its own
    assert star.get_marker() == "*"
    (alone,) = second.get_lines()  # no star where no need is known
    assert [*zip(*alone.get_data(), strict=True)] == [(6, 0.4)]
    assert (first.get_xlabel(), first.get_ylabel()) == ("mean steps", "right answers")


def test_a_regret_is_drawn_in_two_parts_one_after_the_other():
    first, second = regrets().axes
    bars = [(bar.get_x(), bar.get_width(), bar.get_y() + bar.get_height() / 2) for bar in first.patches]
    assert bars == [pytest.approx(bar) for bar in ((0, 2, 0), (2, 1, 0), (0, 20, 1), (20, 10, 1))]
    assert [bool(bar.get_hatch()) for bar in first.patches] == [False, True, False, True]
    assert [to_hex(bar.get_edgecolor()).upper() for bar in first.patches[1::2]] == [ORANGE, GREEN]
    bars = [(bar.get_x(), bar.get_width()) for bar in second.patches]
    assert bars == [pytest.approx(bar) for bar in ((0, -1.5), (-1.5, 15.05))]
    assert [label.get_text() for label in first.get_yticklabels()] == ["ACT", "coin"]
    assert first.get_ylim() == (1.5, -0.5)  # the first row on top
    assert second.get_xlim()[0] < -1.9  # what is below zero is seen


def marked(ax, marker):
    return [[*zip(*line.get_data(), strict=True)] for line in ax.get_lines() if line.get_marker() == marker]


def test_every_run_is_a_ring_and_the_interval_of_their_mean_a_line():
    first, second = regrets().axes
    assert marked(first, "o") == [[pytest.approx((3, 0)), pytest.approx((3, 0))], []]
    assert marked(second, "o") == [[pytest.approx((-1.9, 1))]]
    half = student_t.ppf(0.975, 1) * np.std([29, -1.9], ddof=1) / 2**0.5
    (line,) = [line for line in second.get_lines() if line.get_linewidth() == 2]
    assert [*line.get_xdata()] == pytest.approx([13.55 - half, 13.55 + half])
    assert [*line.get_ydata()] == [1, 1]
    assert marked(first, "D") == [[pytest.approx((6, 0))]]
    assert marked(second, "D") == [[pytest.approx((4, 1))]]


def test_what_lies_beyond_the_cut_is_said():
    first, second = regrets().axes
    assert [text.get_text() for text in first.texts] == ["30"]
    assert first.texts[0].get_position() == pytest.approx((25.25, 1))
    for ax in (first, second):
        (((x, row),),) = marked(ax, ">")
        assert x < ax.get_xlim()[1] == 25
        assert row == 1
    assert not second.texts  # its mean is not beyond
    whole, _ = regrets(cut=None).axes
    assert not marked(whole, ">")
    assert not whole.texts
    assert whole.get_xlim()[1] > 30


def test_the_legend_says_who_pays_in_the_colours_of_the_bars():
    (legend,) = regrets().legends
    colours = {text.get_text(): patch for text, patch in zip(legend.get_texts(), legend.get_patches(), strict=True)}
    assert [*colours] == ["nobody", "a price", "a prior", "a judge", "lost for wrong answers"]
    assert to_hex(colours["nobody"].get_facecolor()).upper() == BLUE
    assert to_hex(colours["a price"].get_facecolor()).upper() == ORANGE


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
