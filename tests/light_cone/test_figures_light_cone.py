"""The figures of lesson 05 draw the numbers that they are given, and the sentences above them say what is drawn."""

import math

import numpy as np
import pytest
import torch
from drawn import check, check_drawn, over, shapes
from small_light_cone import Clock

from ponder_course.common.lines import AdditionTask, LineParityTask
from ponder_course.common.style import BLACK, BLUE, GREEN, GREY, LIMIT, NOT_LEARNT, ORANGE, PURPLE, RED, SKY, WRONG
from ponder_course.light_cone import figures as draw
from ponder_course.light_cone.figures import Bought, Votes
from ponder_course.research.light_cone import figures as evidence
from ponder_utils import LocalStep, PonderNet

GRIDS = np.random.default_rng(0).random((2, 5, 3)).tolist()  # [panels, steps, places]
STAIRS = [[0.5, 0.5], [1.5, 0.5], [1.5, 1.5], [2.5, 1.5], [2.5, 2.5], [3.5, 2.5]]  # where places need 1, 2, 3 steps
VALLEY = [[0.5, 1.5], [1.5, 1.5], [1.5, 0.5], [2.5, 0.5], [2.5, 1.5], [3.5, 1.5]]  # and 2, 1, 2
VOTES = [Votes(GRIDS[0], [1, 2, 3], 3, 4, "halts at 3"), Votes(GRIDS[1][:4], [4, 5, 6], 4, 4, "halts at 4")]
NEED = [[2.0, 3.0, None, 5.0], [2.5, 3.5, 4.5, 5.5]]
ACT = [[1.0, math.nan, 2.0, 2.5]]  # no line needs 2
LIMITS = {"best clock": ([1, 2], [0.6, 1.0]), "same step": ([1, 2, 3], [0.3, 0.5, 0.9])}
TESTS = [
    Bought("16 places", [[0.1, 0.5, 0.9], [0.2, 0.4, 0.8]], [(2.5, 0.95), (2.0, 1.0)], LIMITS, 4.5),
    Bought("digits", [[0.8, 0.7]], [(1.2, 0.781)], {}, 9.0),
]
THEORY = {"equation 2": [4.0, 1.0, 0.25], "cut off": [3.0, 0.9, 0.2]}
RUNS = {"a network": [(0.2, 3.9), (0.5, 1.2)], "reversed": [(0.8, 7.0)]}
GROUPS = {"with": {"right": [1.0, 0.9], "last": [0.8]}, "without": {"last": [0.3, 0.2]}}
FIXED = [[0.1, 0.5, 0.5, 1.0], [0.2, 0.4, 0.5, 0.9]]
HALTED = [(2.5, 1.0), (3.5, 0.8)]
DIFFERS = [torch.tensor(grid) > 0.5 for grid in GRIDS]
N = [1, 2, 3, 4]

