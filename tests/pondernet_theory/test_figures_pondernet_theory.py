"""The figures of lesson 02 draw the numbers that they are given, and their sentences speak of these."""

import math

import numpy as np
import pandas as pd
import pytest
import torch
from drawn import check_drawn, named, numbers, over, pairs, shapes, texts

import ponder_utils as pu
from ponder_course.common.style import ANSWER, COLOURS, DARK_GREY, GREEN, HALTING, KL, LIMIT, PRIOR, PURPLE, SKY, WRONG
from ponder_course.pondernet_theory import figures as draw
from ponder_course.research.pondernet_theory import figures as evidence

K, P, Q, LOSSES = range(1, 4), [0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.9, 0.4, 0.6]
TABLE = pd.DataFrame(
    {"steps": [2.0, 3.0], "steps_sd": [0.5, 0.0], "answer": [0.6, 0.3], "answer_sd": [0.2, 0.0]},
    index=["sample", "median"],
)
CLOSED, FITS = {"paper": [P, Q], "reversed": [Q, P]}, {"paper": [Q, Q], "reversed": [P, P]}
GRADIENTS = [{"losses": 0.2, "paper": -0.3, "reversed": -0.15}, {"losses": -0.02, "paper": 0.01, "reversed": -0.154}]
THEORY, RUNS = {"none": [2.0, 3.0, 4.0], "mean": [5.0, 5.0, 5.5]}, {"none": [P, Q], "mean": [LOSSES]}
NOISE = [[0.0, 0.1, 0.9, 0.4], [20.0, 0.01, 0.8, 0.3], [40.0, 0.001, 0.7, 0.2]]
BOUNDS = {
    "a": [("bound", [2.0, 1.0, 3.0]), ("exact", [1.0, 1.0, 1.0])],
    "b": [("mean loss", [4.0, 5.0, 6.0]), ("mixture", [3.0, 4.0, 5.0])],
}
BETA = [1e-3, 0.5]  # of the best halting; the first is certain of step 2
EXACT = torch.tensor(LOSSES, dtype=torch.float64)
LOG_PRIOR = pu.geometric_log_prior(0.4, 3)


def best(losses, log_g, beta):
    return (log_g - losses / beta).softmax(0)


def p_best(beta):
    return best(EXACT, LOG_PRIOR, beta).tolist()


def draw_best(losses, settings):
    return draw.draw_best_halting(best, losses, settings)[0]


