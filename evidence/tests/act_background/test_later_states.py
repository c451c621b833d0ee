"""How much later states weigh in the answer of ACT, by halting values given by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.common.parity import act
from ponder_evidence.act_background import later_states
from ponder_utils import ParityTask


@given(st.floats(-3, 6))
def test_later_states_weigh_what_the_first_does_not_and_nothing_where_it_is_the_last(bias):
    model = act(4, 8, 20)
    nn.init.zeros_(model.halting.weight)
    nn.init.constant_(model.halting.bias, bias)
    x, y = ParityTask(4).batch(7)
    seen = later_states.look(model, x, y)
    lambda_1 = torch.tensor(bias).sigmoid().item()
    stops = lambda_1 >= 0.99
    assert seen["later"] == pytest.approx(0.0 if stops else 1 - lambda_1, abs=1e-5)
    assert seen["one_step"] == stops
