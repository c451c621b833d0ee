"""The figures of lesson 12 draw the data that they are given, and their sentences speak of these."""

import re

from drawn import Drawn, tests_of_figures

from ponder_course.words import figures as draw

PARENTS, ORDER = [0, 0, 1, 1, 3], [3, 0, 4, 2, 1]
WALKS = {"a word": [{0: 1.0, 1: 0.9, 2: 0.8}, {0: 1.0, 1: 1.0, 2: 0.7}], "its state": [{0: 0.9, 1: 0.95, 2: 0.1}]}
DEEPER = {"a word": [{0: 0.99, 1: 0.98, 2: 0.97}], "its state": [{0: 0.96, 1: 0.94, 2: 0.93}]}
FEW = {1: WALKS, 2: DEEPER}
WIDE = {"1 pass": [{0: 1.0, 1: 0.3}, {0: 1.0, 1: 0.2}], "2 passes": [{0: 1.0, 1: 0.85}]}
ROOM = {"no dots": [{0: 0.99, 1: 0.8}], "8 dots": [{0: 0.98, 1: 0.75}]}
LEARNT = [{"carried": what, "max_depth": depth, "by_depth": {"0": {"right": right, "words": 3.0}}}
          for what, depth, right in (("word", 1, 0.5), ("state", 1, 0.4), ("word", 4, 0.3))]  # fmt: skip


def heights(*kinds):
    return [[*network.values()] for kind in kinds for networks in kind.values() for network in networks]


FIGURES = {
    "reading": Drawn(draw.reading, (PARENTS, ORDER, 4), None),
    "right far up": Drawn(draw.right_far_up, (WIDE, ROOM, ("a", "b")), [*heights(WIDE, ROOM), [0.25, 0.25]]),
    "trained on few": Drawn(draw.trained_on_few, (FEW, {"a word": 1}), [*heights(*FEW.values()), *[[]] * 4]),
}
test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("words", FIGURES)


def test_each_word_has_a_line_to_the_token_of_its_node():
    (ax,) = draw.reading(PARENTS, ORDER, 4).axes
    texts = {text.get_text(): text.get_position() for text in ax.texts}
    assert {text for text, (_, y) in texts.items() if y == 1} == {
        f"{n}\N{RIGHTWARDS ARROW}{p}" for n, p in enumerate(PARENTS)
    }
    words = sorted((x, text) for text, (x, y) in texts.items() if y == 0)
    assert [text for _, text in words] == ["4?", "3", "1", "0", "STOP"]
    for line, (x, word) in zip(ax.lines, words, strict=False):
        node = int(word.removesuffix("?"))
        assert [*line.get_xdata()] == [x, texts[f"{node}\N{RIGHTWARDS ARROW}{PARENTS[node]}"][0]]
    assert len(ax.lines) == len(words) - 1


def test_the_networks_of_this_session_are_marks_in_the_first_panel_and_the_others_are_lines():
    first, second = draw.trained_on_few(FEW, {"a word": 1}).axes
    for ax, n_marks in ((first, 1), (second, 0)):
        assert sum(line.get_marker() == "o" for line in ax.lines) == n_marks


def test_networks_are_sorted_by_what_they_carry_and_how_deep_they_were_trained():
    mine = {"a word": [{"by_depth": {0: {"right": 0.9}}}]}
    assert draw.by_training(mine, LEARNT) == {
        1: {"a word": [{0: 0.9}, {0: 0.5}], "its state": [{0: 0.4}]},
        4: {"a word": [{0: 0.3}], "its state": []},
    }
    assert draw.by_training(mine, []) == {1: {"a word": [{0: 0.9}], "its state": []}}


def test_networks_are_sorted_by_passes_dots_and_votes():
    rows = []
    for n_dots, n_passes in ((0, 1), (0, 2), (0, 3), (8, 2), (32, 2)):
        part = {"right": n_dots + n_passes / 10, "votes": {"65": 0.01}}
        rows.append({"n_dots": n_dots, "n_passes": n_passes, "by_depth": {"5": part}})
    left, right = draw.by_room(rows)
    assert [*left.values()] == [[{5: 0.1}], [{5: 0.2}], [{5: 0.3}]]
    assert [*right.values()] == [[{5: 0.2}], [{5: 32.2}], [{5: 0.01}]]


def test_findings_speak_of_what_is_drawn():
    assert draw.words_written(PARENTS, 4).split()[-4:] == ["3", "1", "0", "STOP"]
    assert re.findall(r"\d+%", draw.right_beyond(WALKS, 2)) == ["70%", "80%", "10%"]
    assert re.findall(r"\d+", draw.how_far(WIDE, ROOM)) == ["0", "1", "1", "2", "1"]
