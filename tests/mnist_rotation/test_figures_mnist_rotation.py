"""The figures of lesson 04 draw the numbers that they are given."""

import numpy as np
import pytest
from drawn import check, drawn, pairs, written
from matplotlib.colors import to_hex
from pandas import DataFrame

from ponder_course.common.style import (
    ANSWER,
    BLACK,
    BLUE,
    GREEN,
    HALTING,
    MARKERS,
    PRIOR,
    PURPLE,
    RED,
    WRONG,
    mpl,
)
from ponder_course.mnist_rotation import experiment
from ponder_course.mnist_rotation import figures as draw
from ponder_course.mnist_rotation.figures import Difference, Thought, draw_beside_prior, draw_learning, draw_thoughts

rng = np.random.default_rng(0)
IMAGES = rng.random((6, 5, 4))  # [images, height, width]
CNN, PATCHES = [[0.9, 0.91, 0.92], [0.89, 0.9, 0.86]], [[0.2, 0.5, 0.96, 0.7], [0.1, 0.4, 0.8, 0.6]]
P = [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]]
ANGLES = [0, 45, 90, 180]
ACCURACY = {"CNN": [[0.9, 0.8, 0.4, 0.3], [0.95, 0.7, 0.5, 0.2]], "patches": [[0.85, 0.6, 0.35, 0.25]]}
STEPS = {"CNN": [[4.0, 3.5, 3.0, 3.2], [5.0, 4.5, 4.0, 4.2]], "patches": [[5.5, 5.2, 5.0, 5.1]]}
LOGGED = DataFrame([
    {"kind": kind, "network": network, "update": update, "accuracy": update / 10 * top, "steps": steps + network}
    for kind, top, steps in (("CNN", 1.0, 4), ("patches", 0.9, 6)) for network in (0, 1) for update in (5, 10)
])  # fmt: skip
ROWS = [
    Difference("short"),
    Difference("as it is", "each", [[4.0, 3.9], [1.0]]),
    Difference("no prior", "batch", [[-1.2, -1.0, -2.0], []]),
]


def flat_line(curves=None):
    curves = curves or {"CNN": CNN, "patches": PATCHES}
    own = {"CNN": [(2.2, 0.91), (1.5, 0.9)], "patches": [(2.9, 0.88)]}
    return draw.flat_line(curves, own, {"CNN": [(1, 0.88)]}, live=1, chance=0.1)


def thoughts():
    return draw_thoughts([
        Thought(IMAGES[0], P[0], [6, 6, 9], 6, "0 degrees"),
        Thought(IMAGES[1], P[1], [9, 9, 9], 6, "180 degrees"),
    ])  # fmt: skip


FIGURES = {
    "learning": lambda: draw_learning(LOGGED),
    "flat_line": flat_line,
    "thoughts": thoughts,
    "beside_prior": lambda: draw_beside_prior({"CNN": P, "patches": P[1:]}, {"CNN": P[1], "patches": P[0]}),
    "over_angles": lambda: draw.over_angles(ANGLES, [ACCURACY, STEPS], ["accuracy", "steps"], 22.5, live=1),
    "forest": lambda: draw.forest(ROWS, ["steps", "change"], ["each", "batch"], left="fewer", right="more"),
}


def marked(ax):
    """The points of every group of marks that is not empty."""
    groups = [np.round(np.asarray(group.get_offsets(), float), 9).tolist() for group in ax.collections]
    return [group for group in groups if group]


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_opaque_white_and_labelled_and_legible_whatever_the_readers_style(name):
    figure = check(FIGURES[name])
    assert all(ax.get_xlabel() for ax in figure.axes)


def test_every_network_learns_along_its_line_and_where_its_kind_ends_stands_beside_it():
    axes = FIGURES["learning"]().axes
    ends_of = {"accuracy": ["CNN: 100%", "patches: 90%"], "steps": ["CNN: 4.5", "patches: 6.5"]}
    for ax, (column, ends) in zip(axes, ends_of.items(), strict=True):
        networks = [rows for _, rows in LOGGED.groupby(["kind", "network"], sort=False)]
        assert drawn(ax) == [np.round(rows[["update", column]].to_numpy(float), 9).tolist() for rows in networks]
        assert [line.get_color() for line in ax.lines] == [BLUE, BLUE, GREEN, GREEN]
        assert written(ax) == ends
        assert [text.get_color() for text in ax.texts] == [BLUE, GREEN]
    assert [ax.get_title() for ax in axes] == ["right answers", "expected steps"]
    np.testing.assert_allclose([ax.get_ylim() for ax in axes], [(0, 1.1), (0, 7.7)])  # a tenth above 7 steps


