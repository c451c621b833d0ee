"""The checks of lesson 04's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

from collections.abc import Callable

import torch
from torch import Tensor

from ponder_course.common.local import light_cone
from ponder_course.common.notebook import check_on


def check_right_if_stopped(answer: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Check the fraction of right answers at each step: three steps of five digits."""
    y = torch.tensor([3, 1, 3, 0, 7])
    given = torch.tensor([[3, 1, 2, 0, 1], [3, 3, 3, 3, 3], [0, 1, 3, 0, 7]])  # answers, [N, batch]
    y_hat = torch.nn.functional.one_hot(given, 10) - 5.0
    got, expected = torch.as_tensor(answer(y_hat, y)), torch.tensor([0.6, 0.4, 0.8])
    assert got.shape == (3,), f"one number for each step: shape [3], not {list(got.shape)}"
    rounded = [f"{number:.1f}" for number in got.tolist()]
    assert (got - expected).abs().max() < 1e-6, f"right on 0.6, 0.4, 0.8 of them, not on {rounded}"


def check_steps_to_know_all(answer: Callable[[int, int, int, int, int], int]) -> None:
    """Check the steps after which places in some grids know of every patch."""
    places = [(7, 7, 3, 3, 3), (7, 7, 3, 0, 0), (7, 7, 5, 0, 3), (4, 9, 3, 1, 2), (9, 4, 5, 8, 0), (6, 9, 7, 2, 1)]
    for height, width, kernel, row, column in [*places, (1, 1, 3, 0, 0)]:
        cone = light_cone((row, column), (height, width), 20, kernel)
        expected = 1 + int((~cone.flatten(1).all(1)).sum())
        got = answer(height, width, kernel, row, column)
        case = f"{height} x {width} places, kernel {kernel}, from ({row}, {column})"
        assert got == expected, f"{case}: {expected} steps, not {got}"


BY_STEP = [0.1, 0.5, 0.8, 0.6]
RIGHT = {1: 0.1, 2: 0.5, 2.5: 0.65, 3.75: 0.65, 1.2: 0.18, 4: 0.6}  # at a mean number of steps
check_same_for_all = check_on(*((BY_STEP, steps, right) for steps, right in RIGHT.items()))


def check_turned_within(answer: Callable[[Tensor, float, torch.Generator], Tensor]) -> None:
    """Check that each image is turned by an angle of its own, as far as it may to both sides."""
    x = torch.zeros(64, 1, 15, 15)
    x[:, :, 7, 9:] = 1  # a stroke to the right of the centre
    there = torch.arange(15.0) - 7
    for degrees in (20.0, 80.0):
        image = torch.as_tensor(answer(x, degrees, torch.Generator().manual_seed(0))).float()
        assert image.shape == x.shape, f"shape {list(image.shape)}, not {list(x.shape)}"
        u, v = (image.sum(2) * there).sum((1, 2)), -(image.sum(3) * there).sum((1, 2))
        angle = torch.atan2(v, u).rad2deg()
        assert angle.unique().numel() > 32, "most images of a batch are turned by the same angle"
        assert angle.abs().max() < degrees + 2, f"one is turned by more than {degrees:g} degrees"
        for way, far in (("anticlockwise", angle.max()), ("clockwise", -angle.min())):
            assert far > 0.75 * degrees, f"no {way} turn beyond {0.75 * degrees:g} degrees"


def check_steps_of_right_answers(answer: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Check the mean step at which right answers are given, against draws."""
    generator = torch.Generator().manual_seed(0)
    p = torch.randn(6, 40, generator=generator).softmax(0)
    right = torch.rand(6, 40, generator=generator) < torch.linspace(0.1, 0.9, 6)[:, None]
    step = torch.multinomial(p.T, 20_000, replacement=True, generator=generator)  # [batch, draws]
    drawn = (step + 1.0)[right.T.gather(1, step)].mean().item()
    got = torch.as_tensor(answer(p, right))
    assert got.numel() == 1, f"one number for the batch, please; got shape {list(got.shape)}"
    assert abs(got.item() - drawn) < 0.02, f"draws say {drawn:.3f}, the function {got.item():.3f}"
