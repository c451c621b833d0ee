"""The loss of a judge, and those of networks that only answer, against their definitions, written the slow way."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.ways_to_stop.lesson import judge_loss
from ponder_utils.evaluation import binary_correct
from ponder_utils.halting import PonderOutput, halting_log_probs
from ponder_utils.losses import FixedDepthLoss

bce = nn.BCEWithLogitsLoss(reduction="none")
shapes = given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 9))


def scripted(seed, n_steps, batch, places=()):
    generator = torch.Generator().manual_seed(seed)
    y_hat = torch.randn(n_steps, batch, *places, generator=generator, dtype=torch.float64)
    a = torch.randn(n_steps, batch, generator=generator, dtype=torch.float64)
    y = (torch.rand(batch, *places, generator=generator) < 0.5).double()
    return PonderOutput(y_hat, a, halting_log_probs(a)), y


def cross_entropy(logit, target):
    """Of a logit and a probability, one number at a time."""
    p = 1 / (1 + math.exp(-logit))
    return -target * math.log(p) - (1 - target) * math.log(1 - p)


@shapes
def test_losses_of_all_steps_and_of_the_last_are_means_over_steps_and_samples(seed, batch, n_steps):
    output, y = scripted(seed, n_steps, batch)
    losses = [[cross_entropy(*pair) for pair in zip(row, y.tolist(), strict=True)] for row in output.y_hat.tolist()]
    last, every = (FixedDepthLoss(bce, every_step)(output, y) for every_step in (False, True))
    assert last.total.item() == pytest.approx(sum(losses[-1]) / batch)
    assert every.total.item() == pytest.approx(sum(map(sum, losses)) / batch / n_steps)


@shapes
def test_a_judge_learns_whether_the_answer_is_right_by_now(seed, batch, n_steps):
    output, y = scripted(seed, n_steps, batch)
    judged = []
    for answers, logits in zip(output.y_hat.tolist(), output.halt_logits.tolist(), strict=True):
        for answer, a, target in zip(answers, logits, y.tolist(), strict=True):
            judged.append(cross_entropy(a, float((answer > 0) == (target > 0.5))))
    answers = FixedDepthLoss(bce, every_step=True)(output, y).total
    total = judge_loss(output, y, bce, binary_correct)
    assert (total - answers).item() == pytest.approx(0.5 * sum(judged) / batch / n_steps)