def test_the_flat_line_is_the_accuracy_of_every_run_and_their_mean_against_the_step():
    ax = flat_line().axes[0]
    one, two = pairs([1, 2, 3], CNN[0]), pairs([1, 2, 3], CNN[1])
    mean = pairs([1, 2, 3], np.round(np.mean(CNN, axis=0), 9))
    assert drawn(ax)[:3] == [one, two, mean]
    assert drawn(ax)[3:5] == [pairs([1, 2, 3, 4], run) for run in PATCHES]
    assert drawn(ax)[6] == [[0, 0.1], [1, 0.1]]  # a guess, from edge to edge
    assert [line.get_alpha() for line in ax.lines[:2]] == [0.9, 0.3]  # this session's is darker
    assert [ax.lines[i].get_color() for i in (0, 1, 2, 3)] == [BLUE] * 3 + [GREEN]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step after which it is stopped", "digits read correctly")
    assert ax.get_ylim() == (0, 1.04)
    names = {text.get_text(): (text.xy, text.get_color()) for text in ax.texts}
    assert names["CNN (mean of 2)"] == ((3, np.mean(CNN, axis=0)[-1]), BLUE)
    assert names["patches (mean of 2)"] == ((4, np.mean(PATCHES, axis=0)[-1]), GREEN)
    assert names["a guess"][0][1] == 0.1


def test_where_a_network_halts_the_mark_is_full_and_where_it_was_trained_for_one_depth_hollow():
    ax = flat_line().axes[0]
    assert marked(ax) == [[[2.2, 0.91], [1.5, 0.9]], [[1, 0.88]], [[2.9, 0.88]]]
    own, fixed, patches = ax.collections[:3]
    assert [len(marks.get_facecolor()) for marks in (own, fixed, patches)] == [1, 0, 1]
    assert [to_hex(marks.get_edgecolor()[0]).upper() for marks in (own, fixed, patches)] == [
        BLUE,
        BLUE,
        GREEN,
    ]
    assert ax.get_legend_handles_labels()[1] == ["full: left to itself", "hollow: trained for this many steps alone"]
    alone = draw.flat_line({"CNN": CNN}, {"CNN": [(1, 0.9)]}, {"CNN": []}, 1, 0.1).axes[0]
    assert alone.get_legend_handles_labels()[1] == ["full: left to itself"]


def test_bars_are_full_where_the_answer_is_right_and_hatched_where_it_is_wrong():
    first, second = thoughts().axes[2:]
    for ax, p_n, right in ((first, P[0], [True, True, False]), (second, P[1], [False] * 3)):
        bars = {round(bar.get_x() + bar.get_width() / 2): bar for bar in ax.patches if bar.get_height()}
        assert [bars[n].get_height() for n in (1, 2, 3)] == p_n
        assert [bars[n].get_hatch() is None for n in (1, 2, 3)] == right
        ink = [
            bars[n].get_facecolor() if ok else bars[n].get_edgecolor() for n, ok in zip((1, 2, 3), right, strict=True)
        ]
        assert {to_hex(shade).upper() for shade in ink} == {HALTING}
        assert [text.get_color() for text in ax.texts] == [ANSWER if ok else WRONG for ok in right]
    assert [text.get_text() for text in first.texts] == ["6", "6", "9"]
    assert [text.xy for text in first.texts] == [(1, 0.5), (2, 0.3), (3, 0.2)]


def test_above_the_bars_stands_the_image_that_they_are_of():
    above = thoughts().axes[:2]
    for ax, image, caption in zip(above, IMAGES, ("0 degrees", "180 degrees"), strict=False):
        assert np.array_equal(ax.images[0].get_array(), image)
        assert ax.get_xlabel() == caption


