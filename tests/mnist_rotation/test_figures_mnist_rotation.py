"""The figures of lesson 04 draw the numbers that they are given, and their sentences speak of these."""

import numpy as np
from drawn import check, check_drawn, numbers, over, pairs, shapes

from ponder_course.common.style import ANSWER, BLACK, BLUE, GREEN, HALTING, PRIOR, PURPLE, RED, WRONG
from ponder_course.mnist_rotation import figures as draw
from ponder_course.mnist_rotation.experiment import ANGLES, CNN, PATCHES
from ponder_course.mnist_rotation.figures import Difference
from ponder_course.research.mnist_rotation.figures import name_groups, titled_angles

IMAGES = np.random.default_rng(0).random((2, 5, 4))  # [images, height, width]
P, ANSWERS = [[0.5, 0.3, 0.2], [0.1, 0.7, 0.2]], [[6, 6, 9], [9, 9, 9]]
CAPTIONS = ["0 degrees", "180 degrees"]


def run_of(recipe=CNN, right=0.9, steps=4.0, **measures):
    """A run that reads so many digits upright and a third of them turned, in so many steps at any angle."""
    others = len(ANGLES) - 1
    return {**recipe, "accuracy": [right] + [right / 3] * others, "steps": [steps] * (others + 1), **measures}


CNN_RUNS = [run_of(by_step=[0.9, 0.91, 0.92], right=0.91, steps=2.2), run_of(by_step=[0.8, 0.8, 0.86], steps=1.5)]
PATCH_RUNS = [run_of(PATCHES, 0.88, 2.9, by_step=[0.2, 0.5, 0.96, 0.7])]
ROWS = {"CNN first": CNN_RUNS, "patches": PATCH_RUNS}
ALONE = {"CNN first": [run_of(CNN | {"N": 4}, 0.88)], "patches": []}
LOGS = {
    "CNN first": [[{"update": n, "accuracy": n / 10, "steps": steps} for n in (5, 10)] for steps in (4.0, 5.0)],
    "patches": [[{"update": n, "accuracy": n / 20 + 0.3, "steps": 7.0} for n in (6, 12)]],
}
BY_ANGLE = [{"CNN first": [[0.1 * i for i in range(13)], [0.2] * 13]}, {"patches": [[5.0] * 12 + [6.0]]}]
BY_ANSWER = {"right answers": [[1.0] * 13], "wrong answers": [[5.0] * 13]}
CHANGES = [
    Difference("short"),
    Difference("as it is", "CNN first", [[4.0, 3.9], [1.0]]),
    Difference("no prior", "patches", [[-1.2, -1.0, -2.0], []]),
]


def test_every_run_learns_along_its_line_and_its_end_is_named():
    learnt = {
        BLUE: [[[5, 0.5], [10, 1.0]]] * 2,
        GREEN: [[[6, 0.6], [12, 0.9]]],
        "text": ["first: 100%", "patches: 90%"],
    }
    steps = {BLUE: [[[5, 4], [10, 4]], [[5, 5], [10, 5]]], GREEN: [[[6, 7], [12, 7]]], "text": ["first: 4.5", ": 7.0"]}
    check_drawn(draw.learning, (LOGS,), [learnt, steps])
    axes = draw.learning(LOGS).axes
    ends = [[text.xy for text in ax.texts] for ax in axes]
    np.testing.assert_allclose(ends, [[(10, 1.0), (12, 0.9)], [(10, 4.0), (12, 7.0)]])
    np.testing.assert_allclose([ax.get_ylim() for ax in axes], [(0, 1.1), (0, 7.7)])  # a tenth above 7 steps


def test_the_flat_line_is_every_run_and_their_mean_with_marks_where_they_halt():
    first = over([1, 2, 3], [0.9, 0.91, 0.92], [0.8, 0.8, 0.86], [0.85, 0.855, 0.89])
    second = over([1, 2, 3, 4], *[PATCH_RUNS[0]["by_step"]] * 2)
    wanted = {BLUE: [*first, [[2.2, 0.91], [1.5, 0.9]], [[4, 0.88]]], GREEN: [*second, [[2.9, 0.88]]]}
    wanted |= {BLACK: over([], 0.1), "text": ["CNN first (mean of 2)", "patches", "a guess"]}
    check_drawn(draw.flat_line, (ROWS, ALONE, 1), [wanted])


def test_bars_beside_the_prior_are_the_mean_of_the_networks():
    n, priors = [1, 2, 3], {"CNN first": P[1], "patches": P[0]}
    first = {
        HALTING: [*over(n, *P), pairs(n, [0.3, 0.5, 0.2])],
        PRIOR: over(n, P[1]),
        "text": ["1.9 steps\nprior: 2.1"],
    }
    second = {HALTING: over(n, P[1], P[1]), PRIOR: over(n, P[0]), "text": ["2.1 steps\nprior: 1.7"]}
    check_drawn(draw.beside_prior, ({"CNN first": P, "patches": P[1:]}, priors), [first, second])


