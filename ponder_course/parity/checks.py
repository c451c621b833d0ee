"""What the exercises of lesson 03 are checked for; each assertion says what is wrong with an answer."""

from typing import Any

import torch


def check_when_to_halt(answer: Any) -> None:
    """All inputs of six elements: even steps where the parity is even."""
    x = torch.cartesian_prod(*[torch.tensor([-1.0, 0.0, 1.0])] * 6)
    steps = torch.as_tensor(answer(x)).double()
    assert steps.shape == (len(x),), f"one step for each input: [{len(x)}], not {list(steps.shape)}"
    allowed = (steps >= 1) & (steps <= 20) & (steps == steps.round())
    assert allowed.all(), f"steps are 1, 2, ..., 20; not {steps[~allowed][0]:g}"
    right = steps.remainder(2) == (x == 1).sum(1).remainder(2)
    wrong = x[~right][:1].int().tolist()
    assert right.all(), f"right on {right.double().mean():.0%}; wrong on {wrong[0]}"


def check_right_without_one(answer: Any) -> None:
    """Three and five elements, whose inputs are all counted."""
    for n_elements in (3, 5):
        every = torch.cartesian_prod(*[torch.tensor([-1, 0, 1])] * n_elements)
        for k in range(1, n_elements + 1):
            inputs = every[every.abs().sum(1) == k]
            odd = (inputs == 1).sum(1) % 2
            _, seen = inputs[:, 1:].unique(dim=0, return_inverse=True)  # which look the same
            ones, number = torch.bincount(seen, odd.double()), torch.bincount(seen)
            best = float(torch.maximum(ones, number - ones).sum() / len(inputs))
            got = float(answer(k, n_elements))
            assert abs(got - best) < 1e-6, f"k = {k} of {n_elements}: {best:.4f}, not {got:.4f}"