def test_the_bars_beside_the_prior_are_the_mean_of_the_networks():
    first, second = FIGURES["beside_prior"]().axes
    for ax, networks, prior, title in (
        (first, P, P[1], "CNN: 1.9 steps\nprior: 2.1"),
        (second, P[1:], P[0], "patches: 2.1 steps\nprior: 1.7"),
    ):
        bars = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in ax.patches if bar.get_height()]
        assert np.allclose(bars, pairs([1, 2, 3], np.mean(networks, axis=0)))
        lines = [line for line in drawn(ax) if line]
        assert lines == [pairs([1, 2, 3], p_n) for p_n in (*networks, prior)]
        assert ax.get_title() == title
    prior = first.lines[2]
    assert (prior.get_linestyle(), prior.get_color(), prior.get_label()) == (":", PRIOR, "$p_G(n)$, prior")
    assert {line.get_color() for line in first.lines[:2]} == {HALTING}


def test_every_run_is_drawn_against_the_angle_and_grey_begins_where_training_ends():
    axes = FIGURES["over_angles"]().axes
    for ax, group, label in zip(axes, (ACCURACY, STEPS), ("accuracy", "steps"), strict=True):
        runs = [pairs(ANGLES, run) for run in group["CNN"]]
        mean = pairs(ANGLES, np.round(np.mean(group["CNN"], axis=0), 9))
        alone = pairs(ANGLES, group["patches"][0])
        assert drawn(ax) == [*runs, mean, alone, alone]
        assert ax.get_ylabel() == label
        assert ax.get_xlim() == (0, 180)
        assert ax.get_ylim()[0] == 0
        (grey,) = ax.patches
        assert (grey.get_x(), grey.get_x() + grey.get_width()) == (22.5, 180)
    assert [line.get_alpha() for line in axes[0].lines[:2]] == [0.9, 0.3]


def test_wrong_answers_are_red():
    group = {"right answers": [[1.0, 2.0]], "wrong answers": [[3.0, 4.0]]}
    ax = draw.over_angles([0, 90], [group], ["steps"], 22.5).axes[0]
    assert [line.get_color() for line in ax.lines] == [BLUE, BLUE, RED, RED]


def test_panels_over_angles_that_share_an_axis_show_the_lines_of_both_from_0():
    figure = draw.over_angles([0, 90], [{"CNN": [[1.0, 2.0]]}, {"CNN": [[4.0, 5.0]]}], ["a", "b"], 22.5, sharey=True)
    for ax in figure.axes:
        low, high = ax.get_ylim()
        assert low == 0
        assert high > 5


def test_differences_are_rows_from_the_top_with_every_run_their_mean_and_its_interval():
    first, second = FIGURES["forest"]().axes
    assert [label.get_text() for label in first.get_yticklabels()] == ["short", "as it is", "no prior"]
    assert [label.get_fontweight() for label in first.get_yticklabels()] == ["bold", "normal", "normal"]
    assert first.yaxis_inverted()
    assert marked(first)[:4] == [[[4.0, 1.22], [3.9, 1.22]], [[3.95, 0.92]], [[-1.2, 2.22], [-1.0, 2.22], [-2.0, 2.22]],
                                 [[-1.4, 1.92]]]  # fmt: skip
    assert marked(second) == [[[1.0, 1.22]], [[1.0, 0.92]]]  # one run has no interval
    half = 12.7062 * 0.05  # Student's t with one degree of freedom, times the standard error
    spread = 4.30265 * (0.28 / 3) ** 0.5  # with two; the variance of -1.2, -1, -2 is 0.28
    bar, other, zero = first.lines
    assert np.allclose(bar.get_xydata(), [[3.95 - half, 0.92], [3.95 + half, 0.92]], rtol=1e-4)
    assert np.allclose(other.get_xydata(), [[-1.4 - spread, 1.92], [-1.4 + spread, 1.92]], rtol=1e-4)
    assert zero.get_xdata() == [0, 0]
    assert [line.get_color() for line in (bar, other)] == [BLUE, GREEN]
    assert [label.get_color() for label in first.get_yticklabels()] == [BLACK, BLUE, GREEN]
    assert [ax.get_xlabel() for ax in (first, second)] == ["steps", "change"]


def test_what_a_side_means_stands_on_that_side():
    texts = {text.get_text(): text.xy[0] for text in FIGURES["forest"]().axes[0].texts}
    assert texts["fewer"] < 0.5 < texts["more"]


