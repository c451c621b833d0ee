"""Images are turned as torchvision turns them, each by an angle of its own, and keep their labels."""

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from torchvision.transforms import InterpolationMode
from torchvision.transforms.functional import rotate

from ponder_course.mnist_rotation.task import RotationTask, rotated_by, rotated_within


def images(n=4, height=12, width=12, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (n, 1, height, width), generator=generator, dtype=torch.uint8)


@given(st.floats(-180, 180), st.integers(1, 5), st.integers(2, 30), st.integers(2, 30))
@example(90.0, 4, 12, 12)
@example(-180.0, 2, 9, 11)
@example(180.0, 2, 9, 11)
def test_exact_rotation_is_torchvisions(degrees, n, height, width):
    x = images(n, height, width)
    expected = rotate(x.float() / 255, degrees, InterpolationMode.BILINEAR)
    torch.testing.assert_close(rotated_by(x, degrees), expected, rtol=0, atol=2e-4)


@given(st.floats(-180, 180), st.integers(0, 10**6))
@example(180.0, 0)
@example(-180.0, 0)
def test_within_turns_each_image_by_its_own_angle_and_never_more(degrees, seed):
    """An image with a single ray of ink tells its angle."""
    ray = torch.zeros(16, 1, 41, 41, dtype=torch.uint8)
    ray[:, :, 20, 21:] = 255  # pointing right, angle 0
    turned = rotated_within(ray, degrees, torch.Generator().manual_seed(seed))[:, 0]
    y, x = torch.meshgrid(20.0 - torch.arange(41), torch.arange(41) - 20.0, indexing="ij")
    found = torch.atan2((turned * y).sum((1, 2)), (turned * x).sum((1, 2))).rad2deg()
    wanted = degrees * (2 * torch.rand(16, generator=torch.Generator().manual_seed(seed)) - 1)
    gap = (found - wanted + 180) % 360 - 180
    assert gap.abs().max() < 1.5


@given(st.integers(1, 40), st.integers(0, 10**6), st.floats(0, 180))
def test_batches_keep_each_images_label(batch_size, seed, within):
    x = images(10, 28, 28)
    x[:, :, 12:16, 12:16] = torch.arange(10, dtype=torch.uint8)[:, None, None, None] * 25  # the label, at the centre
    drawn, y = RotationTask(x, torch.arange(10), within).batch(batch_size, torch.Generator().manual_seed(seed))
    assert drawn.shape == (batch_size, 1, 28, 28)
    assert drawn.dtype == torch.float32
    assert y.shape == (batch_size,)
    torch.testing.assert_close(drawn[:, 0, 13:15, 13:15].mean((1, 2)), y * 25 / 255, rtol=0, atol=1e-4)


LABELS = torch.arange(4)


@pytest.mark.parametrize(
    ("call", "error", "name", "came"),
    [
        (lambda: rotated_by(images(), 181), ValueError, "degrees", "181"),
        (lambda: rotated_by(images().float(), 45), TypeError, "x", "torch.float32"),
        (lambda: RotationTask(images(), torch.arange(3)), ValueError, "y", r"\[3\]"),
        (lambda: RotationTask(images(), LABELS, 200), ValueError, "within", "200"),
    ],
)
def test_wrong_arguments_are_named(call, error, name, came):
    with pytest.raises(error, match=f"^{name} must be .*{came}"):
        call()
