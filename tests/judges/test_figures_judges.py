"""The figures of lesson 11 draw the data that they are given, and their sentences speak of these."""

import re

import numpy as np
from drawn import Drawn, tests_of_figures

from ponder_course.judges import figures as draw

STEPS = np.array([[1, 4], [2, 5], [3, 1], [1, 2], [1, 1]])  # [updates, slots]
SAID = {2: [[0.99, 0.51, 0.24, 0.12], [0.97, 0.55, 0.26, 0.14]], 5: [[0.95, 0.21, 0.05, 0.006]]}
GUESSES = [[1 / n_values**k for k in range(4)] for n_values in SAID]
AROUND = {
    "none": [{-1: 0.0, 0: 0.125, 1: 0.5}, {-1: 0.0, 0: 0.25, 1: 0.375}],
    "some": [{-1: 0.0625, 0: 0.9375, 1: 1.0}],
}
ENDS = {"TRM": [(0.96, 0.85)], "HRM": [(0.97, 0.66), (0.92, 0.6)], "all lines stay": [(0.93, 0.95), (0.94, 0.91)]}
FIGURES = {
    "slots": Drawn(draw.slots, (STEPS,), None),
    "ladder": Drawn(draw.ladder, (SAID,), [*GUESSES, [0, 1, 2, 3]]),
    "lead": Drawn(draw.lead, (AROUND,)),
    "to the end": Drawn(draw.to_the_end, (ENDS,), None),
}
test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("judges", FIGURES)


def test_a_bar_stands_where_a_fresh_line_begins_and_its_steps_before_it():
    (ax,) = draw.slots(STEPS).axes
    assert np.array_equal(ax.images[0].get_array(), STEPS.T)
    bars = {(round(line.get_xdata()[0] + 0.5), round(line.get_ydata()[0] + 0.5)) for line in ax.lines}
    assert bars == {(update + 1, slot + 1) for update, slot in np.argwhere(STEPS == 1)}
    written = {(round(text.get_position()[0]), round(text.get_position()[1])): text.get_text() for text in ax.texts}
    assert written == {(3, 1): "3", (4, 1): "1", (2, 2): "5", (4, 2): "2"}


def test_each_network_has_its_pair_of_marks_and_a_line_between_them():
    (ax,) = draw.to_the_end(ENDS).axes
    marks = [line for line in ax.lines if line.get_linestyle() == "None"]
    pairs = [sorted(networks) for networks in ENDS.values()]
    for (halted, last), networks in zip(zip(*[iter(marks)] * 2, strict=True), pairs, strict=True):
        assert [*zip(halted.get_xdata(), last.get_xdata(), strict=True)] == networks
        assert [*halted.get_ydata()] == [*last.get_ydata()]
    between = [tuple(line.get_xdata()) for line in ax.lines if line.get_linestyle() == "-"]
    assert sorted(between) == sorted(pair for networks in pairs for pair in networks)


def test_findings_speak_of_what_is_drawn():
    assert re.findall(r"[\d.]+", draw.what_the_judge_says(SAID)) == ["0.51", "0.55", "2", "0.21", "5"]
    assert re.findall(r"\d+", draw.which_is_larger(AROUND)) == ["12", "25", "94"]
    assert re.findall(r"\d+", draw.what_the_end_costs(ENDS)) == ["3", "3", "1", "2"]