GIVEN = {
    "KL bars": (
        draw.draw_kl_bars,
        ([0.5, 0.25, 0.25], {"a": [0.25, 0.5, 0.25], "b": [0.0, 0.0, 1.0]}),
        [
            {PRIOR: [pairs(np.add(K, -0.22), [0.5, 0.25, 0.25])], HALTING: [pairs(np.add(K, 0.22), p)], "text": written}
            for p, written in (([0.25, 0.5, 0.25], ["-0.25", "+0.50", "+0.00", "0.25 bits"]), ([0, 0, 1], ["+2.00"]))
        ],
    ),
    "best halting": (
        draw_best,
        (EXACT, [(beta, 0.4) for beta in BETA]),
        [
            {ANSWER: over(K, LOSSES), "text": ["0.9", "0.4", "0.6"]},
            *(
                {
                    HALTING: over(K, p_best(beta)),
                    PRIOR: over(K, LOG_PRIOR.exp().tolist()),
                    "text": [f"{p_best(beta)[1]:.2f}"],
                }
                for beta in BETA
            ),
        ],
    ),
    "on a log axis": (
        draw.draw_on_a_log_axis,
        (EXACT.log(), {"p||p_G": torch.tensor([1e-40, 2e-9, 1.0]).double()}),
        [{HALTING: over(K, [1e-30, 2e-9, 1]), DARK_GREY: over(K, LOSSES), "text": ["1e-30", "2e-09", "1.000"]}],
    ),
    "pushes": (
        draw.draw_pushes,
        ([0.1, 0.01], GRADIENTS, 0.16),
        [
            {
                ANSWER: over([0.1, 0.01], [0.2, 0.02]),
                HALTING: over([0.1, 0.01], [0.3, 0.01]),
                PURPLE: over([0.1, 0.01], [0.15, 0.154]),
                PRIOR: over([0.1, 0.01], [0.16, 0.16]),
            }
        ],
    ),
    "learnt": (
        draw.draw_learnt,
        ([1.0, 2.0, 3.0], THEORY, RUNS),
        [{HALTING: over(K, THEORY["none"], P, Q), WRONG: over(K, THEORY["mean"], LOSSES), LIMIT: over(K, K)}],
    ),
    "noise": (
        draw.draw_noise,
        (NOISE,),
        [
            {
                colour: over([0, 20, 40], [row[i] for row in NOISE])
                for i, colour in ((1, HALTING), (2, PURPLE), (3, GREEN))
            }
        ],
    ),
    "prior means": (
        draw.draw_prior_means,
        (20,),
        [{LIMIT: [pairs(np.geomspace(0.02, 1, 60), 1 / np.geomspace(0.02, 1, 60)), [[0.02, 20], [1, 20]]]}],
    ),
    "bounds": (
        draw.draw_bounds,
        ([0.1, 1.0, 100.0], BOUNDS),
        [
            {
                upper_colour: over([0.1, 1, 100], upper),
                lower_colour: over([0.1, 1, 100], lower),
                "area": [(0.1, lower[0]), (0.1, upper[0]), (100, upper[2])],
            }
            for ((_, upper), (_, lower)), (upper_colour, lower_colour) in zip(
                BOUNDS.values(), ((PURPLE, LIMIT), (ANSWER, HALTING)), strict=True
            )
        ],
    ),
    "underflow": (
        evidence.draw_underflow,
        ([0.5, 1.0, 2.0], {"half": [0.1, 0.01, 0.0]}, [-1.0, -3.0, -5.0]),
        [{COLOURS[0]: [*over([0.5, 1], [-1, -2]), [[1, -2]]], LIMIT: over([0.5, 1, 2], [-1, -3, -5])}],
    ),
    "fitted": (
        evidence.draw_fitted,
        ({"easy": LOSSES, "hard": P}, CLOSED, FITS),
        [
            {
                "#777777": over(K, loss),
                COLOURS[0]: over(K, CLOSED["paper"][i], FITS["paper"][i]),
                COLOURS[1]: over(K, CLOSED["reversed"][i], FITS["reversed"][i]),
            }
            for i, loss in enumerate((LOSSES, P))
        ],
    ),
    "stopping": (evidence.draw_stopping, (P, LOSSES, TABLE), [{SKY: over(K, P), COLOURS[0]: over(K, LOSSES)}, {}]),
}


@pytest.mark.parametrize("name", GIVEN)
def test_what_is_drawn_is_what_was_given(name):
    check_drawn(*GIVEN[name])


def test_a_priors_means_are_those_of_either_repair():
    (ax,) = draw.draw_prior_means(20).axes
    renormalised, with_remainder = (points for colour, points in shapes(ax) if colour == PRIOR)
    for points, repair in ((renormalised, "renormalise"), (with_remainder, "remainder")):
        coin, mean = points[30]
        assert mean == pytest.approx(pu.expected_steps(pu.geometric_log_prior(coin, 20, repair)).item())


def test_assignments_are_pairs_of_bars_with_their_numbers():
    (ax,) = evidence.draw_assignments({"none": [1.0, 2.0], "mean": [3.0, 4.0]}, ["prior", "oracle"]).axes
    bars = [points.tolist() for _, points in shapes(ax)]
    assert np.allclose(bars, [over([-0.19, 0.81], [1, 2])[0], over([0.19, 1.19], [3, 4])[0]])
    assert {"1.00", "2.00", "3.00", "4.00", "prior", "oracle"} <= set(texts(ax))


def test_rules_answer_with_an_error_bar_for_each():
    sample, median = evidence.draw_stopping(P, LOSSES, TABLE).axes[1].containers
    assert sample.lines[0].get_xydata().tolist() == [[2.0, 0.6]]
    segments = [collection.get_segments()[0].tolist() for collection in sample.lines[2]]
    assert np.allclose(segments, [[[1.5, 0.6], [2.5, 0.6]], [[2.0, 0.4], [2.0, 0.8]]])
    assert median.lines[0].get_xydata().tolist() == [[3.0, 0.3]]
    assert not median.lines[2]


