"""The figures of lesson 04 draw the numbers that they are given, and their sentences speak of these."""

import numpy as np
import pytest
import torch
from drawn import COMPUTED, Drawn, numbers, tests_of_figures

from ponder_course.common.style import ANSWER, BLUE, GREEN, PRIOR, PURPLE, RED, WRONG
from ponder_course.mnist_rotation import figures as draw
from ponder_course.mnist_rotation.experiment import ANGLES, CNN
from ponder_course.mnist_rotation.figures import Difference
from ponder_course.mnist_rotation.readable import NOT_READ
from ponder_evidence.mnist_rotation.figures import name_groups, titled_angles
from ponder_utils.halting import PonderOutput, halting_log_probs

IMAGES = np.random.default_rng(0).random((2, 5, 4))  # [images, height, width]
P, ANSWERS = [[0.5, 0.3, 0.2], [0.1, 0.7, 0.21]], [[6, 6, 9], [9, 9, 9]]
PRIORS = [[0.4, 0.3, 0.2], [0.35, 0.15, 0.05]]
THOUGHTS = (IMAGES, P, ANSWERS, 6, ["0 degrees", "180 degrees"], PRIORS)


def run_of(recipe=CNN, right=0.9, steps=4.0, **measures):
    """A run that reads so many digits upright and a third of them turned, in so many steps at any angle."""
    others = len(ANGLES) - 1
    return {**recipe, "accuracy": [right] + [right / 3] * others, "steps": [steps] * (others + 1), **measures}


def halted(by_step, right, steps):
    """A run as `flat_line` needs it: upright."""
    return {"by_step": by_step, "accuracy": [right], "steps": [steps]}


FLAT = {
    "CNN first": [halted([0.9, 0.91, 0.92], 0.915, 2.2), halted([0.8, 0.81, 0.86], 0.905, 1.5)],
    "patches": [halted([0.2, 0.5, 0.96, 0.7], 0.88, 2.9)],
}
ALONE = {"CNN first": [{"N": 4, "accuracy": [0.885]}], "patches": []}
BY_ANGLE = [{"CNN first": [[0.1 * i for i in range(13)], [0.2] * 13]}, {"patches": [[5.0 + i / 12 for i in range(13)]]}]
BY_ANSWER = {"right answers": [[1.0] * 13], "wrong answers": [[5.0] * 13]}
CHANGES = [
    Difference("short"),
    Difference("as it is", "CNN first", [[4.0, 3.9], [1.0]]),
    Difference("no prior", "patches", [[-1.2, -1.0, -2.0], []]),
]
HALF = 12.706205 * 0.05  # Student's t at 97.5 % with one degree of freedom, times the standard error
OTHER = 4.30265273 * (0.28 / 3) ** 0.5  # with two; the variance of -1.2, -1, -2 is 0.28
INTERVALS = [[3.95 - HALF, 3.95 + HALF], [-1.4 - OTHER, -1.4 + OTHER], 3.95, -1.4, [1.22, 1.22], [2.22] * 3]
FOREST = (CHANGES, ["steps", "change"], "fewer", "more")
SHORT = [{"steps": [1.0], "accuracy": [0.8]}, {"steps": [2.0], "accuracy": [0.9]}]
BY_PRIOR = {"patches": {"short": SHORT, "long": [{"steps": [4.0], "accuracy": [0.99]}]}}
FIGURES = {
    "flat line": Drawn(draw.flat_line, (FLAT, ALONE, 1), [0.1], written=["2"]),
    "steps by first read": Drawn(
        draw.steps_by_first_read, ([{1: (3, 4.0), 2: (5, 4.2)}, {2: (8, 3.9)}],), [1, 1, 2, 2]
    ),
    "by prior": Drawn(
        draw.by_prior, (BY_PRIOR, {"patches": {"long": 4.5}}), [1.5], {PRIOR: [4.5]}, ["85", "99"], start=0
    ),
    "over angles": Drawn(draw.over_angles, (BY_ANGLE, ["accuracy", "steps"], 1), [list(ANGLES), 22.5, 180]),
    "titled angles": Drawn(
        titled_angles, ([BY_ANSWER], "steps", ["all"]), [list(ANGLES), 22.5, 180], {BLUE: [1], RED: [5]}
    ),
    "forest": Drawn(draw.forest, FOREST, INTERVALS, {GREEN: [-1.2, -1, -2, -1.4, *INTERVALS[1]]}, sideways=True),
    "named": Drawn(name_groups, (draw.forest(*FOREST), {"patches": "x", "early mean": "y"}), COMPUTED),
    "thoughts": Drawn(draw.thoughts, THOUGHTS, written=["6", "9"]),
}


