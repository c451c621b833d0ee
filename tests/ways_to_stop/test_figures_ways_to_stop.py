"""The figures of lesson 06 draw the numbers that they are given, and the sentences beside them say what is drawn."""

from statistics import median

import pytest
import torch
from drawn import COMPUTED, Drawn, numbers, tests_of_figures
from matplotlib.colors import to_rgba

from ponder_course.common.lines import LineParityTask, all_of_one_segment
from ponder_course.common.local import LocalStep
from ponder_course.common.style import BLACK, GREEN, GREY, HALTING, ORANGE, WRONG
from ponder_course.light_cone.figures import Votes
from ponder_course.ways_to_stop import figures as draw
from ponder_course.ways_to_stop.regret import Regret
from ponder_evidence.ways_to_stop import figures as research
from ponder_utils import PonderNet

N = [1, 2, 3, 4]
CURVES = [[0.5, 0.9, 0.95, 1.0], [0.5, 0.6, 0.7, 0.8]]
OTHERS = [[0.1, 0.1, 0.8, 0.9], [0.0, 0.2, 0.1, 0.3]]
IN_TIME = {"L=2": 2, "L=3": 3}
SEEN = {"certainty": (CURVES, 0.9), "PonderNet's head": (OTHERS, 0.5)}
ACT = [[(0.9, 7), (0.5, 3)], [(0.8, 2), (0.6, 2)]]  # (right, steps)
WAYS = {"lines": {"ACT": ACT, "coin": [[(0.6, 4)]], "other": [[(0.7, 5), (0.4, 8)]]}, "noisy": {"coin": [[(0.4, 6)]]}}
FAMILIES = {"ACT": "a price", "coin": "a prior", "other": "a prior"}
RUNS = {
    "lines": {"ACT": [Regret(0.01, 0.02), Regret(0.03, 0.0)], "coin": [Regret(0.2, 0.1)]},
    "noisy": {"coin": [Regret(-0.01, 0.3), Regret(-0.02, 0.001)]},
}
BOTH = {
    "lines": {"ACT": [Regret(0.01, 0.02), Regret(0.03, 0.0)], "coin": [Regret(0.05, 0.01)]},
    "noisy": {"ACT": [Regret(0.2, 0.1)], "coin": [Regret(0.1, 0.06), Regret(0.02, 0.1)]},
}
STOPS = {
    "certainty": [Regret(0.0, 0.0), Regret(0.01, 0.0)],
    "PonderNet's head": [Regret(0.03, 0.0), Regret(-0.004, 0.0), Regret(0.002, 0.04), Regret(-0.001, 0.02)],
}
NO = [[0.9, 0.1], [0.2, 0.82], [0.3, 0.4], [0.0, 0.1]]
SAYS_NO = [[1, 0], [0, 1], [0, 0], [0, 0]]  # above 1 - 0.2
VOTES = [Votes(NO, [1, 0], 2, 3, "bit 1"), Votes(NO[::-1], [0, 0], 3, 3, "bit 0")]
WRONG_AT = [[1, 0], [1, 0], [0, 1], [1, 1]]
MISTAKEN = [VOTES[0], VOTES[1]._replace(wrong=WRONG_AT)]
WIRED = [Votes([[1, 1], [0, 0]], [1, 0], 2, 3, ""), Votes([[1, 1], [0, 1]], [0, 0], 3, 3, "", WRONG_AT)]
CLIFFS = {
    "lines": {"price": {0.005: [0.5, 6.5], 0.01: [0.25, 0.75, 5.5]}, "bonus": {0.005: [1.5]}},
    "no answer": {"price": {0.005: [0.125, 7.5], 0.01: [0.625]}, "bonus": {0.005: [2.5, 9.5]}},
}
JUDGES = [{"yes": [0.98, 0.51, None], "right": [1.0, 0.4, 0.2]}, {"yes": [0.9, 0.6, 0.3], "right": [1.0, 0.55, 0.1]}]
CURVES_SORTED = [[3, 7], [0.5, 0.9], [2, 2], [0.6, 0.8], [5, 8], [0.7, 0.4], [3.5], [1.0]]
ACT_AND_COIN = [[3, 3], [3, 30], [29, -1.9], [13.55]]  # regrets in hundredths, and their means
FIGURES = {
    "signals": Drawn(draw.signals, (SEEN, IN_TIME), written=["0.9", "0.5"]),
    "signals, one never": Drawn(draw.signals, ({"certainty": (OTHERS, 2.0)}, IN_TIME)),
    "sure or guessed": Drawn(
        draw.sure_or_guessed,
        ({"with": NO, "without": NO[::-1]}, [[2, 3], None], [[4, 3], None], "place"),
        [[0.5, 1.5, 1.5, 2.5], [1.5, 1.5, 2.5, 2.5], [4.5, 4.5, 3.5, 3.5]],
        {BLACK: [1.5, 2.5], HALTING: [4.5, 3.5]},
    ),
    "sure or guessed, apart": Drawn(
        draw.sure_or_guessed,
        ({"with": NO}, [[2, 3]], [[4, 3]], "line", True),
        [[0.5, 1.5, 1.5, 2.5], [1.5, 1.5, 2.5, 2.5], [4.5, 4.5], [3.5, 3.5]],
    ),
    "tradeoffs": Drawn(draw.tradeoffs, (WAYS, FAMILIES, {"lines": 3.5}), CURVES_SORTED, {GREEN: [0.6, 0.7, 0.4]}),
    "regrets": Drawn(
        draw.regrets,
        (RUNS, FAMILIES),
        [*ACT_AND_COIN, 30],
        {ORANGE: [3], GREEN: [30, 29, -1.9, 13.55]},
        ["3.0", "30.0", "13.5"],
        start=0,
        sideways=True,
    ),
    # What lies beyond the cut is an arrow head at the edge, and means are written all the same.
    "regrets, cut": Drawn(
        draw.regrets,
        (RUNS, FAMILIES, 25.0),
        [*ACT_AND_COIN, [28.75, 28.75], [25, 25]],
        {ORANGE: [3], GREEN: [-1.9, 28.75, 13.55, 25]},
        ["3.0", "30.0", "13.5"],
        start=0,
        sideways=True,
    ),
    "beside the clock": Drawn(
        draw.beside_the_clock,
        (STOPS, 0.005),
        [[0, 0], [2, 1], [-0.8, 3], [-0.2, 4], [0.4, 5], [6, 6]],
        {GREEN: [-0.8, 6], WRONG: [-0.2, 0.4]},
        ["2", "4"],
        sideways=True,
    ),
    "message": Drawn(draw.message, (VOTES,), [SAYS_NO[:2], SAYS_NO[:0:-1], 2.5, 3.5]),
    "message, wrong": Drawn(
        draw.message, (MISTAKEN,), [SAYS_NO[:2], SAYS_NO[:0:-1], 2.5, 3.5, [1, 1, 2], [1, 2, 3]], {WRONG: [1, 2, 3]}
    ),
    "cliffs": Drawn(research.cliffs, (CLIFFS,), COMPUTED),
    "wire": Drawn(draw.wire, (WIRED,), COMPUTED),
    "judges": Drawn(
        research.judges, (JUDGES,), [[1, 0.5, 0.25]], {BLACK: [1, 0.5, 0.25], GREY: [1, 0.4, 0.2, 0.55, 0.1]}, start=0
    ),
}