# figure: what it is given, and for each panel where that must be found
FIGURES = {
    evidence.who_votes_no: (
        (VOTES,),
        [
            {"image": [GRIDS[0]], BLACK: over(N, 3.5), BLUE: over(N, 2.5), "text": ["1", "2", "3", "halts at 3"]},
            {"image": [GRIDS[1][:4]], BLACK: over(N, 3.5), BLUE: over(N, 3.5), "text": ["4", "5", "6", "halts at 4"]},
        ],
    ),
    evidence.fixed_and_by_itself: (
        (FIXED, HALTED, 4),
        [{SKY: over(N, *FIXED), ORANGE: [HALTED], BLACK: [[[4, 0], [4, 1]], [[3, 0], [3, 1]]]}],
    ),
    draw.news_of: (
        (DIFFERS, [0, 1]),
        [
            {"image": [DIFFERS[0]], LIMIT: [STAIRS], "text": ["bit 1 "]},
            {"image": [DIFFERS[1]], LIMIT: [VALLEY], "text": ["bit 2 "]},
        ],
    ),
    draw.steps_against_need: (
        (NEED, ACT, 1, 2, [[4.0, None, 4.5]]),
        [
            {
                GREEN: [[[1, 2.0], [2, 3.0], [4, 5.0]], *over(N, NEED[1])],
                ORANGE: [[[1, 1.0], [3, 2.0], [4, 2.5]]],
                NOT_LEARNT: [[[1, 4.0], [3, 4.5]]],
                LIMIT: over(N, N),
                GREY: [[[2.5, 0], [2.5, 1]]],
                "area": [[1, 1], [4, 4], [4, 0]],
                "text": ["+1.3 steps", "ACT takes 2\nof 4 steps"],  # 1, 1, 1, and four times 1.5; 2.5
            }
        ],
    ),
    draw.above_the_limit: (
        ([0.2, 0.5, 0.8], THEORY, RUNS),
        [
            {
                BLACK: over([0.2, 0.5, 0.8], *THEORY.values()),
                GREEN: [[[0.196, 3.9], [0.496, 1.2]]],
                PURPLE: [[[0.804, 7.0]]],
                "text": [*THEORY, *RUNS],
            }
        ],
    ),
    evidence.above_the_limit: (
        ([0.2, 0.5, 0.8], THEORY, RUNS | {"N = 40": [(0.5, 1.3)]}),
        [
            {
                BLACK: over([0.2, 0.5, 0.8], *THEORY.values()),
                GREEN: [[[0.192, 3.9], [0.492, 1.2]], [[0.508, 1.3]]],
                PURPLE: [[[0.8, 7.0]]],
            }
        ],
    ),
    draw.bought: (
        (TESTS,),
        [
            {
                GREY: over([1, 2, 3], *TESTS[0].curves),
                LIMIT: [np.transpose(line) for line in LIMITS.values()],
                GREEN: [TESTS[0].halting],
                "text": ["16 places", "+42 points"],
            },
            {GREY: over([1, 2], [0.8, 0.7]), LIMIT: [], GREEN: [TESTS[1].halting], "text": ["digits", "0 points"]},
        ],
    ),
    draw.steps_by_size: (
        ([16, 64, 256], THEORY, [(16, 5.5), (256, 9.0)]),
        [{LIMIT: over([16, 64, 256], *THEORY.values()), GREEN: [[(16, 5.5), (256, 9.0)]], "text": ["64", "steps"]}],
    ),
    evidence.by_group: (
        (GROUPS, "right lines", (0, 1.02)),
        [
            {
                BLUE: [[[1.0, -0.08], [0.9, -0.08]]],
                RED: [[[0.8, 0.08], [0.3, 1.08], [0.2, 1.08]]],
                "text": ["with", "without", "right lines"],
            }
        ],
    ),
}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__)
def test_what_is_drawn_is_what_was_given(figure):
    given, panels = FIGURES[figure]
    check_drawn(figure, given, panels)


LINES = torch.tensor([[[1, 0, 0], [1, 0, 0]], [[0, 1, 1], [1, 1, 0]]]).float()  # answers 1, 1, 1 and 0, 1, 0


def thought(x):
    return draw.think(PonderNet(Clock(), 4), LineParityTask(3), x, ["easy", "hard"], 4, ("bit", "reset"))


def test_a_thought_is_drawn_with_wrong_answers_where_the_news_has_not_come():
    known = torch.tensor([[[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]], [[0, 1, 0]] * 4])  # [lines, steps, places]
    low = [[0.5, 0.5], [1.5, 0.5], [1.5, 0.5], [2.5, 0.5], [2.5, 1.5], [3.5, 1.5]]
    images = (20.0 * known - 10).sigmoid()
    wanted = [
        {"image": images[:1], WRONG: [[[2, 1], [3, 1], [3, 2]]], LIMIT: [STAIRS], GREEN: over(N, 2.5)},
        {"image": images[1:], WRONG: [], LIMIT: [low], GREEN: over(N, 1.5), "text": ["hard"]},
    ]
    check_drawn(lambda: thought(LINES)[0], (), wanted)
    assert thought(LINES)[1] == [0, 0]


