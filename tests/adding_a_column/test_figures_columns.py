"""The figures of lesson 09 draw the data that they are given."""

import numpy as np
import pytest
import torch
from drawn import bars, check, pairs, points, written
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch

from ponder_course.adding_a_column import experiment as columns
from ponder_course.adding_a_column import figures as draw
from ponder_course.common.style import ANSWER, DARK_GREY, GREY, HALTING, LIMIT, NOT_LEARNT, PALE_GREY, WRONG
from ponder_utils import ColumnTask, PonderSequence

NUMBERS = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]])  # 3, 1 and 6, of three digits
SUMS = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 1]])  # 3, 4 and 2; the last as if one were wrong
TRAVELLED = np.array([[0, 0, 0], [0, 1, 2], [0, 0, 0]])
RIGHT = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]])
NETWORKS = [{1: 2.0, 5: 5.5, 20: 20.5}, {1: 1.5, 5: 6.0, 20: 21.0}]
TIMES = {"halts": (HALTING, [[1.0, 1.0, 0.9], [1.0, 0.8, 0.8]]), "all": (DARK_GREY, [[1.0, 0.5, 0.2]])}
FIGURES = {
    "machine": lambda: draw.machine(4, (1, 3, 2)),
    "trace": lambda: draw.trace(NUMBERS, SUMS, TRAVELLED, [2, 4, 1], [1, 3, 1], RIGHT),
    "against_need": lambda: draw.against_need(NETWORKS, 8, [{1: 1.0, 20: 3.0}], live=1),
    "by_time": lambda: draw.by_time(TIMES, 2),
    "saving": lambda: draw.saving([12, 24, 48], [3.7, 4.8, 5.9], [[4.0, 5.0, 6.0], [4.4, 5.1, 6.2]]),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_labelled_and_legible_whatever_the_readers_style(name):
    if name == "machine":  # across, nothing is measured
        assert FIGURES[name]().get_facecolor() == (1, 1, 1, 1)
    else:
        check(FIGURES[name])


def test_the_machine_takes_the_steps_that_it_is_given_and_passes_its_state_on():
    (ax,) = FIGURES["machine"]().axes
    assert [float(circles.get_offsets()[0, 0]) for circles in ax.collections] == pytest.approx(
        [0.0, 1.85, 2.85, 3.85, 5.7, 6.7]
    )
    assert all(len(circles.get_offsets()) == 4 for circles in ax.collections)
    assert [text for text in written(ax) if text.isdigit()] == ["1", "1", "2", "3", "1", "2"]
    assert len(points(ax, color=HALTING)) == 2 * 10  # two times a state goes on; each place hears two or three
    assert len(points(ax, color=PALE_GREY)) == 3 * 10
    assert all(abs(a[1] - b[1]) <= 1 for a, b in points(ax, color=HALTING) + points(ax, color=PALE_GREY))


def test_a_trace_has_every_digit_at_its_place_and_wrong_ones_in_red():
    above, _ = FIGURES["trace"]().axes
    seen = {}
    for text in above.texts:
        x, place = text.get_position()
        seen[round(x), place, x > round(x)] = (int(text.get_text()), to_rgb(text.get_color()))
    assert len(seen) == 2 * NUMBERS.size
    for t in range(3):
        for place in range(3):
            assert seen[t, place, False] == (NUMBERS[t, place], to_rgb(DARK_GREY))
            colour = ANSWER if RIGHT[t, place] else WRONG
            assert seen[t, place, True] == (SUMS[t, place], to_rgb(colour))


def test_a_trace_has_an_arrow_for_each_carry_from_where_it_was_made_to_where_it_ends():
    above, _ = FIGURES["trace"]().axes
    arrows = [patch for patch in above.patches if isinstance(patch, FancyArrowPatch)]
    ends = [np.round(arrow._posA_posB, 2).tolist() for arrow in arrows]
    assert ends == [[[1.36, 0], [1.36, 2.15]]]
    both = np.array([[0, 1, 1, 2]])  # two carries of one place, and one that the second lets pass
    figure = draw.trace(np.ones((1, 4)), np.ones((1, 4)), both, [3], [3], np.ones((1, 4)))
    ends = [np.round(arrow._posA_posB, 2)[:, 1].tolist() for arrow in figure.axes[0].patches]
    assert ends == [[0, 1.15], [1, 3.15]]


def test_a_trace_has_the_steps_taken_beside_the_steps_needed():
    _, below = FIGURES["trace"]().axes
    found = bars(below)
    assert [height for _, height, _ in found] == [2, 4, 1, 1, 3, 1]
    assert [round(x) for x, _, _ in found] == [0, 1, 2, 0, 1, 2]
    assert {to_rgb(bar.get_facecolor()[:3]) for bar in below.patches[:3]} == {to_rgb(HALTING)}
    assert {to_rgb(bar.get_facecolor()[:3]) for bar in below.patches[3:]} == {to_rgb(LIMIT)}
    assert [label.get_text() for label in below.get_xticklabels()] == ["1", "2", "3"]


def test_steps_against_the_need_have_every_network_and_the_need_itself():
    (ax,) = FIGURES["against_need"]().axes
    assert points(ax, color=HALTING) == [pairs(line.keys(), line.values()) for line in NETWORKS]
    assert points(ax, color=NOT_LEARNT) == [[[1, 1], [20, 3]]]
    assert points(ax, color=LIMIT) == [[[1, 1], [20, 20]]]
    thick, thin = (line.get_linewidth() for line in ax.lines if line.get_color() == HALTING)
    assert thick > thin
    (ground,) = ax.patches
    assert (ground.get_x(), ground.get_x() + ground.get_width()) == (8.5, 20.5)


def test_long_columns_have_a_line_for_each_network_and_the_names_of_both_kinds():
    figure = FIGURES["by_time"]()
    (ax,) = figure.axes
    for colour, lines in TIMES.values():
        assert points(ax, color=colour) == [pairs([1, 2, 3], line) for line in lines]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["halts", "all"]
    (ground,) = ax.patches
    assert ground.get_x() == 2.5


def test_what_is_saved_is_drawn_between_the_worst_case_and_the_need():
    (ax,) = FIGURES["saving"]().axes
    assert points(ax, color=GREY) == [[[12, 12], [24, 24], [48, 48]]]
    assert points(ax, color=LIMIT) == [[[12, 3.7], [24, 4.8], [48, 5.9]]]
    assert points(ax, color=HALTING) == [[[12, 4.0], [24, 5.0], [48, 6.0]], [[12, 4.4], [24, 5.1], [48, 6.2]]]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert written(ax) == ["worst case: all wait", "steps taken", "mean need"]


def untrained():
    torch.manual_seed(0)
    return PonderSequence(columns.ColumnStep(4), 8).eval()


def test_the_trace_of_a_network_has_its_own_steps_and_sums():
    model, x = untrained(), columns.draw_columns(4, 5, 3)
    figure, needed, taken, n_right = draw.trace_of(model, x[:, 1:2], 7)
    found, right = columns.halt(model, x[:, 1:2], 7, q=0.5)
    assert taken == found.steps[:, 0].tolist()
    assert needed == ColumnTask.needed_steps(x)[:, 1].tolist()
    assert n_right == int(right.sum())
    heights = [height for _, height, _ in bars(figure.axes[1])]
    assert heights == taken + needed
    other, sentence = draw.any_column(model, x, 7)(2)
    assert sentence == "Column 2."
    assert [height for _, height, _ in bars(other.axes[1])] == heights
    assert draw.stops_longest([1, 9, 3], [2, 8, 9]) == (
        "It stops longest where the carry travels farthest:\n8 steps at number 2, which needs 9"
    )


def test_the_column_drawn_has_long_and_short_stops():
    short, long = ColumnTask.digits([1, 0, 0, 0], 10), ColumnTask.digits([511, 1, 0, 0], 10)
    assert draw.long_and_short_stops(torch.cat([short, long, short], 1)) == 1


def test_a_network_is_measured_in_tests_of_these_sizes():
    model, sizes = untrained(), {"trained": (4, 5, 3), "wide": (6, 5, 3), "long": (4, 9, 2)}
    row = draw.measured(model, sizes)
    assert [len(row[name]["right"]) for name in sizes] == [5, 5, 9]
    for name, (digits, numbers, n) in sizes.items():
        x = columns.draw_columns(digits, numbers, n)
        np.testing.assert_equal(row[name], columns.measure(model, x, digits + 10, q=0.5))
    assert row["all N"] == columns.halt(model, x, 14, "fixed", step=14)[1].double().mean(1).tolist()


def part(sums, steps=3.0):
    return {"sums": sums, "steps": steps, "needed": 2.5, "early": 0.125, "correlation": 0.9876}


def test_the_tables_hold_what_was_measured():
    rows = [
        {"trained": part(1.0), "wide": part(0.5), "long": part(0.25)},
        {"trained": part(0.75, 4.0), "wide": part(0.0), "long": part(0.0)},
    ]
    table = draw.sums_and_steps(rows, {"trained": 16, "wide": 64})
    assert [line[""] for line in table] == [f"network {i}, {digits} digits" for i in (1, 2) for digits in (16, 64)]
    assert table[2] == {
        "": "network 2, 16 digits", "sums right": "75.00%", "mean steps": "4.00", "needed": "2.50",
        "too early": "12.50%", "correlation": "0.988",
    }  # fmt: skip
    assert draw.sums_by_kind({"halted": rows, "mean": []}, 64) == {
        "halted": {
            "networks": "2", "sums right": "75% to 100%", "64 digits": "0% to 50%", "100 numbers": "0% to 25%",
            "mean steps": "3.0 to 4.0",
        },
    }  # fmt: skip


def test_findings_of_columns_say_what_the_numbers_say():
    good, bad = ({"trained": {"right": [value] * columns.LENGTH}} for value in (1.0, 0.5))
    assert draw.learnt_and_not([good, bad, good]) == ([good, good], [bad])
    assert draw.learnt_and_not([bad]) == ([bad], [])
    found = draw.steps_where_41_are_needed([{1: 1.0, 41: 41.04}, {41: 39.5}])
    assert found == "Where 41 steps are needed, networks take 39.5 to 41.0"
    harms = draw.thinking_on_harms([[1.0, 0.9], [1.0, 0.9]], [[1.0, 0.8], [0.1, 0.9]])
    assert harms == "Thinking on harms the last sum in 1 of 2 networks"


def test_what_is_saved_is_found_for_each_network_and_width():
    rows = [{width: {"needed": width / 4, "computed": width / k} for width in columns.WIDTHS} for k in (2, 3)]
    widths, needed, taken = draw.spent_by_width(rows)
    assert widths == list(columns.WIDTHS)
    assert needed == [width / 4 for width in widths]
    assert taken == [[width / k for width in widths] for k in (2, 3)]
    found = draw.worst_case_saved(widths, taken)
    assert found == f"With {widths[-1]} digits the worst case needs 2 to 3 times their steps"


def test_the_table_of_sequences_has_a_row_for_each_kind_that_has_runs():
    run = {"kind": "ACT", "hyperparameter": 0.03, "sequence_error": 0.25, "mean_steps": 2.0, "follows": 0.5}
    rows = [run, run | {"sequence_error": 0.5}, run | {"kind": "fixed", "hyperparameter": 4}]
    table = draw.wrong_and_steps(rows)
    assert table.index.tolist() == ["four steps", "ACT, price 0.03"]
    assert table.loc["ACT, price 0.03"].tolist() == [2, "37.5", "25.0 to 50.0", "2.00", "0.50"]


def test_a_trace_over_text_has_steps_and_entropy_at_each_character():
    row = {"trace": {"read": "as if", "steps": [1, 2, 3, 1, 1], "entropy": [0.5, 1.5, 2.5, 1.0, 0.25]}}
    above, below = draw.trace_over_text(row).axes
    assert [height for _, height, _ in bars(above)] == [1, 2, 3, 1, 1]
    assert points(below, color=DARK_GREY) == [pairs(range(5), [0.5, 1.5, 2.5, 1.0, 0.25])]
    assert [label.get_text() for label in below.get_xticklabels()] == list("as if")
    assert [set(line.get_xdata()) for line in below.lines if line.get_color() == PALE_GREY] == [{2}]  # between words