test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("ways_to_stop", FIGURES)


def test_the_wire_shows_who_has_heard_who_is_right_and_who_objects():
    axes = draw.wire(WIRED).axes
    step = WIRED[0].halts
    for ax, line in zip(axes, WIRED, strict=True):
        rows = {y: [text.get_text() for text in ax.texts if text.get_position()[1] == y] for y in (3, 2, 1)}
        assert rows[3] == [str(bit) for bit in line.bits]
        wrong = line.wrong[step - 1] if line.wrong else [0, 0]
        parity = [line.bits[0], sum(line.bits) % 2]
        for text, right, is_wrong in zip(rows[2], parity, wrong, strict=True):
            assert text.split() == [str(right ^ is_wrong), draw.CROSS if is_wrong else draw.TICK]
        objectors = draw.objecting(line, step)
        assert rows[1] == ["no" if str(place) in objectors else "yes" for place in (1, 2)]
        heard = [box.get_facecolor()[0].tolist() for box in ax.collections]
        assert heard == [list(to_rgba(draw.HEARD if place <= step else "white")) for place in (1, 2)]
        assert any("nobody objects: halt" in text.get_text() for text in ax.texts) == (not objectors)


def test_the_wire_says_what_two_last_places_cannot_tell_apart_until_they_have_heard_the_first_bit():
    early = [line._replace(halts=1) for line in WIRED]
    for lines, says in ((early, True), (WIRED, False), (early[:1], False)):
        texts = [text.get_text() for ax in draw.wire(lines).axes for text in ax.texts]
        assert ("the last place sees the same" in texts) == says


