import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest
from torchvision.transforms import InterpolationMode
from torchvision.transforms.functional import rotate

from ponder_course.mnist_rotation.task import RotationTask, rotated_by, rotated_within

angles = st.floats(-180, 180)
generator = torch.Generator().manual_seed(0)


def images(n=4, height=12, width=12, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (n, 1, height, width), generator=generator, dtype=torch.uint8)


@given(angles, st.integers(1, 5), st.integers(2, 30), st.integers(2, 30))
def test_exact_rotation_is_torchvisions(degrees, n, height, width):
    x = images(n, height, width)
    expected = rotate(x.float() / 255, degrees, InterpolationMode.BILINEAR)
    torch.testing.assert_close(rotated_by(x, degrees), expected, rtol=0, atol=2e-4)


def test_a_quarter_turn_is_anticlockwise_and_exact():
    x = images()
    for quarters in (0, 1, 2, -1):
        expected = x.rot90(quarters, (2, 3)).float() / 255
        torch.testing.assert_close(rotated_by(x, 90.0 * quarters), expected, rtol=0, atol=1e-4)


@given(angles)
def test_turning_there_and_back_keeps_a_disc(degrees):
    y, x = torch.meshgrid(torch.arange(28) - 13.5, torch.arange(28) - 13.5, indexing="ij")
    disc = (255 * torch.sigmoid(9 - (x**2 + y**2).sqrt())).to(torch.uint8).expand(1, 1, 28, 28)
    turned = rotated_by(disc, degrees)
    assert (turned - disc.float() / 255).abs().max() < 0.05
    assert turned.min() >= 0
    assert turned.max() <= 1 + 1e-6


@given(st.floats(0, 180), st.integers(0, 10**6))
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


def test_angles_within_are_uniform():
    ray = torch.zeros(4000, 1, 41, 41, dtype=torch.uint8)
    ray[:, :, 20, 21:] = 255
    turned = rotated_within(ray, 45, torch.Generator().manual_seed(1))[:, 0]
    y, x = torch.meshgrid(20.0 - torch.arange(41), torch.arange(41) - 20.0, indexing="ij")
    found = torch.atan2((turned * y).sum((1, 2)), (turned * x).sum((1, 2)))
    assert kstest(found, "uniform", args=(-math.pi / 4, math.pi / 2)).pvalue > 1e-3


@given(st.integers(1, 40), st.integers(0, 10**6), st.floats(0, 180))
def test_batches_keep_each_images_label(batch_size, seed, within):
    x = images(10, 28, 28)
    x[:, :, 12:16, 12:16] = torch.arange(10, dtype=torch.uint8)[:, None, None, None] * 25  # the label, at the centre
    drawn, y = RotationTask(x, torch.arange(10), within).batch(batch_size, torch.Generator().manual_seed(seed))
    assert drawn.shape == (batch_size, 1, 28, 28)
    assert drawn.dtype == torch.float32
    assert y.shape == (batch_size,)
    torch.testing.assert_close(drawn[:, 0, 13:15, 13:15].mean((1, 2)), y * 25 / 255, rtol=0, atol=1e-4)


def test_every_image_is_drawn_as_often():
    _, y = RotationTask(images(10), torch.arange(10), 30).batch(20_000, torch.Generator().manual_seed(0))
    assert (y.bincount(minlength=10) - 2000).abs().max() < 200


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_images_are_turned_on_their_device():
    torch.testing.assert_close(rotated_by(images().cuda(), 33).cpu(), rotated_by(images(), 33))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: rotated_by(images(), 181), ValueError, r"degrees must be a number in \[-180, 180\]; got 181"),
        (lambda: rotated_by(images(), "45"), TypeError, "degrees must be a number"),
        (lambda: rotated_by(images().float(), 45), TypeError, r"x must be a uint8 tensor .* got torch.float32"),
        (lambda: rotated_by(images()[:, 0], 45), TypeError, r"x must be .*H, W\]; got torch.uint8 \[4, 12, 12\]"),
        (lambda: rotated_within(images(), math.nan), ValueError, "degrees must be .* got nan"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_made_where_the_images_are_and_not_on_the_default_device():
    x = images(4, 9, 11)  # of a size that no other test uses: the places of the pixels are kept
    with torch.device("meta"):
        turned, within = rotated_by(x, 180), rotated_within(x, 0)
        drawn, y = RotationTask(x, torch.arange(4, device=x.device)).batch(5)
    for got, expected in ((turned, x.flip(2, 3)), (within, x), (drawn, x[y])):
        torch.testing.assert_close(got, expected.float() / 255, rtol=0, atol=1e-4)


def test_images_are_not_turned_unless_told_to():
    x = images(1)
    turned, _ = RotationTask(x, torch.zeros(1)).batch(1)
    torch.testing.assert_close(turned, x.float() / 255, rtol=0, atol=1e-6)


IMAGES = torch.randint(256, (10, 1, 9, 11), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
ANGLE = r"a number in \[-180, 180\]"


@pytest.mark.parametrize(
    ("task", "arguments", "error", "message"),
    [
        (RotationTask, (IMAGES, torch.arange(3)), ValueError, r"y must be one label for each .* got \[3\]"),
        (RotationTask, (IMAGES[:0], torch.arange(0)), ValueError, "at least one"),
        (RotationTask, (IMAGES, torch.arange(10), 200), ValueError, f"within must be {ANGLE}; got 200"),
        (RotationTask, (IMAGES.float(), torch.arange(10)), TypeError, "x must be a uint8 tensor .* got torch.float32"),
        (RotationTask, ([[0]], torch.arange(1)), TypeError, "x must be a uint8 tensor .* got list"),
        (RotationTask, (IMAGES, torch.arange(10, device="meta")), ValueError, r"\[10\] on cpu.* got \[10\] on meta"),
    ],
)
def test_wrong_arguments_of_the_task_are_named(task, arguments, error, message):
    with pytest.raises(error, match=message):
        task(*arguments)


def test_a_generator_that_is_none_is_named():
    for seed in (0, 3, 0.5, "0", torch.tensor(1)):
        with pytest.raises(TypeError, match="generator must be"):
            rotated_within(IMAGES, 90.0, seed)
