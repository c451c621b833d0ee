"""What lesson 04 measures, and from which step on a digit is read, against loops over all digits."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.common.digits import load_digits
from ponder_course.mnist_rotation import experiment as rotation
from ponder_course.mnist_rotation.lesson import CNNFirst, ponder_loss
from ponder_course.mnist_rotation.patches import Patches
from ponder_course.mnist_rotation.readable import NOT_READ, first_step_read, steps_by_first_read
from ponder_course.mnist_rotation.task import RotationTask, rotated_by, rotated_within
from ponder_utils.evaluation import class_correct, evaluate
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps


def test_measures_are_of_the_angles_in_their_order():
    model = PonderNet(Patches(), 4).eval()
    x, y = (part[:40] for part in load_digits("digits").test)
    row = rotation.measure(model, x, y)
    assert torch.equal(rotation.at_home(x, 45), rotated_within(x, 45, torch.Generator().manual_seed(2)))
    for i, degrees in enumerate(rotation.ANGLES):
        score = evaluate(model, rotated_by(x, degrees), y, class_correct)
        assert (row["accuracy"][i], row["steps"][i]) == (round(score.accuracy, 4), round(score.steps, 4))
    for i, within in enumerate(rotation.RANGES):
        score = evaluate(model, rotation.at_home(x, within), y, class_correct)
        assert (row["accuracy_within"][i], row["steps_within"][i]) == (round(score.accuracy, 4), round(score.steps, 4))
    assert [*row["rules"]] == ["sample", "quantile", "most_probable", "expectation"]
    assert row["rules"]["expectation"][0] == 4
    taken = halting_steps(model(rotation.at_home(x)), "quantile").float().mean().item()
    assert row["rules"]["quantile"][0] == pytest.approx(taken, abs=1e-4)  # no step is computed that is not needed


def test_the_lessons_loss_is_the_packages():
    model = PonderNet(CNNFirst(), 4).eval()
    x, y = RotationTask(*load_digits("digits").train).batch(12, torch.Generator().manual_seed(0))
    output = model(x)
    package = PonderLoss(torch.nn.CrossEntropyLoss(reduction="none"), 0.3, beta=0.2)(output, y).total
    assert ponder_loss(output, y, 0.3, 0.2).item() == pytest.approx(package.item(), rel=1e-5)


def test_nothing_is_gained_by_halting_that_looks_at_nothing():
    row = {"by_step": [0.1, 0.5, 0.9], "rules": {"quantile": [2.5, 0.7], "sample": [1.0, 0.0]}}
    assert rotation.gains([row], "quantile") == [pytest.approx(0)]
    assert rotation.gains([row], "sample") == [pytest.approx(-0.1)]
    assert rotation.gains([row | {"by_step_within": [0.0, 0.0, 0.0]}], "quantile") == [0.7]
    exact = {"steps_within": [2.0, 9], "accuracy_within": [0.6, 9]}
    assert rotation.gains([row | exact], "sample") == [pytest.approx(0.1)]


def by_hand(right, last):
    """The same for one digit: a list of truth values by step."""
    if not right[last - 1]:
        return 0
    first = last
    while first > 1 and right[first - 2]:
        first -= 1
    return first


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=8), st.integers(1, 5))
def test_a_digit_is_read_from_the_step_after_the_last_wrong_one(digits, last):
    right = torch.tensor(digits).T  # [N, batch]
    assert first_step_read(right, last).tolist() == [by_hand(digit, last) for digit in digits]


@given(st.integers(0, 10_000))
def test_groups_hold_all_digits_that_are_read_and_their_mean_steps(seed):
    generator = torch.Generator().manual_seed(seed)
    right = torch.rand(6, 40, generator=generator) < 0.7
    p = torch.rand(6, 40, generator=generator, dtype=torch.float64)
    p = p / p.sum(0)
    found, firsts = steps_by_first_read(p.log(), right, last=5), first_step_read(right, 5)
    assert sum(count for count, _ in found.values()) == 40
    assert found.get(NOT_READ, (0,))[0] == int((~right[4]).sum())
    for step, (count, steps) in found.items():
        slow = [sum((n + 1) * p[n, i].item() for n in range(6)) for i in range(40) if firsts[i] == step]
        assert (count, steps) == (len(slow), pytest.approx(sum(slow) / len(slow)))
