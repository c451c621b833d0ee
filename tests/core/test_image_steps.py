import pytest
import torch

from ponder_course.mnist_rotation.networks import ConvEncoder, ConvStep, MLPCell
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import EncodedStep, RecurrentStep


def images(n=6, seed=0):
    return torch.rand(n, 1, 28, 28, generator=torch.Generator().manual_seed(seed))


def encoded():
    return EncodedStep(ConvEncoder(16), RecurrentStep(MLPCell(16, 12, dropout=0.2), 10))


@pytest.mark.parametrize("step", [encoded, lambda: ConvStep(4, patch=4, n_outputs=10)])
def test_every_weight_gets_a_gradient(step):
    torch.manual_seed(0)
    model = PonderNet(step(), 4)
    y_hat, halt_logits, _ = model(images())
    (y_hat.square().sum() + halt_logits.sum()).backward()
    for name, weight in model.named_parameters():
        assert weight.grad.abs().sum() > 0, name


def test_one_step_of_a_conv_step_by_hand():
    step, x = ConvStep(3, patch=14, n_outputs=2), images(2)
    z, h = step.encode(x)
    patches = x.unfold(2, 14, 14).unfold(3, 14, 14).flatten(-2)  # [2, 1, 2, 2, 196]
    by_hand = torch.einsum("bcijp,kcp->bkij", patches, step.from_x.weight.flatten(2)) + step.from_x.bias[:, None, None]
    torch.testing.assert_close(z, by_hand)
    assert not h.any()
    h = torch.randn(2, 3, 2, 2, generator=torch.Generator().manual_seed(1))
    y_hat, after, halt_logit = step(z, h)
    torch.testing.assert_close(after, h + (step.from_h(h) + z).clamp(min=0))
    read = torch.cat([after.flatten(2).mean(2), after.flatten(2).max(2).values], dim=1)
    out = read @ step.heads.weight.T + step.heads.bias
    torch.testing.assert_close(y_hat, out[:, :2])
    torch.testing.assert_close(halt_logit, out[:, 2])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ConvEncoder()(images()[:, 0]), ValueError, r"x .*\[batch, 1, 28, 28\].* \[6, 28, 28\]"),
        (lambda: ConvEncoder(0), ValueError, "n_features .*>= 1.* 0"),
        (lambda: ConvStep(4, 5, 10).encode(images()), ValueError, r" 5; got \[6, 1, 28, 28\]"),
        (lambda: ConvStep(4, 4, 10).encode(images()[:, 0]), ValueError, r"\[batch, 1, H, W\]"),
        (lambda: ConvStep(4, 4, 1), ValueError, "n_outputs .*>= 2.* 1"),
        (lambda: ConvStep(0, 4, 10), ValueError, "channels .*>= 1.* 0"),
        (lambda: MLPCell(0, 4), ValueError, "input_size .*>= 1.* 0"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
