"""Who can know of what after n steps: exactly nobody outside the light cone."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

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


def coins(shape, seed=0):
    return torch.rand(1, 2, *shape, generator=torch.Generator().manual_seed(seed)).round()


@given(st.sampled_from(CASES), st.data())
def test_the_light_cone_is_that_of_any_place_and_any_shape(case, data):
    dimensions, kernel, residual, vote = case
    shape = tuple(data.draw(st.integers(1, 9)) for _ in range(dimensions))
    place = tuple(data.draw(st.integers(0, side - 1)) for side in shape)
    n_steps = data.draw(st.integers(1, 6))
    step, x = a_step(shape, kernel, residual, vote), coins(shape, data.draw(st.integers(0, 10**6)))
    other = x.clone()
    other[(..., *place)] = 1 - x[(..., *place)]
    (states, answers), (other_states, other_answers) = (thoughts(step, of, n_steps) for of in (x, other))
    noticed = (states != other_states).any(1)
    cone = light_cone(place, shape, n_steps, kernel)
    assert not (noticed | (answers != other_answers))[~cone].any()
    assert noticed[(0, *place)]
    if n_steps > 1:
        assert torch.equal(noticed[1], cone[1])


def grown(place, shape, n_steps, kernel):
    """The sets of places that news from one place has come to: at every step each tells all that its kernel covers."""
    known, cone = {place}, []
    for _ in range(n_steps):
        cone.append(known)
        around = range(-(kernel // 2), kernel // 2 + 1)
        moves = itertools.product(around, repeat=len(shape))
        heard = {tuple(p + d for p, d in zip(at, move, strict=True)) for move in moves for at in known}
        known = {at for at in heard if all(0 <= p < side for p, side in zip(at, shape, strict=True))}
    return cone


@given(st.lists(st.integers(1, 7), min_size=1, max_size=3), st.sampled_from([1, 3, 5, 7]), st.integers(1, 6), st.data())
def test_the_light_cone_grows_by_a_kernel_a_step(sides, kernel, n_steps, data):
    place = tuple(data.draw(st.integers(0, side - 1)) for side in sides)
    cone = light_cone(place, tuple(sides), n_steps, kernel)
    assert cone.shape == (n_steps, *sides)
    for ours, slow in zip(cone, grown(place, tuple(sides), n_steps, kernel), strict=True):
        assert {tuple(at) for at in ours.nonzero().tolist()} == slow


def by_hand(step, x, h):
    """One step of a `LocalStep` for one line or grid, place by place in Python's floats: answers, state, votes."""
    from_x, x_bias, from_h, h_bias, read, read_bias = (
        part.double()
        for layer in (step.from_x, step.from_h, step.heads)
        for part in (layer.weight.detach(), layer.bias.detach())
    )
    shape, reach = x.shape[1:], step.from_h.kernel_size[0] // 2
    around = list(itertools.product(range(-reach, reach + 1), repeat=len(shape)))
    state, heads = torch.zeros(h.shape, dtype=torch.float64), torch.zeros(len(read), *shape, dtype=torch.float64)
    for place in itertools.product(*map(range, shape)):
        heard = from_x.flatten(1) @ x[(slice(None), *place)].double() + x_bias + h_bias
        for move in around:
            there = tuple(p + d for p, d in zip(place, move, strict=True))
            if all(0 <= p < side for p, side in zip(there, shape, strict=True)):
                weight = from_h[(slice(None), slice(None), *[d + reach for d in move])]
                heard = heard + weight @ h[(slice(None), *there)].double()
        here = h[(slice(None), *place)].double() + heard.clamp(min=0) if step.residual else heard.tanh()
        state[(slice(None), *place)] = here
        heads[(slice(None), *place)] = read.flatten(1) @ here + read_bias
    return state, heads


@pytest.mark.parametrize(
    ("shape", "kernel", "residual", "vote"), [((6,), 5, True, "pooled"), ((4, 5), 3, False, "least")]
)
def test_one_step_by_hand(shape, kernel, residual, vote):
    step, x = a_step(shape, kernel, residual, vote, channels=4), torch.randn(3, 2, *shape)
    z, start = step.encode(x)
    assert start.shape == (3, 4, *shape)
    assert not start.any()
    for h in (start, torch.randn(3, 4, *shape)):
        y_hat, after, votes = step(z, h)
        for row in range(3):
            slow, heads = by_hand(step, x[row], h[row])
            torch.testing.assert_close(after[row].double(), slow, rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(y_hat[row].double(), heads[0], rtol=1e-5, atol=1e-5)
            if vote == "least":
                a_n = min(heads[1].flatten().tolist())
            else:
                places = slow.flatten(1)
                read = torch.cat([places.sum(1) / places.shape[1], places.max(1).values])
                a_n = (step.pooled.weight[0].double() @ read + step.pooled.bias.double()).item()
            assert votes[row].item() == pytest.approx(a_n, rel=1e-5, abs=1e-5)


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
        (lambda: LocalStep(0, 4), "in_channels .*0"),
        (lambda: LocalStep(2, 4, 3), "dimensions .*3"),
        (lambda: LocalStep(2, 4, kernel=4), "kernel .*4"),
        (lambda: LocalStep(2, 4, vote="mean"), "vote .*'least', 'pooled'.*'mean'"),
        (lambda: LocalStep(2, 4).encode(torch.zeros(3, 1, 8)), r"x .* 2, places\], .*\[3, 1, 8\]"),
        (lambda: LocalStep(2, 4, 2).encode(torch.zeros(3, 2, 8)), r"x .*2, H, W\], .*\[3, 2, 8\]"),
        (lambda: light_cone((4,), (4,), 3), "place .*3.*4"),
        (lambda: light_cone((1, 1), (4,), 3), r"place .*\(4,\).*\(1, 1\)"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
