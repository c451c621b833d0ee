"""The figures of lesson 05 draw the numbers that they are given."""

import math

import numpy as np
import pytest
import torch
from drawn import check, drawn, pairs
from matplotlib.colors import to_hex, to_rgba

from ponder_course.common.style import (
    BLACK,
    GREEN,
    GREY,
    LIMIT,
    NOT_LEARNT,
    ORANGE,
    PURPLE,
    SKY,
    WRONG,
)
from ponder_course.light_cone import figures as draw
from ponder_course.light_cone.figures import (
    Bought,
    Thought,
    draw_against_size,
    draw_bought,
    draw_by_group,
    draw_changes,
    draw_steps_against_need,
    draw_thoughts,
    in_words,
    what_halting_buys,
    what_steps_say,
)
from ponder_utils import AdditionTask, LineParityTask, LocalStep, PonderNet

rng = np.random.default_rng(0)
GRIDS = rng.random((2, 5, 3))  # [panels, steps, places]
RIGHT = np.ones((5, 3), bool)
RIGHT[1, 2] = RIGHT[4, 0] = False
THOUGHTS = [
    Thought(GRIDS[0], RIGHT, [1, 2, 3], 4, [[0, 1, 1], [1, 0, 0]], "easy"),
    Thought(GRIDS[1], ~RIGHT, [1, 1, 2], 3, [[1, 1, 0], [1, 1, 0]], "hard"),
]
STAIRS = [[0.5, 0.5], [1.5, 0.5], [1.5, 1.5], [2.5, 1.5], [2.5, 2.5], [3.5, 2.5]]  # below it one can know
NEED = [[2.0, 3.0, None, 5.0], [2.5, 3.5, 4.5, 5.5]]
ACT = [[1.0, math.nan, 2.0, 2.5]]  # no line needs 2
TESTS = [
    Bought(
        "16 places", [[0.1, 0.5, 0.9], [0.2, 0.4, 0.8]], [(2.5, 0.95), (2.0, 1.0)],
        {"best clock": ([1, 2], [0.6, 1.0]), "best for all": ([1, 2, 3], [0.3, 0.5, 0.9])}, 4.5,
    ),
    Bought("digits", [[0.8, 0.7]], [(1.2, 0.781)], {}, 9),
]  # fmt: skip
THEORY = {"equation 2": [4.0, 1.0, 0.25], "cut off": [3.0, 0.9, 0.2]}
GROUPS = {"with": {"right": [1.0, 0.9], "last": [0.8]}, "without": {"last": [0.3, 0.2]}}

VOTES = [
    draw.Votes(GRIDS[0], [1, 0, 1], 3, 4, "halts at 3"),
    draw.Votes(GRIDS[1][:4], [0, 0, 1], 4, 4, "halts at 4"),
]

FIGURES = {
    "who_votes_no": lambda: draw.who_votes_no(VOTES),
    "fixed_and_by_itself": lambda: draw.fixed_and_by_itself(
        [[0.1, 0.5, 0.5, 1.0], [0.2, 0.4, 0.5, 0.9]], [(2.5, 1.0), (3.5, 0.8)], 4
    ),
    "changes": lambda: draw_changes(GRIDS > 0.5, [[1, 2, 3], [2, 1, 2]], ["bit 1 is turned", "bit 2 is turned"]),
    "thoughts": lambda: draw_thoughts(THOUGHTS, ("bit", "reset")),
    "one thought": lambda: draw_thoughts(THOUGHTS[:1], ("bit", "reset")),
    "steps_against_need": lambda: draw_steps_against_need(NEED, ACT, 1, 2, failed=[[4.0, None, 4.5]]),
    "above_the_limit": lambda: draw.above_the_limit(
        [0.2, 0.5, 0.8], THEORY, {"a network": [(0.2, 3.9), (0.5, 1.2)], "reversed": [(0.8, 7.0)]}
    ),
    "bought": lambda: draw_bought(TESTS),
    "against_size": lambda: draw_against_size([16, 64, 256], THEORY, {"a network": [(16, 5.5), (256, 9.0)]}, "steps"),
    "by_group": lambda: draw_by_group(GROUPS, "right", (0, 1.02)),
}


