"""The drawings of networks show what they are given: what is taken, what is dark, what is written."""

import numpy as np
import pytest
from drawn import check, numbers, points, written
from matplotlib.colors import to_hex

from ponder_course.common import machines as draw
from ponder_course.common.style import BLUE

IMAGE = np.random.default_rng(0).random((28, 20))
FIGURES = {
    "act_cell": lambda: draw.act_cell([0.1, 0.3, 0.6, 0.5], [0.1, 0.3, 0.6]),
    "pondernet": lambda: draw.pondernet([0.2, 0.5, 1.0], [0.2, 0.4, 0.4]),
    "light_cone": lambda: draw.light_cone(6, 3, place=1),
    "readers": lambda: draw.readers(IMAGE),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_labelled_and_legible(name):
    check(FIGURES[name])


def test_steps_that_are_not_taken_are_drawn_as_such_and_the_last_weight_is_what_is_missing():
    ax = FIGURES["act_cell"]().axes[0]
    texts = written(ax)
    weights = [numbers(text)[1:] for text in texts if text.startswith("$p_")]  # without the step
    assert weights == [["0.10"], ["0.30"], ["1", "0.40", "0.60"]]
    units = [text for text in texts if text.startswith(r"$\lambda_")]
    assert [numbers(text)[-1] for text in units] == ["0.10", "0.30", "0.60"]
    alone = written(draw.act_cell([1.0, 0.3], [1.0]).axes[0])
    assert [numbers(text)[1:] for text in alone if text.startswith("$p_")] == [["1.00"]]
    states = [text for text in ax.texts if text.get_text().startswith("$s_")]
    pale = [text.get_text() for text in states if text.get_color() == draw.PALE_GREY]
    assert (len(states), pale) == (4, ["$s_4$"])


def test_a_coin_and_an_answer_at_each_step_and_a_bar_as_high_as_its_probability():
    ax = FIGURES["pondernet"]().axes[0]
    assert [round(bar.get_x() + bar.get_width() / 2) for bar in ax.patches] == [1, 2, 3]
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([0.2, 0.4, 0.4])
    texts = written(ax)
    coins = [numbers(text)[-1] for text in texts if text.startswith(r"$\lambda_")]
    assert coins == ["0.20", "0.50"]  # the last step takes what remains
    assert [numbers(text)[-1] for text in texts if "$p_" in text] == ["0.20", "0.40", "0.40"]


def test_the_cone_of_a_place_is_dark_and_narrows_to_it():
    ax = FIGURES["light_cone"]().axes[0]
    dark = {}
    for n, dots in enumerate(ax.collections, start=1):
        assert dots.get_offsets().tolist() == [[i, n] for i in range(6)]
        dark[n] = [i for i, colour in enumerate(dots.get_facecolor()) if to_hex(colour).upper() == BLUE]
    assert dark == {1: [0, 1, 2, 3], 2: [0, 1, 2], 3: [1]}
    arrows = {(round(a[0]), round(b[0]), round(a[1])) for a, b in points(ax, color=BLUE)}
    into_the_last = {(0, 1, 2), (1, 1, 2), (2, 1, 2)}
    into_the_second = {(i, j, 1) for i in range(6) for j in (0, 1, 2) if abs(i - j) <= 1}
    assert arrows == into_the_last | into_the_second
