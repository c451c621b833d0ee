"""Who can know of what after n steps: exactly nobody outside the light cone."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import max_pool1d, max_pool2d

from ponder_course.common.local import light_cone
from ponder_course.light_cone.lesson import LocalStep


@given(st.integers(1, 2), st.sampled_from((3, 5)), st.integers(2, 6), st.data())
def test_the_light_cone_grows_by_a_kernel_a_step(dimensions, kernel, n_steps, data):
    shape = tuple(data.draw(st.integers(1, 9)) for _ in range(dimensions))
    place = tuple(data.draw(st.integers(0, side - 1)) for side in shape)
    cone = light_cone(place, shape, n_steps, kernel)
    assert cone[0].nonzero().tolist() == [[*place]]
    spread = max_pool1d if dimensions == 1 else max_pool2d
    assert torch.equal(spread(cone[:-1].float(), kernel, 1, kernel // 2), cone[1:].float())


@torch.no_grad()
def thoughts(step, x, n_steps):
    """State and answer after each step: [n_steps, channels, places] and [n_steps, places], of one x [1, ...]."""
    states, answers = [], []
    z, h = step.encode(x)
    for _ in range(n_steps):
        y_hat, h, _ = step(z, h)
        states.append(h[0])
        answers.append(y_hat[0])
    return torch.stack(states), torch.stack(answers)


@given(st.integers(1, 9), st.integers(2, 6), st.data())
def test_nobody_outside_the_light_cone_notices(n_places, n_steps, data):
    place = data.draw(st.integers(0, n_places - 1))
    cone = light_cone((place,), (n_places,), n_steps)
    torch.manual_seed(0)
    step, x = LocalStep(2, 8), torch.rand(1, 2, n_places).round()
    other = x.clone()
    other[..., place] = 1 - x[..., place]
    (states, answers), (other_states, other_answers) = (thoughts(step, of, n_steps) for of in (x, other))
    noticed = (states != other_states).any(1)
    assert not (noticed | (answers != other_answers))[~cone].any()
    assert torch.equal(noticed[:2], cone[:2])


@torch.no_grad()
def test_one_step_by_hand():
    torch.manual_seed(0)
    step, x = LocalStep(2, 4), torch.randn(3, 2, 6)
    z, start = step.encode(x)
    assert not start.any()
    for h in (start, torch.randn(3, 4, 6)):
        y_hat, after, votes = step(z, h)
        torch.testing.assert_close(after, (step.from_x(x) + step.from_h(h)).tanh())
        torch.testing.assert_close((y_hat, votes), (step.heads(after)[:, 0], step.heads(after)[:, 1].amin(1)))


def test_noise_is_for_training_only_and_of_the_size_that_is_asked_for():
    step = LocalStep(2, 64, noise=0.3)
    z, h = step.encode(torch.randn(50, 2, 20))
    quiet = step.eval().move(z, h)
    assert torch.equal(step.move(z, h), quiet)
    y_hat, after, _ = step.train()(z, h)
    noise = (after - quiet).flatten()
    assert noise.mean().item() == pytest.approx(0, abs=0.01)
    assert noise.std().item() == pytest.approx(0.3, rel=0.02)
    torch.testing.assert_close(y_hat, step.heads(after)[:, 0])  # read from what is handed on


def test_a_place_outside_is_named():
    with pytest.raises(ValueError, match=r"place .*3.*4"):
        light_cone((4,), (4,), 3)