def test_steps_run_down_and_digits_stand_above_their_places_in_lines_of_at_most_24():
    for figure in (evidence.who_votes_no(VOTES), thought(LINES)[0]):
        for ax in figure.axes:
            digits = [text for text in ax.texts if text.get_text().isdigit()]
            assert [text.xy[0] for text in digits] == [1, 2, 3] * (len(digits) // 3)
            (image,) = ax.images
            assert image.get_extent() == [0.5, 3.5, len(image.get_array()) + 0.5, 0.5]
            assert ax.yaxis_inverted()
    assert [float(text.get_text()) for text in digits] == LINES[1].flatten().tolist()
    assert not thought(torch.ones(2, 2, 25))[0].axes[0].texts


def test_names_stand_at_the_lines_and_at_the_highest_marks():
    (ax,) = draw.above_the_limit([0.2, 0.5, 0.8], THEORY, RUNS).axes
    assert [text.get_position()[1] for text in ax.texts] == [4.0, 0.75, 3.9, 7.0]
    (ax,) = check(lambda: draw.above_the_limit([0.2, 0.5, 0.8], THEORY, {name: [] for name in RUNS})).axes
    assert len(ax.texts) == 2


def test_an_arrow_leads_from_the_same_step_for_all_to_halting():
    first, second = draw.bought(TESTS).axes
    arrow = first.texts[0]  # at 2.5 steps .7 are right at the same step for all, at 2 steps .4
    np.testing.assert_allclose([*arrow.xyann, *arrow.xy], [2.25, 0.55, 2.25, 0.955])
    np.testing.assert_allclose(first.texts[-1].xy, (2.7, np.interp(2.7, *LIMITS["same step"])))
    assert not [text for text in second.texts if not text.get_text()]  # nothing is bought


good = [L + 1.5 for L in range(1, 33)]
tired = [min(float(L), 20.0) for L in range(1, 33)]
LEAKS = [torch.eye(2, 4).bool(), torch.ones(2, 4).bool()]  # [steps, places]
SENTENCES = [  # a function, what it is given, and what it must say
    (draw.in_words, ([0, 1],), ["left", "in time", "right", "1 step late"]),
    (draw.in_words, ([7, 1],), ["left", "7 steps late", "right", "1 step late"]),
    (draw.in_words, ([2, 2],), ["Both", "2 steps late"]),
    (draw.in_words, ([1, -1],), ["before"]),
    (draw.what_steps_say, ([good], [tired], 8), ["8 places", "long enough on 32", "ACT", "does not"]),
    (draw.what_steps_say, ([good], [good], 8), ["8 places", "just long enough on 32"]),
    (draw.what_steps_say, ([good], [], 8), ["just long enough on 32"]),
    (draw.what_steps_say, ([tired], [tired], 8), ["misses", "32"]),
    (draw.what_steps_say, ([[L + 9.0 for L in good]], [tired], 8), ["misses", "32"]),
    (draw.what_steps_say, ([], [tired], 8), ["No PonderNet"]),
    (draw.what_halting_buys, (TESTS,), ["42 points on lines", "nothing on digits"]),
    (draw.what_halting_buys, ([TESTS[0], TESTS[1]._replace(halting=[(1.2, 0.9)])],), ["42 points", "12 points on"]),
    (draw.what_halting_buys, (TESTS[:1],), ["42 points on lines"]),
    (draw.what_halting_buys, ([TESTS[0]._replace(halting=[(2.5, 0.1), (2.0, 0.1)])],), ["nothing here"]),
    (draw.how_far_news_travels, (LEAKS[:1], (0,)), ["never faster"]),
    (draw.how_far_news_travels, (LEAKS, (0, 2)), ["4 answers"]),  # 3 after step 1, and place 1 after step 2
    (draw.how_close_to_theory, ({0.2: -0.5, 0.4: 0.25},), ["50%"]),
    (draw.how_close_to_theory, ({},), ["No stored"]),
]


@pytest.mark.parametrize(("function", "given", "parts"), SENTENCES)
def test_a_sentence_says_what_the_numbers_say(function, given, parts):
    sentence = function(*given)
    assert [part for part in parts if part not in sentence] == [], sentence


def level(ax, colour):
    """The height of the one line of this colour, or of its highest point."""
    (points,) = [points for name, points in shapes(ax) if name == colour]
    return points[:, 1].max()


def test_the_two_lines_of_lesson_05_need_half_their_places_and_all():
    torch.manual_seed(0)
    model, task = PonderNet(LocalStep(2, 4), 8).eval(), LineParityTask(8)
    x = task.batch(200, torch.Generator().manual_seed(0))[0]
    figure, finding = draw.half_and_whole(model, task, x, 16)
    needs = [level(ax, LIMIT) + 0.5 for ax in figure.axes]
    assert needs == [4, 8]
    late = [int(level(ax, GREEN) + 0.5 - need) for ax, need in zip(figure.axes, needs, strict=True)]
    assert finding == draw.in_words(late)
    (ax,) = draw.one_of_20_lines(model, 3, 5).axes
    wanted = LineParityTask(5).batch(20, torch.Generator().manual_seed(3))[0][3]
    written = [float(text.get_text()) for text in ax.texts if text.get_text().isdigit()]
    assert written == wanted.flatten().tolist()
    answers = model(wanted[None], max_steps=10).y_hat[:, 0].sigmoid().detach()
    np.testing.assert_allclose(ax.images[0].get_array(), answers[: len(ax.images[0].get_array())], rtol=1e-5)


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
    assert draw.against_theory(above, lambda_ps, theory) == pytest.approx({0.2: 2 / 4 - 1, 0.4: 2 / 8 - 1})
    none = draw.steps_above([], [])
    assert draw.steps_above_in_theory(none, lambda lambda_p, L, N: L, 0.3)[0] == [0.3]
    assert draw.against_theory(none, lambda_ps, theory) == {}


def test_what_halting_buys_on_lines_is_measured_at_the_mean_steps_of_each_network():
    found = {"right": 0.9, "steps": 2.5}
    tests = [{4: {"by_step": [0.1, 0.2, 0.4, 0.8], "rules": {"sample": found}}}, {8: {}}]
    bought = draw.bought_on_lines(tests, 4, "sample")
    assert (bought.title, bought.halting, bought.end) == ("4 places", [(2.5, 0.9)], 5.2)
    assert (bought.same(), bought.gain()) == pytest.approx((0.3, 60))
    steps, best = bought.limits["same step"]
    assert list(steps) == [1, 2, 3, 4]
    assert best == sorted(best)
    assert best[-1] == 1  # after as many steps as places all is known
    (digits,) = draw.bought_on_digits([{"rules": {"quantile": (1.2, 0.78)}, "by_step_within": [0.8, 0.7]}])
    assert (digits.halting, digits.curves, digits.limits) == ([(1.2, 0.78)], [[0.8, 0.7]], {})
    assert draw.bought_on_digits([]) == []


def test_the_table_of_parts_taken_away_holds_the_runs_of_the_same_training():
    pooled = [run_of(right=0.5), run_of(right=0.1, lambda_p=0.2)]
    quiet = [run_of(right=0.3, noise=0, updates=1000), run_of(right=0.1, noise=0, updates=3000)]
    table = draw.without_parts([run_of()], pooled, quiet)
    assert [set(row.values()) for row in table.values()] == [{"90%"}, {"50%"}, {"30%"}]


def test_what_a_sum_takes_is_the_median_at_the_widest_beside_the_longest_carry():
    theory = draw.steps_of_a_sum([16, 32])
    x = AdditionTask(16).batch(2000, torch.Generator().manual_seed(0))[0]
    assert theory["the longest carry needs"][0] == AdditionTask.needed_steps(x, guess=0).amax(1).float().mean()
    assert theory["$\\log_2 n$"] == [4, 5]
    points = [(16, 1.0), (32, 5.0), (32, 6.5), (32, 7.0)]
    sentence = draw.what_a_sum_takes([16, 32], theory, points)
    assert all(part in sentence for part in ("32 bits", f"{theory['the longest carry needs'][1]:.1f}", "6.5"))
    assert "6.5" not in draw.what_a_sum_takes([16, 32], theory, [])


def test_a_row_of_the_table_counts_who_speaks_among_those_that_learnt():
    def run_with(right, early, by_step):
        found = {"right": right, "early": early, "right_early": right, "steps": 2.0}
        return {"places": 4, "tests": {"4": {"rules": {"threshold": found}, "by_step": by_step}}}

    rows = [
        run_with(0.99, 0.5, [0.1, 0.4, 0.6, 1.0]),  # learnt, and speaks
        run_with(0.9, 0.5, [0.1, 0.2, 0.3, 0.96]),  # learnt at a fixed step, and is wrong when it halts early
        run_with(0.9, 0.5, [0.1, 0.2, 0.3, 0.9]),  # has not learnt
    ]
    assert list(draw.summary(rows).values()) == ["3", "2", "1", "2.00", "50%", "99.0%", "60%"]