def marked(ax):
    """{label: the points of its marks}; areas that are filled are left out."""
    groups = [group for group in ax.collections if len(group.get_offsets()) and group.get_label()[0] != "_"]
    return {group.get_label(): np.round(np.asarray(group.get_offsets(), float), 9).tolist() for group in groups}


def labelled(ax, start):
    """The only line whose label starts so."""
    (line,) = [line for line in ax.lines if line.get_label().startswith(start)]
    return line


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_white_and_labelled_and_legible_whatever_the_readers_style(name):
    figure = check(FIGURES[name])
    assert all(ax.get_xlabel() for ax in figure.axes)
    assert figure.axes[0].get_ylabel() or name == "by_group"


def assert_is_space_time(ax, grid, stairs):
    """Steps run down, places across, and the grid lies on them."""
    (image,) = ax.images
    assert np.array_equal(image.get_array(), np.asarray(grid, float))
    assert image.get_extent() == [0.5, 3.5, 5.5, 0.5]
    assert (ax.get_xlim(), ax.get_ylim()) == ((0.5, 3.5), (5.5, 0.5))
    cone = labelled(ax, "light cone")
    assert cone.get_xydata().tolist() == stairs
    assert cone.get_color() == BLACK
    assert ax.get_xlabel() == "place"


def test_what_changes_is_coloured_under_the_staircase_of_its_panel():
    first, second = FIGURES["changes"]().axes
    assert_is_space_time(first, GRIDS[0] > 0.5, STAIRS)
    other = [[0.5, 1.5], [1.5, 1.5], [1.5, 0.5], [2.5, 0.5], [2.5, 1.5], [3.5, 1.5]]
    assert_is_space_time(second, GRIDS[1] > 0.5, other)
    assert [ax.get_title() for ax in (first, second)] == ["bit 1 is turned", "bit 2 is turned"]
    (image,) = first.images
    assert to_hex(image.cmap(image.norm(1.0))).upper() == SKY
    assert (image.norm.vmin, image.norm.vmax) == (0, 1)


def test_answers_are_dark_where_they_are_1_and_crossed_where_they_are_wrong():
    first, second = FIGURES["thoughts"]().axes
    assert_is_space_time(first, GRIDS[0], STAIRS)
    assert_is_space_time(second, GRIDS[1], [[0.5, 0.5], [1.5, 0.5], [1.5, 0.5], [2.5, 0.5], [2.5, 1.5], [3.5, 1.5]])
    (image,) = first.images
    light, dark = (sum(image.cmap(image.norm(answer))[:3]) for answer in (0.0, 1.0))
    assert dark < light
    assert sorted(marked(first)["wrong answer"]) == [[1, 5], [3, 2]]  # place, step
    assert len(marked(second)["wrong answer"]) == 13
    assert to_hex(first.collections[0].get_edgecolor()[0]).upper() == WRONG


def test_a_line_halts_above_the_row_of_its_step_and_its_inputs_stand_above_their_places():
    for i, (ax, thought) in enumerate(zip(FIGURES["thoughts"]().axes, THOUGHTS, strict=True)):
        halt = labelled(ax, "the line halts")
        assert set(halt.get_ydata()) == {thought.halts - 0.5}
        assert (halt.get_color(), halt.get_linestyle()) == (GREEN, "--")
        assert ax.get_title() == thought.title
        written = [(text.get_text(), text.xy[0], text.get_position()[1]) for text in ax.texts]
        digits = [text for text in written if text[0].isdigit()]
        top, bottom = max(height for *_, height in digits), min(height for *_, height in digits)
        assert top > bottom
        rows = [[text for text, _, height in digits if height == at] for at in (top, bottom)]
        assert rows == [[str(digit) for digit in row] for row in thought.inputs]
        assert [place for _, place, _ in digits] == [1, 2, 3] * 2
        names = [(text, height) for text, _, height in written if not text.isdigit()]
        assert names == ([("bit", top), ("reset", bottom)] if i == 0 else [])  # once, before the first panel


def test_how_late_lines_halt_is_put_in_words():
    assert in_words([0, 1]) == "The left line halts in time, the right one 1 step late"
    assert in_words([7, 1]) == "The left line halts 7 steps late, the right one 1 step late"
    assert in_words([2, 2]) == "Both lines halt 2 steps late"
    assert in_words([1, 1]) == "Both lines halt 1 step late"
    assert in_words([0, 0]) == "Both lines halt in time"
    assert in_words([1, -1]) == "A line halts before all of its places can be sure"


