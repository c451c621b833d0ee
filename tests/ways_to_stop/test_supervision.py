"""Losses without a halting distribution: each against its definition, written the slow way."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.ways_to_stop.supervision import JudgeLoss
from ponder_evidence.ways_to_stop.supervision import GainLoss, ProgressiveLoss
from ponder_utils.evaluation import class_correct
from ponder_utils.halting import PonderOutput, halting_log_probs
from ponder_utils.losses import FixedDepthLoss

bce = nn.BCEWithLogitsLoss(reduction="none")
shapes = given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 9))


def per_line(y_hat, y):
    return bce(y_hat, y).mean(1)


def scripted(seed, n_steps, batch, places=()):
    generator = torch.Generator().manual_seed(seed)
    y_hat = torch.randn(n_steps, batch, *places, generator=generator, dtype=torch.float64, requires_grad=True)
    a = torch.randn(n_steps, batch, generator=generator, dtype=torch.float64, requires_grad=True)
    y = (torch.rand(batch, *places, generator=generator) < 0.5).double()
    return PonderOutput(y_hat, a, halting_log_probs(a)), y


def cross_entropy(logit, target):
    """Of a logit and a probability, one number at a time."""
    p = 1 / (1 + math.exp(-logit))
    return -target * math.log(p) - (1 - target) * math.log(1 - p)


def losses_by_step(output, y):
    """The cross-entropy of each answer: a list of samples for each step."""
    return [[cross_entropy(*pair) for pair in zip(row, y.tolist(), strict=True)] for row in output.y_hat.tolist()]


@shapes
def test_losses_of_all_steps_and_of_the_last_are_means_over_steps_and_samples(seed, batch, n_steps):
    output, y = scripted(seed, n_steps, batch)
    losses = losses_by_step(output, y)
    last, every = (FixedDepthLoss(bce, every_step)(output, y) for every_step in (False, True))
    assert last.total.item() == pytest.approx(sum(losses[-1]) / batch)
    assert every.total.item() == pytest.approx(sum(map(sum, losses)) / batch / n_steps)
    for terms in (last, every):
        assert terms.reconstruction == terms.total
        assert terms.regularization == 0


@shapes
def test_a_judge_learns_whether_the_answer_is_right_by_now(seed, batch, n_steps):
    output, y = scripted(seed, n_steps, batch)
    judged = []
    for answers, logits in zip(output.y_hat.tolist(), output.halt_logits.tolist(), strict=True):
        for answer, a, target in zip(answers, logits, y.tolist(), strict=True):
            judged.append(cross_entropy(a, float((answer > 0) == (target > 0.5))))
    terms = JudgeLoss(bce, weight=0.3)(output, y)
    assert terms.regularization.item() == pytest.approx(sum(judged) / batch / n_steps)
    torch.testing.assert_close(terms.reconstruction, FixedDepthLoss(bce, every_step=True)(output, y).total)
    torch.testing.assert_close(terms.total, terms.reconstruction + 0.3 * terms.regularization)
    standard = JudgeLoss(bce)(output, y)
    torch.testing.assert_close(standard.total, terms.reconstruction + 0.5 * terms.regularization)


def test_a_judge_of_classes_and_one_that_judges_place_by_place():
    output, _ = scripted(1, 3, 4, (6,))
    y = torch.tensor([0, 1, 2, 5])
    right = output.y_hat.argmax(-1) == y
    terms = JudgeLoss(nn.CrossEntropyLoss(reduction="none"), class_correct)(output, y)
    expected = nn.functional.binary_cross_entropy_with_logits(output.halt_logits, right.double())
    torch.testing.assert_close(terms.regularization, expected)
    places, y = scripted(1, 3, 4, (2,))
    with pytest.raises(ValueError, match=r"correct must return one value per step and sample.*\[3, 4\]; got \[3,"):
        JudgeLoss(per_line)(places, y)


def test_whether_one_more_step_helps_is_measured_by_the_loss():
    a = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y_hat = torch.tensor([-2.0, 3.0, 3.0], dtype=torch.float64, requires_grad=True)
    output, y = PonderOutput(y_hat[:, None], a[:, None], halting_log_probs(a[:, None])), torch.tensor([1.0])
    terms = GainLoss(bce)(output, y)
    (first,), (second,), (third,) = losses_by_step(output, y)
    targets = [1 / (1 + math.exp(50 * (gain - 0.005))) for gain in (first - second, second - third)]
    assert targets[0] < 1e-9 < 0.5 < targets[1]
    expected = (cross_entropy(0.5, targets[0]) + cross_entropy(-1.0, targets[1])) / 2
    assert terms.total.item() == terms.regularization.item() == pytest.approx(expected)
    assert terms.reconstruction.item() == pytest.approx((first + second + third) / 3)
    to_a, to_y_hat = torch.autograd.grad(terms.total, (a, y_hat), allow_unused=True)
    assert to_y_hat is None
    torch.testing.assert_close(to_a[:2], (a[:2].sigmoid() - torch.tensor(targets)).detach() / 2)
    assert to_a[2] == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ProgressiveLoss(bce, 1.5), ValueError, "alpha .* 1.5"),
        (lambda: JudgeLoss(bce, weight=-1.0), ValueError, "weight .* -1.0"),
        (lambda: JudgeLoss(bce, 0.5), TypeError, "correct .* 0.5"),
        (lambda: GainLoss(bce, sharpness=0), ValueError, "sharpness .* 0"),
        (lambda: GainLoss(bce, tolerance=-1), ValueError, "tolerance .* -1"),
        (lambda: GainLoss("bce"), TypeError, "criterion .*'bce'"),
        (lambda: GainLoss(bce)(*scripted(0, 1, 3)), ValueError, "N .* 2"),
        (lambda: JudgeLoss(bce)(scripted(0, 2, 5)[0], torch.zeros(1)), ValueError, r"y must have .*\[1\]"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