def test_each_network_stands_at_its_price_and_medians_are_joined():
    for ax, trainings in zip(research.cliffs(CLIFFS).axes, CLIFFS.values(), strict=True):
        for which, by_price in enumerate(trainings.values()):
            marks, line = ax.collections[which].get_offsets().tolist(), ax.lines[which].get_xydata()
            shift = 1.08 ** (which - 1)
            assert marks == [[price * shift, loss] for price, losses in by_price.items() for loss in losses]
            assert line[:, 0].tolist() == [price * shift for price in by_price]
            assert line[:, 1].tolist() == [median(losses) for losses in by_price.values()]


def test_a_line_without_a_need_of_its_own_is_not_left_out():
    with pytest.raises(ValueError, match="zip"):
        draw.signals({"certainty": (CURVES, 0.9)}, {"short": 2})


def test_cells_hold_medians_and_how_many_fail():
    runs = [Regret(0.01, 0.02), Regret(0.07, 0.0), Regret(0.0, 0.02)]
    table = draw.in_cells({"lines": {"ACT": runs, "coin": [Regret(0.01, 0.01)]}, "noisy": {"ACT": runs}}, 2.5)
    assert [numbers(cell) for cell in table["lines"]] == [["3.0", "2", "3"], ["2.0"]]
    assert table.shape == (2, 2)


LATE = {"certainty": [0, 0, 0], "head": [0, 0, 3], "judge": [1, 2, 1]}
EARLY = {"certainty": [-4, 1], "budget": [0] * 49 + [1], "judge's yes": [0] + [1] * 49}
SAME_STEP = {
    "on lines": {"same step for all": [Regret(0.03, 0)], "ACT": [Regret(0.01, 0)], "head": [Regret(0.1, 0)]},
    "on 8 elements": {"same step for all": [Regret(0.01, 0)], "ACT": [Regret(0.02, 0)], "head": [Regret(0.1, 0)]},
}
HEAD = {kind: {"PonderNet, threshold": panel["ACT"]} for kind, panel in BOTH.items()}
FRESH = {"lines": {"PonderNet, threshold": [Regret(0.5, 0), Regret(0.4, 0)]}}
TWIN = [Votes(NO, [1, 0], 5, 6, ""), Votes(NO, [0, 0], 6, 6, "")]
SILENT, LOUD = ([[0.0, 0.0]] * 4 + [no] for no in ([0.1, 0.7], [0.9, 0.9]))
ALONE = [[0.0, 0.0]] * 4 + [[0.1, 0.9]]
HALTS = draw.Halts(torch.tensor([2, 3, 3, 5]), torch.tensor([1.0, 1, 0, 1]), torch.arange(4) < 3, 0.5, 4)
SENTENCES = [  # a function, what it is given, and the numbers that it says
    (draw.who_stops_in_time, (LATE,), ["7"]),
    (draw.who_stops_in_time, (EARLY,), ["9", "1"]),
    (draw.when_certain, ([8, None],), ["8"]),
    (draw.who_beats_the_clock, (STOPS,), ["1", "4"]),
    (draw.too_early, ([2, 3, 3], [3, 3, 4]), ["2", "3"]),
    (draw.same_step_stands, (SAME_STEP,), ["2", "3", "8"]),
    (draw.partly_lucky, (HEAD, FRESH), ["30.0", "1", "45.0", "2"]),
    (draw.halts_in_words, (HALTS,), ["4", "50", "75", "3.25", "3", "4", "2"]),
    (draw.outcome, (TWIN[0]._replace(halts=3),), ["3"]),
    (draw.outcome, (TWIN[1],), []),
    (draw.outcome, (TWIN[0]._replace(halts=7),), ["1"]),
    (draw.finding, (TWIN, True), ["1", "5", "0", "6"]),
    (research.who_falls, (CLIFFS,), ["5", "1", "4", "1", "3"]),
    (draw.who_objects, ([TWIN[0]._replace(no=SILENT), TWIN[1]._replace(no=ALONE)],), ["5", "1", "0", "2"]),
    (draw.who_objects, ([TWIN[1]._replace(no=SILENT), TWIN[0]._replace(no=LOUD)],), ["5", "0", "1", "1", "2"]),
]


