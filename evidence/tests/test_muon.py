"""Muon and Adam: which weight is whose, and how long an update is."""

import pytest
import torch
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


def test_biases_and_heads_of_one_or_two_outputs_move_as_by_adam():
    first, *others = updated(nn.Sequential(nn.Linear(6, 5), nn.Linear(5, 2)), ratio=3.0)
    for change in others:  # the length of Adam's first step
        torch.testing.assert_close(change.abs(), torch.full_like(change, LR), rtol=1e-3, atol=0)
    assert first.square().mean().sqrt().item() == pytest.approx(0.2 * LR * 3.0, rel=0.5)  # and not LR


@pytest.mark.parametrize("model", [nn.LayerNorm(5), nn.Linear(5, 4, bias=False)], ids=["no matrix", "nothing else"])
def test_a_model_may_lack_either_kind_of_weight(model):
    assert all(change.any() for change in updated(model))
