"""The figures of lesson 02 draw the numbers that they are given."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from drawn import lines_of, texts_of

import ponder_utils as pu
from ponder_course.common.style import ACT, DARK_GREY, KL, PONDERNET
from ponder_course.pondernet_theory import figures as draw
from ponder_course.pondernet_theory.lesson import best, log_halting

P, Q, LOSSES = [0.5, 0.3, 0.2], [0.1, 0.25, 0.7], [0.9, 0.4, 0.6]
EXACT = torch.tensor(LOSSES, dtype=torch.float64)
LOG_PRIOR = pu.geometric_log_prior(0.4, 3)


def test_pushes_are_the_gradients_on_the_third_logit_part_by_part():
    losses, log_prior = torch.tensor([0.7, 0.7, 0.05, 0.7]).double(), pu.geometric_log_prior(0.2, 4)
    found = draw.pushes(0.3, losses, log_prior)
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


def test_the_best_halting_is_drawn_beside_its_losses_and_prior():
    at = {name: start for name, (*_, start) in draw.sliders_of(EXACT).items()}
    left, right = draw.best_at(**at).axes  # at beta = 10^-1
    heights = [[bar.get_height() for bar in bars] for ax in (left, right) for bars in ax.containers]
    np.testing.assert_allclose(heights, [EXACT, best(EXACT, LOG_PRIOR, 0.1), LOG_PRIOR.exp()])


def test_acts_average_and_pondernets_coins_have_the_weights_given():
    first, act, pondernet = [0.2, 0.6, 0.995, 0.9995], [3.0, 2.0, 1.0, 1.0], [2.8, 2.4, 1.4, 1.1]
    figure = draw.side_by_side(first, (P, act, (0.25, 3.0)), ([0.6, 0.1, 0.3], pondernet, (0.25, 2.6)))
    below = figure.axes[2:]
    np.testing.assert_allclose(lines_of(below[0], ACT), [np.transpose([first, act])])
    np.testing.assert_allclose(lines_of(below[1], PONDERNET), [np.transpose([first, pondernet])])
    assert {"1/2", "3/10", "1/5", "stop 3/5", "go on\n2/5", "stop 1/4", "stop 1"} <= {*texts_of(figure)}


def test_steps_learnt_are_beside_the_best():
    losses = torch.tensor([[0.7, 0.7], [0.1, 0.7], [0.1, 0.1]])
    log_prior = LOG_PRIOR.float()[:, None]
    n, averaged = torch.tensor([1.0, 2.0, 3.0]), losses.mean(1, keepdim=True)
    wanted = draw.best_steps(losses, log_prior, 0.1)
    assert wanted["none"] == pytest.approx((n @ best(losses, log_prior, 0.1)).tolist())
    assert wanted["mean"] == pytest.approx(2 * [(n @ best(averaged, log_prior, 0.1)).item()])
    network = lambda x: SimpleNamespace(halt_logits=torch.zeros(3, len(x)))  # noqa: E731
    found = draw.steps_learnt({"none": [network]})
    assert found == {"none": [[1.75] * 6]}  # coins of a half
    (ax,) = draw.draw_learnt([1.0, 2.0, 3.0], {"none": P, "mean": Q}, {"none": [Q], "mean": [LOSSES]}).axes
    assert [line[:, 1].tolist() for line in lines_of(ax, PONDERNET)] == [P, Q]
    assert [line[:, 1].tolist() for line in lines_of(ax, DARK_GREY)] == [Q, LOSSES]


def test_steps_as_the_first_halting_probability_grows():
    first, steps, expected = draw.steps_as_the_first_grows(0.2, 0.01)
    assert steps.tolist() == [3.0 if one < 0.79 else 2.0 if one < 0.99 else 1.0 for one in first]
    assert expected == pytest.approx(first + (1 - first) * 2.8)


def test_the_lessons_distribution_is_the_packages():
    logits = torch.randn(5, 7, dtype=torch.float64)
    torch.testing.assert_close(log_halting(logits), pu.halting_log_probs(logits))