def test_in_a_single_panel_each_row_has_its_verdict_and_rows_that_name_their_group_need_no_legend():
    rows = [
        Difference("each, short", "each", [[-1.0, -1.1, -0.9]]),
        Difference("each, long", "each", [[1.0, -1.0, 0.1]]),
        Difference("batch", "batch", [[2.0, 2.1, 1.9]]),
        Difference("third", "third", [[2.0, 2.1]]),
    ]
    figure = draw.forest(rows, ["steps"], ["each", "batch", "third"], left="fewer", right="more")
    found = {text.get_text(): (text.xy[1], text.get_color()) for text in figure.axes[0].texts if text.xy[0] > 1}
    assert found == {
        "fewer": (0, BLUE), "undecided": (1, BLUE), "more": (2, GREEN), "too few runs": (3, PURPLE),
    }  # fmt: skip
    assert not figure.legends
    assert FIGURES["forest"]().legends
    assert not [text for text in FIGURES["forest"]().axes[0].texts if text.xy[0] > 1]


def test_the_early_mean_is_in_the_red_of_what_is_wrong():
    rows = [Difference("each", "each", [[1.0, 1.1]]), Difference("early mean", "early mean", [[-1.0, -1.1]])]
    ax = draw.forest(rows, ["steps"], ["each", "early mean"]).axes[0]
    assert [line.get_color() for line in ax.lines[:2]] == [BLUE, RED]
    assert RED == WRONG


def test_few_rows_have_larger_marks():
    sizes = []
    for rows in (ROWS, ROWS * 3):
        groups = draw.forest(rows, ["a", "b"], ["each", "batch"]).axes[0].collections
        sizes.append([group.get_sizes()[0] for group in groups[:2]])
    assert sizes[0] > sizes[1]


def test_only_groups_that_have_rows_are_named():
    labels = draw.forest(ROWS[:2], ["a", "b"], ["batch", "each"]).axes[0].get_legend_handles_labels()
    assert labels[1] == ["each"]
    assert labels[0][0].get_paths()[0].vertices.shape == _marker(MARKERS[2])


def _marker(name):
    marker = mpl.markers.MarkerStyle(name)
    return marker.get_path().vertices.shape


NAMES = {"CNN": "CNN first", "conv": "patches"}


def run_of(recipe=experiment.CNN, right=0.9, steps=4.0, **measures):
    """A stored run that reads so many digits upright and a third of them turned, in so many steps at any angle."""
    angles = len(experiment.ANGLES)
    return {**recipe, "accuracy": [right] + [right / 3] * (angles - 1), "steps": [steps] * angles, **measures}


def test_what_was_learnt_is_the_worst_network_at_the_end():
    assert draw.what_was_learnt(LOGGED) == "Both learn to read, and both take several steps"
    for worse in (LOGGED.assign(accuracy=0.79), LOGGED.assign(steps=1.9)):
        assert draw.what_was_learnt(worse) == "Not both have learnt to read in several steps"


def test_the_flat_line_is_of_the_runs_it_is_given():
    rows = {"CNN": [run_of(by_step=[0.9, 0.905])], "conv": [run_of(by_step=[0.2, 0.7, 0.6], right=0.7, steps=2.5)]}
    by_step = draw.at_each_step(rows, NAMES)
    assert by_step == {"CNN first": [[0.9, 0.905]], "patches": [[0.2, 0.7, 0.6]]}
    assert draw.left_to_themselves(rows, NAMES) == {"CNN first": [(4.0, 0.9)], "patches": [(2.5, 0.7)]}
    stored = [run_of(experiment.fixed("conv", 5), 0.6), run_of(experiment.fixed("CNN", 4), 0.8), *rows["CNN"]]
    assert draw.of_one_depth(stored, NAMES) == {"CNN first": [(4, 0.8)], "patches": [(5, 0.6)]}
    same = "Stop it after step 1 or after step 20: CNN first reads just as well"
    assert draw.what_the_flat_line_says(by_step["CNN first"]) == same
    assert draw.what_the_flat_line_says(by_step["patches"]) == "CNN first: the step changes up to 50.0 points"
    assert draw.losses_at_step_1(by_step) == ["  CNN first: 0.5", "  patches: 50.0"]


def test_who_is_near_the_prior_is_measured_by_total_variation():
    prior = [0.5, 0.3, 0.2]
    near, far = {"CNN first": prior, "patches": prior}, [0.1, 0.2, 0.7]
    about = "CNN first halts about where its prior puts it"
    assert draw.how_near_the_prior({"CNN first": [prior], "patches": [far]}, near) == about
    assert draw.how_near_the_prior({"CNN first": [far], "patches": [prior]}, near).startswith("Neither")
    half = [[0.3, 0.25, 0.45]]  # at half the distance
    assert draw.how_near_the_prior({"CNN first": half, "patches": [far]}, near).startswith("Neither")


