"""The figures of lesson 09 draw the data that they are given, and their sentences speak of these."""

import numpy as np
import torch
from drawn import COMPUTED, Drawn, numbers, points, tests_of_figures, written
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch

from ponder_course.adding_a_column import experiment as columns
from ponder_course.adding_a_column import figures as draw
from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.common.runs import learnt_and_not
from ponder_course.common.style import ANSWER, BLACK, DARK_GREY, HALTING, NOT_LEARNT, PALE_GREY, WRONG
from ponder_evidence.adding_a_column import figures as evidence
from ponder_utils import PonderSequence

NUMBERS = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]])  # 3, 1 and 6, of three digits
SUMS = np.array([[1, 1, 0], [0, 0, 1], [0, 1, 1]])  # 3, 4 and 2; the last as if one were wrong
TRAVELLED = np.array([[0, 0, 0], [0, 1, 2], [0, 0, 0]])
RIGHT = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]])
TRACE = (NUMBERS, SUMS, TRAVELLED, [2.0, 4.0, 1.0], [1.0, 3.0, 1.5], RIGHT)
NETWORKS = [{1: 2.0, 5: 5.5, 20: 20.5}, {1: 1.5, 5: 6.0, 20: 21.0}]
TIMES = {"halts": [[1.0, 0.99, 0.9], [0.98, 0.8, 0.7]], "all": [[0.97, 0.55, 0.2]]}
VOTES = {"+ 0": [[-1, -2, -3], [1, 2, 1]], "+ 1": [[-1, -2, -1], [-1, 1, 2], [3, -2, 1], [2, 3, 2]]}  # [steps, width]
ANSWERED = {
    "+ 0": ([[1, 1]] * 2, [[-1, -1], [1, 1]]),
    "+ 1": ([[0, 1]] * 3 + [[0, 0]], [[-1, -1], [-1, 1], [1, -1], [1, 1]]),
}
OBJECTS = [[[1, 0]] * 3, [[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0]]]  # place by place


def task_run(kind, value, error, steps):
    return {"kind": kind, "hyperparameter": value, "error": error, "steps": steps, "steps_by_time": steps[::-1]}


TASK = [
    task_run("fixed", 1, [0.1, 0.3], [1, 1]),
    task_run("ACT", 0.1, [0.05, 0.2], [1.5, 2.5]),
    task_run("ACT", 0.1, [0.25, 0.21], [2.6, 3.5]),
]
WRONG_OF = [[10, 30], [5, 20], [25, 21], [15, 20.5], [2.05, 3.0]]  # in per cent, and the means


def untrained():
    torch.manual_seed(0)
    return PonderSequence(columns.ColumnStep(4), 8).eval()


FIGURES = {
    "machine": Drawn(draw.machine, computed=COMPUTED),
    "trace": Drawn(draw.trace, TRACE, start=0),
    "trace of": Drawn(draw.trace_of, (untrained(), columns.draw_columns(4, 5, 3)[:, 1:2], 7), COMPUTED),
    "against need": Drawn(
        draw.against_need,
        (NETWORKS, 8, [{1: 1.125, 20: 3.0}]),
        [[*draw.less_the_need(one).values()] for one in (*NETWORKS, {1: 1.125, 20: 3.0})],
        {NOT_LEARNT: [0.125, -17]},
    ),
    "by time": Drawn(draw.by_time, (TIMES, 2), colours={HALTING: TIMES["halts"]}),
    "answers and objections": Drawn(draw.answers_and_objections, (ANSWERED,), COMPUTED),
    "objections": Drawn(draw.objections, (VOTES,), OBJECTS, written=["2", "4"]),
    "by level": Drawn(evidence.by_level, (TASK[1:], "gates"), [*WRONG_OF]),
    "by level and time": Drawn(evidence.by_level, (TASK, "digits", 1, True), [*WRONG_OF, [3.0, 2.05]]),
    "trace over text": Drawn(
        evidence.trace_over_text,
        ({"trace": {"read": "as if", "steps": [1, 2, 3, 1, 4], "entropy": [0.5, 1.5, 2.5, 1.0, 0.25]}},),
        [2],  # the space
        start=0,
    ),
}