@pytest.mark.parametrize(("function", "given", "wanted"), SENTENCES)
def test_a_sentence_says_the_numbers(function, given, wanted):
    assert numbers(function(*given)) == wanted


def test_what_decides_is_true_of_all_lines_that_halt_early_and_of_no_other():
    bits = torch.cartesian_prod(*[torch.tensor([0, 1])] * 3)
    assert draw.guess(bits[:, 0] == 1, bits) == "its first bit is 1"
    assert draw.guess(bits[:, 0] == 0, bits) == "its first bit is 0"
    assert "first 2 bits have an odd" in draw.guess(bits[:, 0] != bits[:, 1], bits)
    assert "first 2 bits have an even" in draw.guess(bits[:, 0] == bits[:, 1], bits)
    for early in (bits[:, 1] == 1, bits[:, 0] > 1, (bits[:, 0] == 1) & (bits[:, 2] == 1)):
        assert draw.guess(early, bits) == ""


def test_what_each_looks_at_is_picked_by_line():
    looks = torch.arange(6.0).reshape(3, 2)  # [N, lines]
    seen = draw.of_lines({"certainty": (looks, 0.9), "judge": (looks + 10, 0.2)}, [1, 0])
    assert seen == {"certainty": ([[1, 3, 5], [0, 2, 4]], 0.9), "judge": ([[11, 13, 15], [10, 12, 14]], 0.2)}


def test_methods_have_their_short_names():
    runs = [Regret(0.01, 0.02)]
    rows, adds = draw.under({"ACT": "budget", "PonderNet, threshold": "head"}, {"lines": {"ACT": runs, "CALM": runs}})
    assert rows == {"lines": {"budget": runs}}
    assert adds == {"budget": "a price", "head": "a prior"}


@pytest.mark.parametrize("seed", [3, 5, 10, 11])
def test_halts_are_those_of_the_network_by_itself(seed):
    torch.manual_seed(seed)
    model, q = PonderNet(LocalStep(2, 4), 6).eval(), draw.LEVEL
    with torch.no_grad():
        for weight in model.parameters():
            weight *= 4  # so that lines halt at different steps, and some are right
    x = all_of_one_segment(4)  # all 16 lines
    y = LineParityTask.answers(x)
    found = draw.halts_of(model, x)
    by_itself, every = model.predict(x, "threshold", q=q), model(x)
    right_then = ((by_itself.y_hat > 0) == (y > 0.5)).all(1)
    right = ((every.y_hat > 0) == (y > 0.5)).all(2)  # [steps, lines]
    assert torch.equal(found.steps, by_itself.steps)
    assert torch.equal(found.right.bool(), right_then)
    assert torch.equal(found.early, by_itself.steps < 4)
    assert found.fixed == right.float().mean(1)[:3].max()
    assert found.stopped == (int((by_itself.steps < 4).sum()), int(right_then[by_itself.steps < 4].sum()))

    lines, correct = draw.line_and_twin(model, x, found)
    line, twin = lines
    assert [bit != other for bit, other in zip(line.bits, twin.bits, strict=True)] == [True, False, False, False]
    of_line = {tuple(bits): n for bits, n in zip(x[:, 0].int().tolist(), found.steps.tolist(), strict=True)}
    assert [each.halts for each in lines] == [of_line[tuple(each.bits)] for each in lines]
    assert line.halts == max([n for n in of_line.values() if n < 4], default=line.halts)
    which = [x[:, 0].int().tolist().index(each.bits) for each in lines]
    assert correct == bool(right_then[which].all())
    wrong = (every.y_hat > 0) != (y > 0.5)  # [steps, lines, places]
    assert [each.wrong for each in lines] == [wrong[:, i].tolist() for i in which]
