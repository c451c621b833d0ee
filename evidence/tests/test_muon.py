"""Muon and Adam: which weight is whose, and how long an update is."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small import weights
from torch import nn

from ponder_evidence.muon import MuonAndAdam

LR = 0.01


def updated(layer, **options):
    """How the weights of a layer have changed after an update with gradients drawn at random."""
    optimizer, before = MuonAndAdam(layer, LR, **options), [weight.detach().clone() for weight in layer.parameters()]
    generator = torch.Generator().manual_seed(0)
    for weight in layer.parameters():
        weight.grad = torch.randn(weight.shape, generator=generator)
    optimizer.step()
    return [weight.detach() - old for weight, old in zip(layer.parameters(), before, strict=True)]


@settings(deadline=None, max_examples=30)
@given(st.integers(3, 40), st.integers(3, 40), st.sampled_from([0.5, 1.0, 3.0]))
def test_a_matrix_moves_in_every_direction_alike(rows, columns, ratio):
    change, _ = updated(nn.Linear(columns, rows), ratio=ratio)
    if max(rows, columns) >= 2 * min(rows, columns):  # so that no direction of the gradient is nearly 0
        lengths = torch.linalg.svdvals(change) / (LR * ratio * 0.2 * math.sqrt(max(rows, columns)))
        assert lengths.min() > 0.3
        assert lengths.max() < 1.5
    # and its elements are about as large as Adam's
    assert change.square().mean().sqrt().item() == pytest.approx(0.2 * LR * ratio, rel=0.5)


def test_biases_and_heads_of_one_or_two_outputs_move_as_by_adam():
    first, *others = updated(nn.Sequential(nn.Linear(6, 5), nn.Linear(5, 2)), ratio=3.0)
    for change in others:  # the length of Adam's first step
        torch.testing.assert_close(change.abs(), torch.full_like(change, LR), rtol=1e-3, atol=0)
    assert not torch.allclose(first.abs(), torch.full((5, 6), LR), rtol=0.1)


def test_a_schedule_scales_both_alike():
    changes = []
    for factor in (1.0, 0.1):
        torch.manual_seed(0)
        layer = nn.Linear(6, 3)
        optimizer = MuonAndAdam(layer, LR)
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _, factor=factor: factor)
        before = weights(layer)
        layer(torch.ones(2, 6)).square().sum().backward()
        optimizer.step()
        changes.append(weights(layer) - before)
    torch.testing.assert_close(changes[1], 0.1 * changes[0], rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("model", [nn.LayerNorm(5), nn.Linear(5, 4, bias=False)], ids=["no matrix", "nothing else"])
def test_a_model_may_lack_either_kind_of_weight(model):
    assert all(change.any() for change in updated(model))
