"""The figures of lesson 14 draw the numbers that they are given."""

from drawn import lines_of

from ponder_course.common.style import HALTING, LIMIT
from ponder_course.price_of_a_word import figures as draw

WORDS = [{0: 1.0, 1: 3.0, 2: 5.5}, {0: 1.1, 1: 2.9, 2: 4.5}]


def row(words):
    return {"by_depth": {str(depth): {"words": words[depth]} for depth in (2, 0, 1)}}  # as JSON has them, in any order


def test_words_of_each_network_stand_beside_one_for_each_arrow():
    (ax,) = draw.words_and_need({"shown": draw.words_by_depth([row(words) for words in WORDS])}).axes
    assert [dict(line.tolist()) for line in lines_of(ax, HALTING)] == WORDS
    assert [line.tolist() for line in lines_of(ax, LIMIT)] == [[[0, 0], [1, 1], [2, 2]]]


def test_each_network_has_a_mark_at_each_price_and_the_law_a_line():
    rows = [
        {"by_price": {"0.1": [{"right": 1.0}, {"right": first}], "0.4": [{"right": 0.0}, {"right": 0.0}]}}
        for first in (0.5, 0.7)
    ]
    right = draw.right_at(rows, 1)
    assert right == {0.1: [0.5, 0.7], 0.4: [0.0, 0.0]}
    (ax,) = draw.right_by_price({"forests": ({"price first": right}, 0.3)}).axes
    (marks,) = ax.collections
    assert [y for _, y in marks.get_offsets().tolist()] == [0.5, 0.7, 0.0, 0.0]
    assert {x for line in lines_of(ax, LIMIT) for x, _ in line.tolist()} == {0.3}
