"""The networks of all lessons on a GPU, against the CPU: `make gpu` runs this."""

import pytest
import torch
from networks import NETWORKS
from torch.utils._pytree import tree_leaves, tree_map

from ponder_utils import PonderNet

pytestmark = [pytest.mark.cuda, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")]


@pytest.fixture(autouse=True)
def _without_tf32(monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)  # else a convolution reads ten bits of a number


def made(network):
    torch.manual_seed(0)
    return network.model()


def to(tree, device):
    return tree_map(lambda part: part.to(device), tree)


def assert_same(there, here):
    for one, other in zip(tree_leaves(there), tree_leaves(here), strict=True):
        torch.testing.assert_close(one.cpu(), other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", NETWORKS)
def test_forward_loss_and_gradients_are_those_of_the_cpu(name):
    network, found = NETWORKS[name], []
    x, y = network.batch(torch.Generator().manual_seed(1))
    for device in ("cuda", "cpu"):
        model = made(network).eval().to(device)  # no noise, no dropout
        output = model(to(x, device))
        parts = [output[0].detach()]
        if "progressive" not in name:  # whose loss asks for what is made in training alone
            terms = network.loss(output, to(y, device))
            total = getattr(terms, "total", terms)  # or a scalar
            total.backward()
            parts += [total.detach(), *(weight.grad for weight in model.parameters() if weight.grad is not None)]
        found.append(parts)
    assert_same(*found)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("rule", ["sample", "quantile"])
def test_answers_that_halt_are_those_of_the_cpu(name, rule):
    network, found = NETWORKS[name], []
    x, _ = network.batch(torch.Generator().manual_seed(1))
    for device in ("cuda", "cpu") if isinstance(made(network), PonderNet) else ():
        model, generator = made(network).eval().to(device), torch.Generator().manual_seed(3)
        found.append(model.predict(to(x, device), rule, generator=generator, check_every=1)[:4])
    assert_same(*(found or ((), ())))