test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("adding_a_column", FIGURES)


def test_the_machine_takes_the_steps_that_it_is_given_and_passes_its_state_on():
    (ax,) = draw.machine(("0011", "0101", "1000"), (1, 3, 2)).axes
    assert [len(circles.get_offsets()) for circles in ax.collections] == [4] * 6  # places at each step
    at = [circles.get_offsets()[0, 0] for circles in ax.collections]
    assert np.argsort(-np.diff(at))[:2].tolist() == [0, 3]  # farther from one number to the next
    assert "".join(filter(str.isdigit, written(ax))) == "11001" + "101011010210103" + "0001100012"  # digits, step
    assert len(points(ax, color=HALTING)) == 2 * 10  # two times a state goes on; each place hears two or three
    assert len(points(ax, color=PALE_GREY)) == 3 * 10
    assert all(abs(a[1] - b[1]) <= 1 for a, b in points(ax, color=HALTING) + points(ax, color=PALE_GREY))


def test_a_trace_has_every_digit_at_its_place_and_wrong_ones_in_red():
    above, _ = draw.trace(*TRACE).axes
    seen = {}
    for text in above.texts:
        x, place = text.get_position()
        seen[round(x), place, x > round(x)] = (int(text.get_text()), to_rgb(text.get_color()))
    assert len(seen) == 2 * NUMBERS.size
    for t, place in np.ndindex(3, 3):
        assert seen[t, place, False] == (NUMBERS[t, place], to_rgb(DARK_GREY))
        assert seen[t, place, True] == (SUMS[t, place], to_rgb(ANSWER if RIGHT[t, place] else WRONG))


def test_a_trace_has_an_arrow_for_each_carry_from_where_it_was_made_to_where_it_ends():
    def ends(travelled):
        ones = np.ones(np.shape(travelled))
        above, _ = draw.trace(ones, ones, np.array(travelled), [3] * len(ones), [3] * len(ones), ones).axes
        arrows = [arrow for arrow in above.patches if isinstance(arrow, FancyArrowPatch)]
        return [arrow.get_path().get_extents().get_points().round().tolist() for arrow in arrows]

    assert ends(TRAVELLED) == [[[1, 0], [1, 2]]]
    assert ends([[0, 1, 1, 2]]) == [[[0, 0], [0, 1]], [[0, 1], [0, 3]]]  # the second lets the first pass


def test_the_trace_of_a_network_has_its_own_steps_and_sums():
    model, x = untrained(), columns.draw_columns(4, 5, 3)
    figure, needed, taken, n_right = draw.trace_of(model, x[:, 1:2], 7)
    found, right = columns.halt(model, x[:, 1:2], 7, q=0.5)
    assert taken == found.steps[:, 0].tolist()
    assert needed == ColumnTask.needed_steps(x)[:, 1].tolist()
    assert n_right == int(right.sum())
    other, sentence = draw.any_column(model, x, 7)(2)
    assert numbers(sentence.rstrip(".")) == ["2"]
    for drawn in (figure, other):
        assert [bar.get_height() for bar in drawn.axes[1].patches] == taken + needed
    assert numbers(draw.thinks_longest([1, 9, 3], [2, 8, 9])) == ["8", "2", "9"]


def test_the_column_drawn_has_long_and_short_needs():
    short, long = ColumnTask.digits([1, 0, 0, 0], 10), ColumnTask.digits([511, 1, 0, 0], 10)
    assert draw.long_and_short(torch.cat([short, long, short], 1)) == 1


