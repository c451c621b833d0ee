"""No prior makes the loss overflow at a high learning rate, where the textbook form does."""

import math

import pytest
import torch
from torch import nn

from ponder_utils import NonFiniteError, ParityTask, PonderLoss, PonderNet, RNNStep, train

TASK = ParityTask(8)


@pytest.mark.parametrize(
    ("lambda_p", "n_updates"), [(1.0, 20), *(pytest.param(p, 1500, marks=pytest.mark.slow) for p in (0.1, 0.9, 1.0))]
)
def test_no_loss_is_ever_non_finite(lambda_p, n_updates):
    torch.manual_seed(0)
    model = PonderNet(RNNStep(8, 128), 20)
    loss = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), lambda_p)
    rows = train(model, loss, lambda g: TASK.batch(128, g), n_updates, lr=5e-3, progress=False)
    assert all(math.isfinite(value) for row in rows for value in row.values())


def test_train_survives_where_the_textbook_form_stops():
    """The same network, batches and logits; only the form of the loss differs."""

    def textbook(output, y):
        lambda_n = output.halt_logits.sigmoid()
        survival = (1 - lambda_n[:-1]).cumprod(0)
        p = torch.cat([lambda_n[:1], lambda_n[1:-1] * survival[:-1], survival[-1:]])
        terms = log_space(output, y)
        return terms._replace(total=terms.total + 0 * p.log().sum())

    log_space = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), 0.9)

    def run(loss):
        torch.manual_seed(0)
        model = PonderNet(RNNStep(8, 64), 20)
        with torch.no_grad():
            model.step.heads.bias[-1] = 6.0  # nearly sure to halt at once
        return train(model, loss, lambda g: TASK.batch(128, g), 20, lr=5e-3, progress=False)

    with pytest.raises(NonFiniteError, match="update 1: total, grad_norm"):
        run(textbook)
    assert math.isfinite(run(log_space)[-1]["total"])