def turned(*changes):
    """Runs whose steps change so, sideways and within 90 degrees."""
    at = experiment.ANGLES.index(90)
    rows = [run_of(steps_within=[3.0, 3.0 + change]) for change in changes]
    for row, change in zip(rows, changes, strict=True):
        row["steps"][at] += change
    return rows


def test_four_verdicts_are_of_both_networks_and_both_trainings():
    fall, rise = turned(-1.0, -1.1, -0.9), turned(1.0, 1.1, 0.9)
    four = draw.four_verdicts({"short": {"CNN": fall, "conv": rise}, "long": {"CNN": rise, "conv": rise[:2]}}, NAMES)
    assert [row.label for row in four] == [f"{name},\n{of}" for name in NAMES.values() for of in ("short", "long")]
    np.testing.assert_allclose(four[0].panels[0], [-1.0, -1.1, -0.9])
    assert [draw.found_in(row) for row in four] == ["fewer", "more", "more", "too few runs"]
    assert draw.longer_or_shorter(four) == "Longer or shorter? Train on, and the fall of CNN first is gone"
    assert draw.longer_or_shorter(four[1:]) == "Longer or shorter? CNN first: more, then more"
    texts = draw.right_upright_and_sideways({"CNN": fall, "conv": rise}, NAMES)
    assert texts[:2] == ["CNN first, 0 degrees: 90% right", "CNN first, 90 degrees: 30% right"]
    assert len(texts) == 4


def test_the_angles_say_what_every_run_does():
    rows = {"CNN": turned(-1.0), "conv": turned(-0.5)}
    accuracy, steps = draw.by_angle(rows, NAMES)
    assert accuracy["patches"] == [rows["conv"][0]["accuracy"]]
    assert steps["CNN first"] == [rows["CNN"][0]["steps"]]
    assert draw.what_the_angles_say(rows) == "Up to 90 degrees accuracy falls, and the mean steps do not rise"
    for other in (turned(0.5), [run_of(right=0.2)]):
        assert draw.what_the_angles_say(rows | {"conv": other}) == "Accuracy and steps, by angle"


def test_two_losses_are_the_write_ups_test_on_the_recipes_of_both_lengths():
    def runs(recipe, *changes):
        return [{**row, **recipe} for row in turned(*changes)]

    long_early = experiment.LONG["loss of the batch, KL reversed"]
    fall, short_early = (-1.0, -1.1, -0.9), experiment.VARIANTS["loss of the batch"]
    short = runs(experiment.CNN, *fall) + runs(short_early, *fall)
    rows = draw.two_losses(short, runs(experiment.CNN, 1.0, -1.0, 0.0) + runs(long_early, *fall))
    assert [row.group for row in rows] == ["loss of each digit"] * 2 + ["early mean"] * 2
    assert [draw.found_in(row) for row in rows] == ["fewer", "undecided", "fewer", "fewer"]
    assert draw.what_the_losses_do(rows) == "With the early mean the steps fall, however long it trains"
    rows = draw.two_losses(short, runs(experiment.CNN, *fall) + runs(long_early, *fall))
    assert draw.what_the_losses_do(rows) == "The two losses cannot be told apart"


def test_what_a_rule_buys_is_in_points_below_its_training():
    gains = {"sample": 0.0, "quantile": 0.01, "most_probable": -0.01}
    rows = [
        {"by_step_within": [0.5, 0.7], "rules": {rule: [1.5, 0.6 + gain + k] for rule, gain in gains.items()}}
        for k in (0.0, 0.001, -0.001)
    ]
    bought = draw.bought_by_rules({"short": rows, "long": []})
    titles = ["patches, sample", "patches, quantile", "patches, most probable"]
    assert [row.label for row in bought] == ["short", *titles, "long", *titles]
    np.testing.assert_allclose(bought[2].panels[0], [1.0, 1.1, 0.9])
    assert draw.what_rules_buy(bought) == "A rule beats the same number of steps for all"
    assert draw.what_rules_buy(bought[:2] + bought[3:]) == "No rule beats the same number of steps for all"