def test_a_line_that_halts_in_time_has_its_dashes_at_the_lowest_stair():
    in_time = THOUGHTS[0]._replace(halts=max(THOUGHTS[0].needed))
    (ax,) = draw_thoughts([in_time], ("bit", "reset")).axes
    stairs, halt = (labelled(ax, name).get_ydata() for name in ("light cone", "the line halts"))
    assert {*halt} == {max(stairs)}


def test_inputs_of_long_lines_are_not_written():
    long = Thought(rng.random((4, 25)), np.ones((4, 25)), [1] * 25, 2, np.zeros((2, 25)), "long")
    assert not draw_thoughts([long], ("bit", "reset")).axes[0].texts


def test_runs_are_drawn_where_they_were_measured():
    (ax,) = FIGURES["steps_against_need"]().axes
    failed, first, second, act, cone, border = drawn(ax)
    assert first == [[1, 2.0], [2, 3.0], [4, 5.0]]
    assert second == pairs([1, 2, 3, 4], NEED[1])
    assert act == [[1, 1.0], [3, 2.0], [4, 2.5]]
    assert failed == [[1, 4.0], [3, 4.5]]
    assert cone == pairs([1, 2, 3, 4], [1, 2, 3, 4])
    assert border == [[2.5, 0], [2.5, 1]]  # from edge to edge
    assert [line.get_color() for line in ax.lines] == [NOT_LEARNT, GREEN, GREEN, ORANGE, LIMIT, GREY]
    assert [line.get_alpha() for line in ax.lines[1:3]] == [0.95, 0.45]
    labels = [text.get_text() for text in ax.texts]
    assert "PonderNet\n+1.3 steps" in labels  # 1, 1, 1, and four times 1.5
    assert [line.get_linewidth() for line in ax.lines[1:3]] == [2.4, 1]  # this session's, a stored one
    assert "ACT takes 2\nof 4 steps" in labels  # 2.5
    (below,) = ax.collections  # the grey area lies below the diagonal
    xs, ys = below.get_paths()[0].vertices.T
    assert (ys <= xs).all()
    assert ys.min() == 0


def test_who_thinks_long_enough_is_said_of_what_is_drawn():
    needed = [float(L) for L in range(1, 33)]
    good = [L + 1.5 for L in needed]
    tired = [min(L, 20.0) for L in needed]
    only = "Trained on 8 places, PonderNet thinks long enough on 32;\nACT, at this price, does not"
    assert what_steps_say([good], [tired], 8) == only
    assert what_steps_say([good], [good], 8) == "Trained on 8 places, PonderNet thinks just long enough on 32"
    assert what_steps_say([good], [], 8) == "Trained on 8 places, PonderNet thinks just long enough on 32"
    for bad in (tired, [L + 9 for L in needed]):
        assert what_steps_say([bad], [tired], 8) == "Trained on 8 places, PonderNet misses what 32 places need"
    assert "No PonderNet" in what_steps_say([], [tired], 8)


def test_theory_is_a_line_and_every_network_a_mark_beside_its_lambda():
    (ax,) = FIGURES["above_the_limit"]().axes
    assert drawn(ax) == [pairs([0.2, 0.5, 0.8], line) for line in THEORY.values()]
    assert [line.get_linestyle() for line in ax.lines] == ["-", ":"]
    assert marked(ax) == {"a network": [[0.196, 3.9], [0.496, 1.2]], "reversed": [[0.804, 7.0]]}
    assert [to_hex(group.get_edgecolor()[0]).upper() for group in ax.collections] == [GREEN, PURPLE]
    assert ax.get_ylabel() == "steps above $L$"
    assert ax.get_ylim()[0] == 0
    assert [text.get_text() for text in ax.texts] == ["equation 2", "cut off", "a network", "reversed"]
    heights = [text.get_position()[1] for text in ax.texts]
    assert heights == [4.0, 0.75, 3.9, 7.0]  # at the lines, and at the highest marks
    assert not ax.get_legend()


