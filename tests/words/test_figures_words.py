"""The figures of lesson 12 draw the numbers that they are given, and their sentences speak of these."""

from drawn import lines_of

from ponder_course.common.style import ANSWER, BLUE, DARK_GREY
from ponder_course.words import figures as draw

PARENTS, ORDER = [0, 0, 1, 1, 3], [3, 0, 4, 2, 1]
WALKS = {"a word": [{0: 1.0, 1: 0.9, 2: 0.8}, {0: 1.0, 1: 1.0, 2: 0.7}], "its state": [{0: 0.9, 1: 0.95, 2: 0.1}]}
DEEPER = {"a word": [{0: 0.99, 1: 0.98, 2: 0.97}], "its state": [{0: 0.96, 1: 0.94, 2: 0.93}]}


def heights(ax, colour):
    return [line[:, 1].tolist() for line in lines_of(ax, colour)]


def test_each_word_has_a_line_to_the_token_of_its_node():
    (ax,) = draw.reading(PARENTS, ORDER, 4).axes
    texts = {text.get_text(): text.get_position() for text in ax.texts}
    words = sorted((x, text) for text, (x, y) in texts.items() if y == 0)
    assert [text for _, text in words] == ["4?", "3", "1", "0", "STOP"]
    lines = lines_of(ax, BLUE)
    assert len(lines) == 4
    for line, (x, word) in zip(lines, words, strict=False):
        assert line[:, 0].tolist() == [x, ORDER.index(int(word.removesuffix("?")))]


def test_the_networks_of_this_session_are_marks_in_the_first_panel_and_all_stand_at_their_heights():
    first, second = draw.trained_on_few({1: WALKS, 2: DEEPER}, {"a word": [{}]}).axes
    for ax, kinds, n_marks in ((first, WALKS, 1), (second, DEEPER, 0)):
        assert sum(line.get_marker() == "o" for line in ax.lines) == n_marks
        for colour, networks in zip((ANSWER, DARK_GREY), kinds.values(), strict=True):
            assert heights(ax, colour) == [[*network.values()] for network in networks]
