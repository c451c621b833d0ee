"""Networks of lesson 08 that learn without halting, and those whose roots are marked."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.common.training import of_asked
from ponder_evidence.alone_and_together import budgets, marked
from ponder_evidence.alone_and_together.experiment import make_step
from ponder_utils import PonderNet


@given(st.integers(0, 10**6))
def test_the_loss_is_the_weighted_sum_over_steps_of_those_that_are_asked(seed):
    torch.manual_seed(seed)
    x, _ = budgets.TASK.batch(3)
    y = torch.where(torch.rand(x.shape) < 0.5, x, -1)
    weights = torch.rand(4)
    output = PonderNet(make_step("current", size=8, update_dropout=0.0), 4)(x)
    loss = of_asked(budgets.WeightedLoss(nn.CrossEntropyLoss(reduction="none"), weights))(output, y).total
    pairs = zip(weights, output.y_hat, strict=True)
    by_hand = sum(w * nn.functional.cross_entropy(y_hat[y >= 0], y[y >= 0]) for w, y_hat in pairs)
    torch.testing.assert_close(loss, by_hand)


@given(st.integers(0, 10**6))
def test_a_root_has_nothing_in_place_of_a_parent_and_others_have_what_they_had(seed):
    torch.manual_seed(seed)
    x, y = budgets.TASK.batch(3)
    encoder = marked.MarkedRoots(budgets.N_NODES, 64)
    own, parents = encoder(x).chunk(2, dim=2)
    torch.testing.assert_close(own, encoder.addresses.expand_as(own))
    torch.testing.assert_close(parents, encoder.addresses[x] * (y != torch.arange(32))[..., None])