def test_theory_without_stored_networks_and_three_groups_of_them_are_drawn_too():
    (ax,) = draw.above_the_limit([0.2, 0.5, 0.8], THEORY, {"a network": []}).axes
    assert [text.get_text() for text in ax.texts] == ["equation 2", "cut off"]
    groups = {name: [(0.2, 3.9)] for name in ("N = 20", "N = 40", "reversed")}
    (ax,) = draw.above_the_limit([0.2, 0.5, 0.8], THEORY, groups).axes
    assert not ax.texts
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*THEORY, *groups]


def test_right_answers_stand_over_mean_steps_and_an_arrow_shows_what_halting_adds():
    figure = FIGURES["bought"]()
    first, second = figure.axes
    curves = [pairs([1, 2, 3], curve) for curve in TESTS[0].curves]
    limits = [pairs(*line) for line in TESTS[0].limits.values()]
    assert drawn(first) == curves + limits
    assert [line.get_color() for line in first.lines] == [GREY] * 2 + [LIMIT] * 2
    assert [line.get_linestyle() for line in first.lines[2:]] == ["-", ":"]
    assert marked(first) == {"halts by itself": [[2.5, 0.95], [2.0, 1.0]]}
    assert drawn(second) == [[[1, 0.8], [2, 0.7]]]
    assert marked(second) == {"halts by itself": [[1.2, 0.781]]}
    assert {to_hex(ax.collections[0].get_facecolor()[0]).upper() for ax in (first, second)} == {GREEN}
    assert [ax.get_xlim() for ax in (first, second)] == [(0, 4.5), (0, 9)]
    assert [ax.get_title() for ax in (first, second)] == ["16 places", "digits"]
    assert (first.get_xlabel(), first.get_ylabel()) == ("mean steps", "right answers")
    assert [text.get_text() for text in first.texts[2:]] == ["line by line", "same step", "same step, at best"]
    assert [first.texts[which].get_color() for which in (2, 4)] == [LIMIT, LIMIT]
    np.testing.assert_allclose(first.texts[4].xy, (2.7, np.interp(2.7, *TESTS[0].limits["best for all"])))
    assert first.yaxis.get_major_formatter()(0.2) == "20%"
    assert not figure.legends
    arrow, gain = first.texts[:2]  # at 2.5 steps .7 are right at the same step for all, at 2 steps .4
    np.testing.assert_allclose([*arrow.xyann], [2.25, 0.55])
    np.testing.assert_allclose([*arrow.xy], [2.25, 0.955])
    assert gain.get_text() == "+42 points"
    assert [text.get_text() for text in second.texts] == ["0 points", "halts by itself"]
    assert second.texts[1].get_color() == GREEN


def test_what_halting_buys_is_said_of_what_is_drawn():
    assert what_halting_buys(TESTS) == "Halting buys these networks 42 points on lines, nothing on digits"
    assert what_halting_buys(TESTS[:1]) == "Halting buys these networks 42 points on lines"
    assert what_halting_buys([TESTS[0]._replace(halting=[(2.5, 0.1), (2.0, 0.1)])]) == "Halting buys nothing here"


def test_sizes_are_on_a_logarithmic_axis_and_named():
    (ax,) = FIGURES["against_size"]().axes
    assert drawn(ax) == [pairs([16, 64, 256], line) for line in THEORY.values()]
    assert marked(ax) == {"a network": [[16, 5.5], [256, 9.0]]}
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["16", "64", "256"]
    assert ax.get_ylabel() == "steps"


def test_groups_are_rows_from_the_top_and_a_series_lies_beside_the_other():
    (ax,) = FIGURES["by_group"]().axes
    assert marked(ax) == {"right": [[1.0, -0.08], [0.9, -0.08]], "last": [[0.8, 0.08], [0.3, 1.08], [0.2, 1.08]]}
    assert [label.get_text() for label in ax.get_yticklabels()] == ["with", "without"]
    assert ax.yaxis_inverted()
    assert ax.get_xlim() == (0, 1.02)
    assert ax.get_xlabel() == "right"


def test_votes_are_shaded_as_they_are_with_the_bits_the_limit_and_the_step_of_halting():
    figure = draw.who_votes_no(VOTES)
    for ax, line in zip(figure.axes, VOTES, strict=True):
        (image,) = ax.images
        np.testing.assert_array_equal(image.get_array(), line.no)
        assert image.get_extent() == [0.5, 3.5, len(line.no) + 0.5, 0.5]
        assert [image.cmap(image.norm(value)) for value in (0.0, 1.0)] == [to_rgba("white"), to_rgba(ORANGE)]
        assert {text.get_text(): text.xy for text in ax.texts if text.get_text() == "1"} == {"1": (3, 0.5)}
        assert [text.get_text() for text in ax.texts] == [str(bit) for bit in line.bits]
        assert [float(y[0]) for y in (rule.get_ydata() for rule in ax.lines)] == [line.need - 0.5, line.halts - 0.5]
        assert ax.get_title() == line.title