def test_what_is_drawn_may_be_tensors():
    t = torch.tensor([1.0, 2.0, 10.0])
    ax = draw.draw_bounds(t, {"a": [("upper", t + 1), ("lower", t)]}).axes[0]
    assert named(ax, "upper") == [[1, 2], [2, 3], [10, 11]]


def test_pushes_are_the_gradients_on_the_third_logit_part_by_part():
    losses, log_prior = torch.tensor([0.7, 0.7, 0.05, 0.7]).double(), pu.geometric_log_prior(0.2, 4)
    found = draw.pushes(0.3, losses, log_prior, pu.halting_log_probs, pu.kl_divergence)
    parts = {
        "losses": lambda log_p: log_p.exp() @ losses,
        KL["p||p_G"]: lambda log_p: pu.kl_divergence(log_p, log_prior),
        KL["p_G||p"]: lambda log_p: pu.kl_divergence(log_prior, log_p),
    }
    assert found.keys() == parts.keys()
    a, small = torch.tensor([0.2, 0.2, 0.3, 0.2]).double().logit(), torch.tensor([0, 0, 1e-5, 0]).double()
    for name, part in parts.items():
        above, below = (part(pu.halting_log_probs(logits)) for logits in (a + small, a - small))
        assert found[name] == pytest.approx(((above - below) / 2e-5).item(), rel=1e-4)
    assert numbers(draw.what_still_pulls([{}, found])) == [f"{abs(found[KL['p_G||p']]):.2f}"]


def test_the_best_halting_is_drawn_for_each_beta_and_at_the_sliders():
    figure, finding = draw.best_by_beta(best, EXACT, (1, 0.1), lambda_p=0.4)
    assert numbers(finding) == ["2", *(f"{p_best(beta)[1]:.2f}" for beta in (1, 0.1))]
    at = {name: start for name, (*_, start) in draw.sliders_of(EXACT).items()}
    assert [at[f"loss_{n}"] for n in K] == LOSSES
    drawn, wanted = draw.best_at(best, **at).axes[1], figure.axes[2]  # at beta = 10^-1
    for (_, points), (_, expected) in zip(shapes(drawn), shapes(wanted), strict=True):
        np.testing.assert_allclose(points, expected)
    assert texts(drawn)[0] == texts(wanted)[0]


def test_steps_learnt_are_beside_the_best():
    losses = torch.tensor([[0.7, 0.7], [0.1, 0.7], [0.1, 0.1]])
    log_prior = LOG_PRIOR.float()[:, None]
    n, averaged = torch.tensor([1.0, 2.0, 3.0]), losses.mean(1, keepdim=True)
    wanted = draw.best_steps(best, losses, log_prior, 0.1)
    assert wanted["none"] == pytest.approx((n @ best(losses, log_prior, 0.1)).tolist())
    assert wanted["mean"] == pytest.approx(2 * [(n @ best(averaged, log_prior, 0.1)).item()])
    found = draw.steps_learnt({"none": [lambda x: (None, torch.zeros(3, 6))]}, pu.halting_log_probs)
    assert found == {"none": [[1.75] * 6]}  # coins of a half


def test_what_was_learnt_depends_on_how_far_both_kinds_rise():
    runs = {"none": [[1.0, 5.5], [1.0, 6.5]], "mean": [[3.0, 3.2], [2.9, 2.6]]}
    finding, in_numbers = draw.what_was_learnt(runs, 9)
    assert numbers(finding) == ["3"]  # all take 3 if averaged first
    assert numbers(in_numbers) == ["6", "4.5", "5.5", "1", "0.2", "0.3"]
    for unlike in ({"mean": [[3.0, 4.0], [2.9, 2.6]]}, {"none": [[1.0, 4.5], [1.0, 6.5]]}):
        assert numbers(draw.what_was_learnt(runs | unlike, 9)[0])[:2] == ["9", "6"]


def test_how_noisy_a_sample_is_is_of_the_first_and_the_last_row():
    found = numbers(draw.how_noisy([[0, 0.1, 0.9, 0.4], [20, 0.01, 0.8, 0.3], [40, 0.0001, 0.7, 0.2]]))
    assert found == ["9", "7,000"]
    assert math.isclose(draw.prior_mean(0.1, 20, "remainder"), sum(0.9**n for n in range(20)))
