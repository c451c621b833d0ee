"""The figures of lesson 02 draw the numbers that they are given, and their sentences speak of these."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from drawn import COMPUTED, Drawn, numbers, series, tests_of_figures

import ponder_utils as pu
from ponder_course.common.style import GREEN, KL, LIMIT, ORANGE, WRONG
from ponder_course.pondernet_theory import figures as draw
from ponder_evidence.pondernet_theory import figures as evidence

K, P, Q, LOSSES = range(1, 4), [0.5, 0.3, 0.2], [0.1, 0.25, 0.7], [0.9, 0.4, 0.6]
P_FIT, Q_FIT = [0.51, 0.31, 0.21], [0.11, 0.26, 0.71]
TABLE = pd.DataFrame(
    {"steps": [2.0, 3.0], "steps_sd": [0.5, 0.0], "answer": [0.6, 0.35], "answer_sd": [0.2, 0.0]},
    index=["sample", "median"],
)
CLOSED, FITS = {"paper": [P, Q], "reversed": [Q, P]}, {"paper": [Q_FIT, Q_FIT], "reversed": [P_FIT, P_FIT]}
GRADIENTS = [{"losses": 0.2, "paper": -0.3, "reversed": -0.15}, {"losses": -0.02, "paper": 0.01, "reversed": -0.154}]
SIZES = [[0.2, 0.02], [0.3, 0.01], [0.15, 0.154]]
FIRST = [0.2, 0.6, 0.995, 0.9995]
PATHS = {"ACT": [0.995, 0.996], "PonderNet, Adam": [0.6, 0.3], "PonderNet": [0.992, 0.7]}
THEORY, RUNS = {"none": [2.0, 3.0, 4.0], "mean": [5.0, 5.1, 5.5]}, {"none": [P, Q], "mean": [LOSSES]}
EXACT = torch.tensor(LOSSES, dtype=torch.float64)
LOG_PRIOR = pu.geometric_log_prior(0.4, 3)


def best(losses, log_g, beta):
    return (log_g - losses / beta).softmax(0)


def p_best(beta):
    return best(EXACT, LOG_PRIOR, beta).tolist()


FIGURES = {
    "best halting": Drawn(
        partial(draw.draw_best_halting, best),
        ({"hard": EXACT, "easy": EXACT / 2}, 0.5, 0.4),
        [LOG_PRIOR.exp(), p_best(0.5), best(EXACT / 2, LOG_PRIOR, 0.5)],
        written=["0.9", "0.4", "0.6", "0.45", *(f"{p:.2f}" for p in p_best(0.5))],
    ),
    "best at": Drawn(partial(draw.best_at, best, -1, 0.4, loss_1=0.9, loss_2=0.4), computed=COMPUTED),
    "side by side": Drawn(
        draw.side_by_side,
        (FIRST, (P, [3.0, 2.0, 1.0, 1.0], (0.25, 3.0)), ([0.6, 0.1, 0.3], [2.8, 2.4, 1.4, 1.1], (0.25, 2.6))),
        written=["3", "5", "10", "4"],
    ),
    "descents": Drawn(
        draw.draw_descents, (PATHS, (0.99, 0.9998), 0.25), (), {ORANGE: PATHS["ACT"], GREEN: [0.6, 0.3, 0.992, 0.7]}
    ),
    "pushes": Drawn(draw.draw_pushes, ([0.1, 0.01], GRADIENTS), SIZES),
    "learnt": Drawn(draw.draw_learnt, ([1.0, 2.0, 3.0], THEORY, RUNS), colours={WRONG: [5, 5.1, 5.5, *LOSSES]}),
    "underflow": Drawn(
        evidence.draw_underflow,
        ([0.5, 1.0, 2.0], {"half": [0.1, 0.01, 0]}, [-1.1, -3.0, -5.0]),
        [[-1, -2], [0.5, 1.0]],
        {LIMIT: [-1.1, -3, -5]},
    ),
    "fitted": Drawn(evidence.draw_fitted, ({"easy": LOSSES, "hard": [0.8, 0.35, 0.55]}, CLOSED, FITS)),
    "assignments": Drawn(
        evidence.draw_assignments, ({"none": [1.5, 2.5], "mean": [3.5, 4.5]}, ["a", "b"]), start=0, written=["1.50"]
    ),
    "stopping": Drawn(evidence.draw_stopping, (P, LOSSES, TABLE), [[1.5, 2.5], [0.4, 0.8], [0.6, 0.6]]),
}


test_what_is_drawn_is_what_was_given, test_every_figure_has_an_entry = tests_of_figures("pondernet_theory", FIGURES)


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
    assert numbers(draw.what_still_pulls([{}, found])) == [f"{abs(found[KL['p_G||p']]):.2g}"]
    halved = draw.pushes(0.3, losses, log_prior, pu.halting_log_probs, pu.kl_divergence, beta=0.5)
    assert [*halved.values()] == pytest.approx([found["losses"], *(found[way] / 2 for way in KL.values())])


def test_the_best_halting_is_drawn_at_the_sliders():
    at = {name: start for name, (*_, start) in draw.sliders_of(EXACT).items()}
    assert [at[f"loss_{n}"] for n in K] == LOSSES
    drawn = draw.best_at(best, **at).axes[1]  # at beta = 10^-1
    for (_, _, p), wanted in zip(series(drawn), (p_best(0.1), LOG_PRIOR.exp()), strict=True):
        np.testing.assert_allclose(p, wanted)


def test_steps_learnt_are_beside_the_best():
    losses = torch.tensor([[0.7, 0.7], [0.1, 0.7], [0.1, 0.1]])
    log_prior = LOG_PRIOR.float()[:, None]
    n, averaged = torch.tensor([1.0, 2.0, 3.0]), losses.mean(1, keepdim=True)
    wanted = draw.best_steps(best, losses, log_prior, 0.1)
    assert wanted["none"] == pytest.approx((n @ best(losses, log_prior, 0.1)).tolist())
    assert wanted["mean"] == pytest.approx(2 * [(n @ best(averaged, log_prior, 0.1)).item()])
    network = lambda x: SimpleNamespace(halt_logits=torch.zeros(3, len(x)))  # noqa: E731
    found = draw.steps_learnt({"none": [network]}, pu.halting_log_probs)
    assert found == {"none": [[1.75] * 6]}  # coins of a half


def test_what_was_learnt_depends_on_how_far_both_kinds_rise():
    runs = {"none": [[1.0, 5.5], [1.0, 6.5]], "mean": [[3.0, 3.2], [2.9, 2.6]]}
    finding, in_numbers = draw.what_was_learnt(runs, 9)
    assert numbers(finding) == ["3"]  # all take 3 if averaged first
    assert numbers(in_numbers) == ["6", "1", "4.5", "5.5", "0.2", "0.3"]
    for unlike in ({"mean": [[3.0, 4.0], [2.9, 2.6]]}, {"none": [[1.0, 4.5], [1.0, 6.5]]}):
        assert numbers(draw.what_was_learnt(runs | unlike, 9)[0])[:2] == ["9", "6"]


def test_steps_as_the_first_halting_probability_grows():
    first, steps, expected = draw.steps_as_the_first_grows(0.2, 0.01)
    assert steps.tolist() == [3.0 if one < 0.79 else 2.0 if one < 0.99 else 1.0 for one in first]
    assert expected == pytest.approx(first + (1 - first) * 2.8)


def test_who_comes_out_is_counted_unless_all_but_act_do():
    assert numbers(draw.who_comes_out(PATHS, 0.99)) == []
    assert numbers(draw.who_comes_out(PATHS, 0.65)) == ["1", "3", "0.65"]