def test_a_network_is_measured_in_tests_of_these_sizes():
    model, sizes = untrained(), {"trained": (4, 5, 3), "wide": (6, 5, 3), "long": (4, 9, 2)}
    row = draw.measured(model, sizes)
    for name, (digits, n_numbers, n) in sizes.items():
        x = columns.draw_columns(digits, n_numbers, n)
        np.testing.assert_equal(row[name], columns.measure(model, x, digits + 10, q=0.5))
    assert row["all N"] == columns.halt(model, x, 14, "fixed", step=14)[1].double().mean(1).tolist()
    assert draw.steps_by_need({"wide": {"by_need": {"1": [3, 1.5, 1.0], "9": [2, 8.5, 0.5]}}}, 3) == {1: 1.5}


def part(sums, steps=3.0):
    return {"sums": sums, "steps": steps, "needed": 2.5, "early": 0.125, "correlation": 0.9876}


def test_the_tables_hold_what_was_measured():
    rows = [
        {"trained": part(1.0), "wide": part(0.5), "long": part(0.25)},
        {"trained": part(0.75, 4.0), "wide": part(0.0), "long": part(0.0)},
    ]
    table = draw.sums_and_steps(rows, {"trained": 16, "wide": 64})
    assert [numbers(name) for name in table.index] == [["1", "16"], ["1", "64"], ["2", "16"], ["2", "64"]]
    assert table.iloc[2].tolist() == ["75.00%", "2.50", "4.00", "12.50%"]
    kinds = draw.sums_by_kind({"halted": rows, "mean": []}, 64)
    assert kinds.T["halted"].tolist() == ["2", "75% to 100%", "0% to 50%", "0% to 25%", "3.0 to 4.0"]
    assert len(kinds) == 1
    run = {"kind": "ACT", "hyperparameter": 0.03, "sequence_error": 0.25, "mean_steps": 2.0, "follows": 0.5}
    table = evidence.wrong_and_steps([run, run | {"sequence_error": 0.5}, run | {"kind": "fixed", "hyperparameter": 4}])
    assert table.iloc[1].tolist() == [2, "37.5", "25.0 to 50.0", "2.00", "0.50"]


def test_findings_of_columns_say_what_the_numbers_say():
    good, bad = ({"trained": {"right": [value] * columns.LENGTH}} for value in (1.0, 0.5))
    assert learnt_and_not([good, bad, good], columns.has_learnt) == ([good, good], [bad])
    assert numbers(draw.keep_to_the_need([{1: 9.0, 41: 42.5}, {41: 38.5}, {41: 40.0}], 8)) == ["2", "3"]


def test_answers_that_will_change_are_red_and_places_that_object_are_marked():
    for ax, (answers, votes) in zip(draw.answers_and_objections(ANSWERED).axes, ANSWERED.values(), strict=True):
        (image,) = ax.images
        assert np.array_equal(image.get_array(), np.array(votes).T < 0)
        for n, digits in enumerate(answers, 1):
            for place, digit in enumerate(digits, 1):
                (text,) = [one for one in ax.texts if one.get_position() == (n, place)]
                changes = digit != answers[-1][place - 1]
                assert (text.get_text(), text.get_color()) == (str(digit), WRONG if changes else BLACK)
        wire = [text.get_text() for text in ax.texts if text.get_position()[1] == 0]
        assert wire == ["no" if min(of_step) < 0 else "yes" for of_step in votes]
        assert ax.patches[0].get_xy()[:4].mean(0).tolist() == [2, 2]  # the last place, when the first number halts
    assert numbers(draw.same_answer(ANSWERED)) == ["2", "1", "1"]


def test_answers_at_the_last_number_are_those_that_are_halted_with():
    x = columns.draw_columns(4, 3, 5)
    found, halted = draw.answers_at_the_last(untrained(), x, 7), columns.halt(untrained(), x, 7, q=0.5)[0]
    assert [len(answers) for answers in found] == halted.steps[-1].tolist()
    assert [answers[-1] for answers in found] == (halted.y_hat[-1] > 0).int().tolist()
