"""The figures of lesson 05 draw the numbers that they are given, and the sentences above them say what is drawn."""

import math

import numpy as np
import pytest
import torch
from drawn import COMPUTED, Drawn, numbers, series, tests_of_figures
from small_light_cone import Clock

from ponder_course.common.lines import LineParityTask
from ponder_course.common.local import LocalStep
from ponder_course.common.style import BLUE, GREEN, LIMIT, NOT_LEARNT, ORANGE, PURPLE, RED, WRONG
from ponder_course.light_cone import figures as draw
from ponder_course.light_cone.figures import Bought, Votes
from ponder_evidence.light_cone import figures as evidence
from ponder_utils import PonderNet

GRIDS = np.random.default_rng(0).random((2, 5, 3)).tolist()  # [panels, steps, places]
DIFFERS = [torch.tensor(grid) > 0.5 for grid in GRIDS]
EDGES = [0.5, 1.5, 1.5, 2.5, 2.5, 3.5]  # of places
STAIRS = [0.5, 0.5, 1.5, 1.5, 2.5, 2.5]  # where places need 1, 2, 3 steps
VALLEY = [1.5, 1.5, 0.5, 0.5, 1.5, 1.5]  # and 2, 1, 2
LOW = [0.5, 0.5, 0.5, 0.5, 1.5, 1.5]  # and 1, 1, 2
VOTES = [Votes(GRIDS[0], [1, 2, 3], 3, 4, "halts at 3"), Votes(GRIDS[1][:4], [4, 5, 6], 4, 4, "halts at 4")]
NEED = [[2.0, 3.0, None, 5.0], [2.5, 3.5, 4.5, 5.5]]
ACT = [[1.0, math.nan, 2.1, 2.6]]  # no line needs 2
UNITS = [[0.1, 0.5, 0.4, 0.2, 0.3], [0.2, 0.25, 0.3, 0.26, 0.15]]
LAMBDAS = [[0.01, 0.02, 0.1, 0.2, 0.5], [0.0, 0.02, 0.1, 0.4, 0.5]]
LIMITS = {"best clock": ([1, 2], [0.6, 1.0]), "same step": ([1, 2, 3], [0.3, 0.55, 0.91])}
TESTS = [
    Bought("16 places", [[0.1, 0.5, 0.9], [0.2, 0.4, 0.8]], [(2.5, 0.95), (2.0, 1.0)], LIMITS, 4.5),
    Bought("digits", [[0.8, 0.7]], [(1.2, 0.781)], {}, 9.0),
]
THEORY = {"equation 2": [4.0, 1.0, 0.25], "cut off": [3.0, 0.9, 0.2]}
RUNS = {"a network": [(0.2, 3.9), (0.5, 1.2)], "reversed": [(0.8, 7.0)]}
FIXED = [[0.1, 0.5, 0.55, 1.0], [0.2, 0.4, 0.56, 0.9]]
N = [1, 2, 3, 4]
LINES = torch.tensor([[[1, 0, 0], [1, 0, 0]], [[0, 1, 1], [1, 1, 0]]]).float()  # answers 1, 1, 1 and 0, 1, 0
KNOWN = torch.tensor([[[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1]], [[0, 1, 0]] * 4])  # [lines, steps, places]
THOUGHT = (PonderNet(Clock(), 4), LineParityTask(3), LINES, ["easy", "hard"], 4, ("bit", "reset"))
LOCAL = PonderNet(LocalStep(2, 4), 8).eval()
LOCAL_LINES = LineParityTask(8).batch(200, torch.Generator().manual_seed(0))[0]
FIGURES = {
    "who votes no": Drawn(evidence.who_votes_no, (VOTES,)),
    "fixed and by itself": Drawn(evidence.fixed_and_by_itself, (FIXED, [(2.6, 1.0), (3.5, 0.8)], 4)),
    "deadlines": Drawn(
        evidence.deadlines,
        ({"last of 8": [[1.0, 3.5, 5.25], [2.0, 4.0, 7.0]], "every one": [[1.5, 2.5, 3.25]]},),
        [[1, 2, 3]],
        {BLUE: [1, 3.5, 5.25, 2, 4, 7], RED: [1.5, 2.5, 3.25]},
    ),
    "news": Drawn(draw.news_of, (DIFFERS, 1), [EDGES, VALLEY], written=["2"]),
    "steps against need": Drawn(
        draw.steps_against_need,
        (NEED, {"at one price": ACT, "at another": [[4.2, 4.3, 4.4, 4.5]]}, 1, 2, [[4.1, None, 4.6]]),
        [N],
        {GREEN: [2, 3, 5, *NEED[1]], ORANGE: [1, 2.1, 2.6, 4.2, 4.3, 4.4, 4.5], NOT_LEARNT: [4.1, 4.6]},
        ["+1.3"],  # steps too many: 1, 1, 1, and four times 1.5
    ),
    "leaks": Drawn(
        draw.leaks,
        ([units[:3] for units in UNITS[:1]] + [UNITS[1][:4]], [lambdas[:4] for lambdas in LAMBDAS], 3),
        None,
        {
            ORANGE: [0.1, 0.6, 1.0, 0.2, 0.45, 0.75, 1.0],
            GREEN: [0.01, 0.0298, 0.12682, 0.301456, 0.0, 0.02, 0.118, 0.4708],
        },
    ),
    "above the limit": Drawn(
        draw.above_the_limit, ([0.2, 0.5, 0.8], THEORY, RUNS["a network"]), colours={GREEN: [3.9, 1.2]}
    ),
    "above the limit, no run": Drawn(draw.above_the_limit, ([0.2, 0.8], {"a": [4.0, 0.1], "cut": [3.9, 0.05]}, [])),
    "above the limit, evidence": Drawn(
        evidence.above_the_limit, ([0.2, 0.5, 0.8], THEORY, RUNS | {"N = 40": [(0.5, 1.3)]}), colours={PURPLE: [7]}
    ),
    "bought": Drawn(draw.bought, (TESTS,), written=["+42", "0"]),
    "by group": Drawn(
        evidence.by_group,
        ({"with": {"right": [1.0, 0.9], "last": [0.8]}, "without": {"last": [0.3, 0.2]}}, "right lines", (0, 1.02)),
        [[0.8, 0.3, 0.2], [0.08, 1.08, 1.08], -0.08],
        {RED: [0.8, 0.3, 0.2]},
        sideways=True,
    ),
    "think": Drawn(
        draw.think,
        THOUGHT,
        [*(20.0 * KNOWN - 10.0).sigmoid(), EDGES, STAIRS, LOW, [1, 1, 2], [2, 3, 3], 1.5, 2.5],
        {WRONG: [1, 2]},
    ),
    "one of 20 lines": Drawn(draw.one_of_20_lines, (LOCAL, 3, 5), COMPUTED),
    "half and whole": Drawn(draw.half_and_whole, (LOCAL, LineParityTask(8), LOCAL_LINES, 16), COMPUTED),
}