def test_a_fixed_step_is_a_line_and_halting_by_itself_a_mark():
    (ax,) = draw.fixed_and_by_itself([[0.1, 0.5, 0.9], [0.2, 0.4, 0.8]], [(2.5, 1.0), (1.5, 0.7)], 3).axes
    assert drawn(ax)[:2] == [pairs([1, 2, 3], line) for line in ([0.1, 0.5, 0.9], [0.2, 0.4, 0.8])]
    assert marked(ax) == {"halted by itself (mean steps)": [[2.5, 1.0], [1.5, 0.7]]}
    assert [line.get_xdata()[0] for line in ax.lines[2:]] == [3, 2.5]


def test_news_of_a_flipped_bit_is_drawn_on_the_cone_of_that_bit_and_what_leaves_it_is_counted():
    differs = [torch.zeros(2, 4, dtype=torch.bool) for _ in range(2)]
    differs[0][0, 0] = differs[1][1, 3] = True  # bit 1 after step 1, place 4 after step 2
    figure = draw.news_of(differs, (0, 2))
    for ax, grid, cone in zip(figure.axes, differs, ([1, 2, 3, 4], [3, 2, 1, 2]), strict=True):
        np.testing.assert_array_equal(ax.images[0].get_array(), grid.float())
        assert labelled(ax, "light cone").get_ydata().tolist() == [step - 0.5 for step in cone for _ in range(2)]
    assert [ax.get_title() for ax in figure.axes] == ["bit 1 is flipped", "bit 3 is flipped"]
    assert draw.how_far_news_travels(differs, (0, 2)) == "News travels one place a step, never faster"
    differs[0][0, 1:] = True  # places 2 to 4 after step 1: too early
    assert draw.how_far_news_travels(differs, (0, 2)) == "3 answers changed outside the cone"


def test_the_two_lines_of_lesson_05_need_half_their_places_and_all():
    torch.manual_seed(0)
    model, task = PonderNet(LocalStep(2, 4), 8).eval(), LineParityTask(8)
    x = task.batch(200, torch.Generator().manual_seed(0))[0]
    figure, finding = draw.half_and_whole(model, task, x, 16)
    needs = task.needed_steps(x).amax(1)
    drawn_needs = [max(labelled(ax, "light cone").get_ydata()) + 0.5 for ax in figure.axes]
    assert drawn_needs == [4, min(8, int(needs.max()))]
    late = [labelled(ax, "the line halts").get_ydata()[0] + 0.5 for ax in figure.axes] - np.array(drawn_needs)
    assert finding == in_words(late.astype(int).tolist())
    (ax,) = draw.one_of_20_lines(model, 3, 5).axes
    wanted = LineParityTask(5).batch(20, torch.Generator().manual_seed(3))[0][3]
    assert "".join(text.get_text() for text in ax.texts if text.get_text().isdigit()) == "".join(
        f"{digit:.0f}" for digit in wanted.flatten()
    )
    assert ax.get_title() == "a line of 5 places"


def run_of(lambda_p=0.4, N=20, right=0.9, late=1.5, **setting):
    found = {"right": right, "steps": 7.0 + late, "before": 0.0}
    test = {"need": 7.0, "rules": dict.fromkeys(("sample", "quantile 0.9", "threshold 0.2"), found)}
    return {"lambda_p": lambda_p, "N": N, "tests": {"16": test, "64": test}, **setting}