test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("mnist_rotation", FIGURES)


def test_answers_and_bars_tell_right_from_wrong():
    panels = draw.thoughts(*THOUGHTS).axes[2:]
    assert [[text.get_color() for text in ax.texts] for ax in panels] == [[ANSWER, ANSWER, WRONG], [WRONG] * 3]
    assert [[bool(bar.get_hatch()) for bar in ax.patches] for ax in panels] == [[False, False, True], [True] * 3]


def test_in_a_single_panel_each_row_has_its_verdict():
    values = [[-1.0, -1.1, -0.9], [1.0, -1.0, 0.1], [2.0, 2.1, 1.9], [2.0, 2.1]]
    groups = ["CNN first", "CNN first", "patches", "loss of the batch"]
    rows = [Difference("", group, [changes]) for group, changes in zip(groups, values, strict=True)]
    (ax,) = draw.forest(rows, ["steps"], "fewer", "more").axes
    found = {text.get_text(): (text.xy[1], text.get_color()) for text in ax.texts if text.xy[0] > 1}
    words = [draw.word(changes, ("more", "fewer")) for changes in values]
    assert found == dict(zip(words, enumerate([BLUE, BLUE, GREEN, PURPLE]), strict=True))
    sides = {text.get_text(): text.xy[0] for text in ax.texts if text.xy[0] < 1}
    assert sides["fewer"] < 0.5 < sides["more"]


def test_the_flat_line_is_of_the_runs_it_is_given():
    assert numbers(draw.what_the_flat_line_says([[0.9, 0.905]])) == ["1", "20"]
    assert numbers(draw.what_the_flat_line_says([[0.9, 0.905], [0.2, 0.212]])) == ["1.2"]
    assert numbers(draw.losses_at_step_1([[0.9, 0.905], [0.2, 0.7, 0.6]])) == ["0.5", "50.0", "1", "2"]


def test_digits_read_early_and_late_are_counted_and_compared():
    one, other = {1: (1, 5.9), 2: (2, 5.0), 3: (6, 5.4), 4: (1, 5.5)}, {2: (4, 5.0), 4: (3, 5.0), NOT_READ: (1, 9.0)}
    assert numbers(draw.how_many_for_all([one, other])) == ["5.0", "5.9"]
    found = draw.early_and_late([one, other, {1: (3, 4.0)}], early=(2, 3), late=4)
    assert numbers(found) == ["2", "3", "50", "80", "4", "10", "38", "+0.0", "+0.2"]
    assert not numbers(draw.early_and_late([{NOT_READ: (5, 4.0)}], early=(2,), late=4))
    assert not numbers(draw.how_many_for_all([{NOT_READ: (5, 4.0)}]))


def turned(*changes, recipe=CNN):
    """Runs whose steps change so, at 90 degrees and within 90 degrees."""
    rows = [run_of(recipe, steps_within=[3.0, 3.0 + change]) for change in changes]
    for row, change in zip(rows, changes, strict=True):
        row["steps"][ANGLES.index(90)] += change
    return rows


FALL, RISE = turned(-1.0, -1.1, -0.9), turned(1.0, 1.1, 0.9)
DOWN, UP, OPEN, FEW = (draw.word(values) for values in ([-1.0, -1.1, -0.9], [1.0, 1.1, 0.9], [1.0, -1.0, 0.0], [1, 2]))


