"""Who can know of what after n steps: exactly nobody outside the light cone."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import max_pool1d, max_pool2d

from ponder_course.common.local import LocalStep, light_cone

CASES = list(itertools.product((1, 2), (3, 5), (False, True), ("least", "pooled")))


def a_step(shape, kernel=3, residual=False, vote="least", channels=8):
    torch.manual_seed(0)
    return LocalStep(2, channels, len(shape), kernel, residual, vote)


@torch.no_grad()
def thoughts(step, x, n_steps):
    """State and answer after each step: [n_steps, channels, *places] and [n_steps, ...], of one x [1, ...]."""
    states, answers = [], []
    z, h = step.encode(x)
    for _ in range(n_steps):
        y_hat, h, _ = step(z, h)
        states.append(h[0])
        answers.append(y_hat[0])
    return torch.stack(states), torch.stack(answers)


@given(st.sampled_from(CASES), st.integers(2, 6), st.data())
def test_the_light_cone_grows_by_a_kernel_a_step_and_nobody_outside_it_notices(case, n_steps, data):
    dimensions, kernel, residual, vote = case
    shape = tuple(data.draw(st.integers(1, 9)) for _ in range(dimensions))
    place = tuple(data.draw(st.integers(0, side - 1)) for side in shape)
    cone = light_cone(place, shape, n_steps, kernel)
    assert cone[0].nonzero().tolist() == [[*place]]
    spread = max_pool1d if dimensions == 1 else max_pool2d
    assert torch.equal(spread(cone[:-1].float(), kernel, 1, kernel // 2), cone[1:].float())
    step, x = a_step(shape, kernel, residual, vote), torch.rand(1, 2, *shape).round()
    other = x.clone()
    other[(..., *place)] = 1 - x[(..., *place)]
    (states, answers), (other_states, other_answers) = (thoughts(step, of, n_steps) for of in (x, other))
    noticed = (states != other_states).any(1)
    assert not (noticed | (answers != other_answers))[~cone].any()
    assert torch.equal(noticed[:2], cone[:2])


@torch.no_grad()
@pytest.mark.parametrize(("kernel", "residual", "vote"), [(3, False, "least"), (5, True, "pooled")])
def test_one_step_by_hand(kernel, residual, vote):
    step, x = a_step((6,), kernel, residual, vote, channels=4), torch.randn(3, 2, 6)
    z, start = step.encode(x)
    assert not start.any()
    for h in (start, torch.randn(3, 4, 6)):
        y_hat, after, votes = step(z, h)
        heard = step.from_x(x) + step.from_h(h)
        torch.testing.assert_close(after, h + heard.relu() if residual else heard.tanh())
        said, read = step.heads(after), torch.cat([after.mean(2), after.amax(2)], 1)
        torch.testing.assert_close(y_hat, said[:, 0])
        torch.testing.assert_close(votes, said[:, 1].amin(1) if vote == "least" else step.pooled(read)[:, 0])


@pytest.mark.parametrize("residual", [False, True])
def test_noise_is_for_training_only_and_of_the_size_that_is_asked_for(residual):
    step = LocalStep(2, 64, residual=residual, noise=0.3)
    z, h = step.encode(torch.randn(50, 2, 20))
    quiet = step.eval().move(z, h)
    assert torch.equal(step.move(z, h), quiet)
    y_hat, after, _ = step.train()(z, h)
    noise = (after - quiet).flatten()
    assert noise.mean().item() == pytest.approx(0, abs=0.01)
    assert noise.std().item() == pytest.approx(0.3, rel=0.02)
    torch.testing.assert_close(y_hat, step.heads(after)[:, 0])  # read from what is handed on


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LocalStep(2, 4, kernel=4), "kernel .*4"),
        (lambda: LocalStep(2, 4).encode(torch.zeros(3, 1, 8)), r"x .* 2, places\], .*\[3, 1, 8\]"),
        (lambda: light_cone((4,), (4,), 3), "place .*3.*4"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