def test_runs_over_angles_are_grey_where_training_ends_and_wrong_answers_are_red():
    curves, grey = BY_ANGLE[0]["CNN first"], [[[22.5, 0], [180, 1]]]
    first = {BLUE: over(ANGLES, *curves, np.mean(curves, axis=0)), "span": grey, "text": ["accuracy"]}
    second = {GREEN: over(ANGLES, *BY_ANGLE[1]["patches"] * 2), "span": grey, "text": ["steps"]}
    check_drawn(draw.over_angles, (BY_ANGLE, ["accuracy", "steps"], 1), [first, second])
    answers = {BLUE: over(ANGLES, *[[1.0] * 13] * 2), RED: over(ANGLES, *[[5.0] * 13] * 2), "text": ["steps", "all"]}
    check_drawn(titled_angles, ([BY_ANSWER], "steps", ["all"]), [answers])


def test_differences_are_rows_from_the_top_with_every_run_their_mean_and_its_interval():
    half = 12.706205 * 0.05  # Student's t at 97.5 % with one degree of freedom, times the standard error
    other = 4.30265273 * (0.28 / 3) ** 0.5  # with two; the variance of -1.2, -1, -2 is 0.28
    first = {
        BLUE: [[[3.95 - half, 0.92], [3.95 + half, 0.92]], [[4.0, 1.22], [3.9, 1.22]], [[3.95, 0.92]]],
        GREEN: [
            [[-1.4 - other, 1.92], [-1.4 + other, 1.92]],
            [[-1.2, 2.22], [-1.0, 2.22], [-2.0, 2.22]],
            [[-1.4, 1.92]],
        ],
        BLACK: [[[0, 0], [0, 1]]],
        "text": ["short", "as it is", "no prior", "steps", "fewer", "more"],
    }
    second = {BLUE: [[[np.nan, 0.92]] * 2, [[1.0, 1.22]], [[1.0, 0.92]]], GREEN: [], "text": ["change"]}
    check_drawn(draw.forest, (CHANGES, ["steps", "change"], "fewer", "more"), [first, second])


def test_bars_are_full_where_the_answer_is_right_and_above_them_stands_the_image():
    images = [{"image": [image], "text": [caption]} for image, caption in zip(IMAGES, CAPTIONS, strict=True)]
    first = {HALTING: [[[1, 0.5]], [[2, 0.3]]], "#FFFFFF": [[[3, 0.2]]], "text": ["6", "9"]}
    second = {HALTING: [], "#FFFFFF": [[[1, 0.1]], [[2, 0.7]], [[3, 0.2]]], "text": ["9"]}
    check_drawn(draw.thoughts, (IMAGES, P, ANSWERS, 6, CAPTIONS), [*images, first, second])
    colours = [
        [text.get_color() for text in ax.texts] for ax in draw.thoughts(IMAGES, P, ANSWERS, 6, CAPTIONS).axes[2:]
    ]
    assert colours == [[ANSWER, ANSWER, WRONG], [WRONG] * 3]


def test_networks_of_this_session_are_darker_and_hollow_marks_are_named_where_there_are_some():
    (ax,) = draw.flat_line(ROWS, ALONE, live=1).axes
    assert [line.get_alpha() for line in ax.lines[:2]] == [0.9, 0.3]
    np.testing.assert_allclose([text.xy for text in ax.texts], [(3, 0.89), (4, 0.7), (4, 0.1)])  # at the ends of lines
    assert ax.get_ylim() == (0, 1.04)
    assert [len(marks.get_facecolor()) for marks in ax.collections[:3]] == [1, 0, 1]
    (alone,) = draw.flat_line(ROWS, {name: [] for name in ROWS}).axes
    assert [len(one.get_legend_handles_labels()[1]) for one in (ax, alone)] == [2, 1]


def test_panels_over_angles_that_share_an_axis_show_the_lines_of_both_from_0():
    low, high = zip(*(ax.get_ylim() for ax in draw.over_angles(BY_ANGLE, ["a", "b"], sharey=True).axes), strict=True)
    assert low == (0, 0)
    assert min(high) > 6


def test_in_a_single_panel_each_row_has_its_verdict_and_few_rows_have_larger_marks():
    values = [[-1.0, -1.1, -0.9], [1.0, -1.0, 0.1], [2.0, 2.1, 1.9], [2.0, 2.1]]
    groups = ["CNN first", "CNN first", "patches", "loss of the batch"]
    rows = [Difference("", group, [changes]) for group, changes in zip(groups, values, strict=True)]
    few, many = (draw.forest(given, ["steps"], "fewer", "more").axes[0] for given in (rows, rows * 3))
    found = {text.get_text(): (text.xy[1], text.get_color()) for text in few.texts if text.xy[0] > 1}
    words = ["fewer", "undecided", "more", "too few runs"]
    assert found == dict(zip(words, enumerate([BLUE, BLUE, GREEN, PURPLE]), strict=True))
    assert few.collections[0].get_sizes() > many.collections[0].get_sizes()
    sides = {text.get_text(): text.xy[0] for text in few.texts if text.xy[0] < 1}
    assert sides["fewer"] < 0.5 < sides["more"]