test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("light_cone", FIGURES)


def test_steps_run_down_and_digits_stand_above_their_places_in_lines_of_at_most_24():
    figure, late = draw.think(*THOUGHT)
    assert late == [0, 0]
    for ax in (*evidence.who_votes_no(VOTES).axes, *figure.axes):
        digits = [text for text in ax.texts if text.get_text().isdigit()]
        assert [text.xy[0] for text in digits] == [1, 2, 3] * (len(digits) // 3)
        (image,) = ax.images
        assert image.get_extent() == [0.5, 3.5, len(image.get_array()) + 0.5, 0.5]
        assert ax.yaxis_inverted()
    assert [float(text.get_text()) for text in digits] == LINES[1].flatten().tolist()
    long = draw.think(*THOUGHT[:2], torch.ones(2, 2, 25), *THOUGHT[3:])[0]
    assert not long.axes[0].texts


good = [L + 1.5 for L in range(1, 33)]
tired = [min(float(L), 20.0) for L in range(1, 33)]
LEAKS = [torch.eye(2, 4).bool(), torch.ones(2, 4).bool()]  # [steps, places]
SENTENCES = [  # a function, what it is given, and the numbers that it says
    (draw.in_words, ([0, 1],), ["1"]),
    (draw.in_words, ([7, 1],), ["7", "1"]),
    (draw.in_words, ([2, 2],), ["2"]),
    (draw.in_words, ([1, -1],), []),
    (draw.what_halting_buys, (TESTS,), ["42"]),
    (draw.what_halting_buys, ([TESTS[0], TESTS[1]._replace(halting=[(1.2, 0.9)])],), ["42", "12"]),
    (draw.what_halting_buys, ([TESTS[0]._replace(halting=[(2.5, 0.1), (2.0, 0.1)])],), []),
    (draw.when_they_stop, (UNITS[0], LAMBDAS[0], 4), ["3", "4", "3", "0.13"]),
    (draw.when_they_stop, ([0.5], [0.1], 7), ["6", "0.10"]),
    (draw.how_far_news_travels, (LEAKS[:1], 0), []),
    (draw.how_far_news_travels, (LEAKS, 0), ["5"]),  # 3 after step 1, and 2 after step 2
    (draw.how_close_to_theory, ({0.2: -0.5, 0.4: 0.25},), ["50"]),
    (draw.how_close_to_theory, ({},), []),
]


@pytest.mark.parametrize(("function", "given", "wanted"), SENTENCES)
def test_a_sentence_says_what_the_numbers_say(function, given, wanted):
    assert numbers(function(*given)) == wanted


def test_whether_networks_think_long_enough_is_asked_beyond_training():
    said = lambda runs, act: draw.what_steps_say(runs, {"a price": act}, 8)  # noqa: E731
    enough, act_does_not, misses = said([good], []), said([good], [tired]), said([tired], [tired])
    assert len({enough, act_does_not, misses, said([], [])}) == 4
    assert said([good], [good]) == enough
    assert said([[L + 9.0 for L in good]], [tired]) == misses
    assert said([good], [[L + 9.0 for L in good]]) == act_does_not
    assert said([good], [tired, good]) == enough  # not every ACT of this price
    for sentence in (enough, act_does_not, misses):
        assert sorted(numbers(sentence)) == ["32", "8"]


def test_the_table_of_the_bets_has_the_range_over_networks():
    table = draw.in_short({"a": [([1.0, 2.5], 3), ([1.2, 2.5], 5)], "b": [([4.0, 4.0], 0)]}, (1, 2), "right")
    assert table.T.to_dict("list") == {"a": ["1.0 to 1.2", "2.5", "3 to 5"], "b": ["4.0", "4.0", "0"]}
    assert [*map(numbers, table)] == [["1"], ["2"], []]


def level(ax, colour):
    """The height of the one line of this colour, or of its highest point."""
    (y,) = [y for name, _, y in series(ax) if name == colour]
    return y.max()


def test_the_two_lines_of_lesson_05_need_half_their_places_and_all():
    figure, finding = draw.half_and_whole(LOCAL, LineParityTask(8), LOCAL_LINES, 16)
    needs = [level(ax, LIMIT) + 0.5 for ax in figure.axes]
    assert needs == [4, 8]
    late = [int(level(ax, GREEN) + 0.5 - need) for ax, need in zip(figure.axes, needs, strict=True)]
    assert finding.splitlines()[-1] == draw.in_words(late)
    (ax,) = draw.one_of_20_lines(LOCAL, 3, 5).axes
    wanted = LineParityTask(5).batch(20, torch.Generator().manual_seed(3))[0][3]
    assert [float(text.get_text()) for text in ax.texts if text.get_text().isdigit()] == wanted.flatten().tolist()
    answers = LOCAL(wanted[None], max_steps=10).y_hat[:, 0].sigmoid().detach()
    np.testing.assert_allclose(ax.images[0].get_array(), answers[: len(ax.images[0].get_array())], rtol=1e-5)


def run_of(lambda_p=0.4, N=20, right=0.9, late=1.5, **setting):
    found = {"right": right, "steps": 7.0 + late, "before": 0.0}
    test = {"need": 7.0, "rules": dict.fromkeys(("sample", "quantile 0.9", "threshold 0.2"), found)}
    return {"lambda_p": lambda_p, "N": N, "tests": {"16": test, "64": test}, **setting}


def test_steps_above_the_need_are_those_of_the_stored_runs_beside_theory():
    rows = [run_of(late=1.5), run_of(late=2.5), run_of(late=9.0, N=40), run_of(lambda_p=0.2, late=2.0)]
    above = draw.steps_above(rows)
    assert above == [(0.4, 1.5), (0.4, 2.5), (0.2, 2.0)]
    lambda_ps, theory = draw.steps_above_in_theory(above, lambda lambda_p, L, N: L + N * lambda_p, 0.3)
    assert lambda_ps == [0.2, 0.4]
    np.testing.assert_allclose([*theory.values()], [[4.0, 1.5], [4.0, 8.0]])
    assert draw.against_theory(above, lambda_ps, theory) == pytest.approx({0.2: 2 / 4 - 1, 0.4: 2 / 8 - 1})
    assert draw.steps_above_in_theory([], lambda lambda_p, L, N: L, 0.3)[0] == [0.3]
    assert draw.against_theory([], lambda_ps, theory) == {}


def test_what_halting_buys_on_lines_is_measured_at_the_mean_steps_of_each_network():
    found = {"right": 0.9, "steps": 2.5}
    tests = [{4: {"by_step": [0.1, 0.2, 0.4, 0.8], "rules": {"sample": found}}}, {8: {}}]
    bought = draw.bought_on_lines(tests, 4, "sample")
    assert (bought.halting, bought.end) == ([(2.5, 0.9)], 5.2)
    assert (bought.same(), bought.gain()) == pytest.approx((0.3, 60))
    steps, best = bought.limits["same step"]
    assert list(steps) == [1, 2, 3, 4]
    assert best == sorted(best)
    assert best[-1] == 1  # after as many steps as places all is known
    (digits,) = draw.bought_on_digits([{"rules": {"quantile": (1.2, 0.78)}, "by_step_within": [0.8, 0.7]}])
    assert (digits.halting, digits.curves, digits.limits) == ([(1.2, 0.78)], [[0.8, 0.7]], {})
    assert draw.bought_on_digits([]) == []


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