def test_four_verdicts_are_of_both_networks_and_both_trainings():
    first, second = {"CNN first": FALL, "patches": RISE}, {"CNN first": RISE, "patches": RISE[:2]}
    four = draw.four_verdicts("short", first, second)
    assert [row.group for row in four] == ["CNN first"] * 2 + ["patches"] * 2
    np.testing.assert_allclose(four[0].panels[0], [-1.0, -1.1, -0.9])
    assert [draw.word(row.panels[0]) for row in four] == [DOWN, UP, UP, FEW]
    other = draw.longer_or_shorter(four)
    assert other.endswith(f"{DOWN}, {UP}; then {UP}, {FEW}")
    falls = {"CNN first": FALL, "patches": FALL}
    gone = draw.longer_or_shorter(draw.four_verdicts("short", falls, second))
    assert ";" not in gone
    assert ";" in draw.longer_or_shorter(draw.four_verdicts("short", falls, falls))
    assert [draw.right_at(angle, [run_of(), run_of(right=0.6)]) for angle in (0, 90)] == ["60% to 90%", "20% to 30%"]


def test_runs_are_found_by_their_prior_and_the_sentence_is_of_them():
    recipes = [CNN | change for change in ({}, {"beta": 0.0}, {"lambda_p": 0.1}, {"lambda_p": 0.5}, {"beta": 0.1})]
    steps = [4.0, 1.0, 6.0, 2.0, 9.0]
    found = draw.with_other_priors([run_of(recipe, steps=n) for recipe, n in zip(recipes, steps, strict=True)], "CNN")
    assert [[row["steps"][0] for row in rows] for rows in found.values()] == [[1.0], [2.0], [4.0], [6.0]]
    means = draw.mean_of_priors(found)
    assert [*means] == [*found][1:]
    geometric = 0.5 ** np.arange(1, 21)
    assert means[[*found][1]] == pytest.approx(geometric @ np.arange(1, 21) / geometric.sum(), rel=1e-4)
    dropped = draw.what_the_prior_does({"CNN first": found})
    assert numbers(dropped) == ["1.0"]
    assert dropped != draw.what_the_prior_does({"CNN first": {**found, "more": [run_of(steps=0.5)]}})


class Scripted(torch.nn.Module):
    """Answers so at each step, whatever the image."""

    def __init__(self, answers):
        super().__init__()
        self.answers = torch.tensor(answers)

    def forward(self, x):
        y_hat = torch.nn.functional.one_hot(self.answers, 10).float()[:, None].expand(-1, len(x), -1)
        halt_logits = torch.zeros(len(self.answers), len(x))
        return PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits))


def test_one_digit_step_by_step_is_turned_for_each_network():
    image = torch.zeros(1, 1, 8, 8, dtype=torch.uint8)
    image[0, 0, 0, 3] = 255
    models = {"CNN first": Scripted([6, 6, 6]), "patches": Scripted([8, 6, 6])}
    images, p, answers, captions = draw.step_by_step(models, image, (0, 180))
    assert images.shape == (4, 8, 8)
    assert images[0].argmax() != images[1].argmax()
    assert torch.equal(images[:2], images[2:])
    assert p.tolist() == [[0.5, 0.25, 0.25]] * 4
    assert answers.tolist() == [[6, 6, 6]] * 2 + [[8, 6, 6]] * 2
    assert [numbers(caption) for caption in captions] == [["0"], ["180"]] * 2
    found = draw.who_changes_the_answer(answers)
    assert found != draw.who_changes_the_answer(answers.flip(0))


def test_what_a_rule_buys_is_in_points_below_its_training():
    gains = {"sample": 0.0, "quantile": 0.01}
    rows = [
        {"by_step_within": [0.5, 0.7], "rules": {rule: [1.5, 0.6 + gain + k] for rule, gain in gains.items()}}
        for k in (0.0, 0.001, -0.001)
    ]
    bought = draw.bought_by_rules({"short": rows, "long": []})
    assert [bool(row.group) for row in bought] == [False, True, True] * 2
    np.testing.assert_allclose(bought[2].panels[0], [1.0, 1.1, 0.9])
    assert draw.what_rules_buy(bought) != draw.what_rules_buy(bought[:2] + bought[3:])