def test_a_legend_has_the_look_of_its_groups():
    figure = check(lambda: name_groups(draw.forest(CHANGES, ["a", "b"]), {"patches": "x", "early mean": "y"}))
    (names,) = figure.legends
    assert [text.get_text() for text in names.get_texts()] == ["x", "y"]
    plain = draw.forest(CHANGES, ["a", "b"])
    assert repr([shapes(ax) for ax in figure.axes]) == repr([shapes(ax) for ax in plain.axes])
    assert draw.LOOKS["early mean"] == draw.LOOKS["wrong answers"]


def test_what_was_learnt_is_the_worst_network_at_the_end():
    found = [draw.what_was_learnt(LOGS)]
    for worse in ({"accuracy": 0.79, "steps": 4.0}, {"accuracy": 0.9, "steps": 1.9}):
        found.append(draw.what_was_learnt(LOGS | {"patches": [[LOGS["patches"][0][0], worse]]}))
    assert found[1] == found[2] != found[0]
    assert draw.what_was_learnt(LOGS | {"patches": [[{"accuracy": 0.8, "steps": 2.0}]]}) == found[0]


def test_the_flat_line_is_of_the_runs_it_is_given():
    assert numbers(draw.what_the_flat_line_says([[0.9, 0.905]])) == ["1", "20"]
    assert numbers(draw.what_the_flat_line_says([[0.9, 0.905], [0.2, 0.212]])) == ["1.2"]
    assert draw.losses_at_step_1([[0.9, 0.905], [0.2, 0.7, 0.6]]) == "0.5 to 50.0"


def test_who_is_near_the_prior_is_measured_by_total_variation():
    prior, far, half = [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.3, 0.25, 0.45]  # at half the distance
    priors = {"CNN first": prior, "patches": prior}
    near, nearer, *others = [
        draw.how_near_the_prior({"CNN first": [cnn], "patches": [patches]}, priors)
        for cnn, patches in ((prior, far), ([0.3, 0.3, 0.4], far), (far, prior), (half, far))
    ]
    assert others == ["Neither network halts where its prior puts it"] * 2
    assert near == nearer not in others


def turned(*changes, recipe=CNN):
    """Runs whose steps change so, at 90 degrees and within 90 degrees."""
    rows = [run_of(recipe, steps_within=[3.0, 3.0 + change]) for change in changes]
    for row, change in zip(rows, changes, strict=True):
        row["steps"][ANGLES.index(90)] += change
    return rows


FALL, RISE = turned(-1.0, -1.1, -0.9), turned(1.0, 1.1, 0.9)


def test_four_verdicts_are_of_both_networks_and_both_trainings():
    first, second = {"CNN first": FALL, "patches": RISE}, {"CNN first": RISE, "patches": RISE[:2]}
    four = draw.four_verdicts("short", first, second)
    assert [row.label for row in four] == [f"{name},\n{of}" for name in first for of in ("short", "up to 20 epochs")]
    np.testing.assert_allclose(four[0].panels[0], [-1.0, -1.1, -0.9])
    assert [draw.word(row.panels[0]) for row in four] == ["fewer", "more", "more", "too few runs"]
    assert draw.longer_or_shorter(four) == "Longer or shorter? Train on, and the fall of CNN first is gone"
    assert draw.longer_or_shorter(four[1:]) == "Longer or shorter? CNN first: more, then more"
    assert [draw.right_at(angle, [run_of(), run_of(right=0.6)]) for angle in (0, 90)] == ["60% to 90%", "20% to 30%"]


def test_the_angles_say_what_every_run_does():
    rows = {"CNN first": turned(-1.0), "patches": turned(-0.5)}
    falls, *others = [draw.what_the_angles_say(rows | {"patches": of}) for of in (FALL, RISE, [run_of(right=0.2)])]
    assert draw.what_the_angles_say(rows) == falls
    assert falls not in others


def test_two_losses_are_the_write_ups_test_on_the_recipes_of_both_lengths():
    early, early_long = (
        turned(-1.0, -1.1, -0.9, recipe=CNN | {"loss": loss}) for loss in ("batch mean", "batch mean, KL reversed")
    )
    rows = draw.two_losses(FALL + early, turned(1.0, -1.0, 0.0) + early_long)
    assert [row.group for row in rows] == ["loss of each digit"] * 2 + ["early mean"] * 2
    assert [draw.word(row.panels[0]) for row in rows] == ["fewer", "undecided", "fewer", "fewer"]
    assert draw.what_the_losses_do(rows) == "With the early mean the steps fall, however long it trains"
    for fall in ([0, 1, 2, 3], [0, 2], [0, 3]):
        others = [Difference("", "", [[-1.0, -1.1, -0.9] if i in fall else [1.0, -1.0, 0.0]]) for i in range(4)]
        assert draw.what_the_losses_do(others) == "The two losses cannot be told apart"


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