def test_steps_above_the_need_are_those_of_the_stored_runs_beside_theory():
    rows = [run_of(late=1.5), run_of(late=2.5), run_of(late=9.0, N=40), run_of(lambda_p=0.2, late=2.0)]
    above = draw.steps_above(rows, [run_of(lambda_p=0.8, late=5.0, N=40)])
    assert above == {"a network": [(0.4, 1.5), (0.4, 2.5), (0.2, 2.0)], "reversed divergence": [(0.8, 5.0)]}
    lambda_ps, theory = draw.steps_above_in_theory(above, lambda lambda_p, L, N: L + N * lambda_p, 0.3)
    assert lambda_ps == [0.2, 0.4]
    np.testing.assert_allclose([*theory.values()], [[4.0, 1.5], [4.0, 8.0]])
    ratios = draw.against_theory(above, lambda_ps, theory)
    assert ratios == pytest.approx({0.2: 2 / 4 - 1, 0.4: 2 / 8 - 1})
    assert draw.how_close_to_theory(ratios) == "The median network is within 75% of theory"
    none = draw.steps_above([], [])
    assert draw.steps_above_in_theory(none, lambda lambda_p, L, N: L, 0.3)[0] == [0.3]
    assert draw.against_theory(none, lambda_ps, theory) == {}
    assert draw.how_close_to_theory({}) == "No stored networks"


def test_what_halting_buys_on_lines_is_measured_at_the_mean_steps_of_each_network():
    found = {"right": 0.9, "steps": 2.5}
    tests = [{4: {"by_step": [0.1, 0.2, 0.4, 0.8], "rules": {"sample": found}}}, {8: {}}]
    bought = draw.bought_on_lines(tests, 4, "sample")
    assert (bought.title, bought.halting, bought.end) == ("4 places", [(2.5, 0.9)], 5.2)
    assert bought.same() == pytest.approx([0.3])
    best = draw.best_fixed(bought)
    assert list(bought.limits["best if all have the same step"][0]) == [1, 2, 3, 4]
    assert best == sorted(best)
    assert best[-1] == 1  # after as many steps as places all is known
    (digits,) = draw.bought_on_digits([{"rules": {"quantile": (1.2, 0.78)}, "by_step_within": [0.8, 0.7]}])
    assert (digits.halting, digits.curves, digits.limits) == ([(1.2, 0.78)], [[0.8, 0.7]], {})
    assert draw.bought_on_digits([]) == []


def test_the_table_of_parts_taken_away_holds_the_runs_of_the_same_training():
    pooled = [run_of(right=0.5), run_of(right=0.1, lambda_p=0.2)]
    quiet = [run_of(right=0.3, noise=0, updates=1000), run_of(right=0.1, noise=0, updates=3000)]
    table = draw.without_parts([run_of()], pooled, quiet)
    assert {name: set(row.values()) for name, row in table.items()} == {
        "as above": {"90%"}, "mean and maximum": {"50%"}, "no noise": {"30%"},
    }  # fmt: skip


def test_what_a_sum_takes_is_the_median_at_the_widest_beside_the_longest_carry():
    theory = draw.steps_of_a_sum([16, 32])
    x = AdditionTask(16).batch(2000, torch.Generator().manual_seed(0))[0]
    needed = [max(AdditionTask.needed_steps(one[None], guess=0)[0].tolist()) for one in x]
    assert theory["the longest carry needs"][0] == pytest.approx(np.mean(needed))
    assert theory["$\\log_2 n$"] == [4, 5]
    points = [(16, 1.0), (32, 5.0), (32, 6.5), (32, 7.0)]
    expected = f"32 bits need {theory['the longest carry needs'][1]:.1f} steps; the median network takes 6.5"
    assert draw.what_a_sum_takes([16, 32], theory, points) == expected
    assert draw.what_a_sum_takes([16, 32], theory, []) == "No stored networks"


def test_a_row_of_the_table_counts_who_speaks_among_those_that_learnt():
    def run_with(right, early, by_step):
        found = {"right": right, "early": early, "right_early": right, "steps": 2.0}
        return {"places": 4, "tests": {"4": {"rules": {"threshold": found}, "by_step": by_step}}}

    rows = [
        run_with(0.99, 0.5, [0.1, 0.6, 0.4, 1.0]),  # learnt, and speaks
        run_with(0.9, 0.5, [0.1, 0.2, 0.3, 0.96]),  # learnt at a fixed step, and is wrong when it halts early
        run_with(0.9, 0.5, [0.1, 0.2, 0.3, 0.9]),  # has not learnt
    ]
    assert draw.summary(rows) == {
        "networks": "3", "have learnt": "2", "speak": "1", "their steps": "2.00", "halt before L": "50%",
        "right then": "99.0%", "best fixed step before L": "60%",
    }  # fmt: skip
