"""A sequence that is pondered, against one sample, one time step, one step of thought at a time."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.light_cone.lesson import LocalStep
from ponder_utils.halting import halting_log_probs
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import GRUStep, RecurrentStep

N, T, BATCH = 5, 4, 6
CARRIES = ("halted", "mean", "last")
INPUTS = {"lstm": (3,), "gru": (3,), "line": (2, 7)}
BY_RULE = {"quantile": {"q": 0.5}, "threshold": {"q": 0.5}, "most_probable": {}, "fixed": {"step": 2}, "sample": {}}
BY_RULE |= {"confidence": {"q": 0.6, "classes": False}}
steps_of_all_kinds = pytest.mark.parametrize("kind", INPUTS)


def make(kind, seed=0):
    torch.manual_seed(seed)
    step = {
        "lstm": lambda: RecurrentStep(nn.LSTMCell(4, 8), n_outputs=2),
        "gru": lambda: GRUStep(4, 8),
        "line": lambda: LocalStep(3, 8),
    }[kind]()
    step = step.double()
    with torch.no_grad():  # so that samples halt at all kinds of steps
        for weight in step.parameters():
            weight.mul_(3)
        if kind == "line":  # whose least vote would halt nobody
            step.heads.bias[1] += 3
    return step


def draw(kind, seed=0, n_times=T, batch=BATCH):
    return torch.randn(n_times, batch, *INPUTS[kind], dtype=torch.float64, generator=seeded(seed))


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def with_flag(x, flag):
    return torch.cat([x, torch.full_like(x[:, :1], flag)], dim=1)


def parts(state):
    return list(state) if isinstance(state, tuple | list) else [state]


def slowly(step, x, carry, halts_at, max_steps=N):
    """Return answers, halting logits [T][N] and states passed on of one sample, x [T, 1, ...], halting where it says.

    halts_at: halting logits of one time step, a list -> step.
    """
    state, answers, logits, steps = None, [], [], []
    for t in range(len(x)):
        if t == 0 and hasattr(step, "encode"):
            state = step.encode(with_flag(x[0], 1.0))[1]
        by_step, y_hats, a = [], [], []
        for n in range(max_steps):
            z = with_flag(x[t], 1.0 if n == 0 else 0.0)
            z = step.encode(z)[0] if hasattr(step, "encode") else z
            y_hat, state, logit = step(z, state)
            by_step.append(parts(state))
            y_hats.append(y_hat[0])
            a.append(logit.item())
        steps.append(halts_at(a))
        p = halting_log_probs(torch.tensor(a, dtype=torch.float64)).exp()
        if carry == "halted":
            new = by_step[steps[-1] - 1]
        elif carry == "last":
            new = by_step[-1]
        else:
            new = [sum(p[n] * by_step[n][i] for n in range(max_steps)) for i in range(len(by_step[0]))]
        state = tuple(new) if isinstance(state, tuple | list) else new[0]
        answers.append(y_hats)
        logits.append(a)
    return answers, logits, steps, state


def first_over_half(logits):
    """The rule "threshold": lambda_n >= 1/2 where a_n >= 0."""
    return next((n for n, a in enumerate(logits, 1) if a >= 0), len(logits))


@steps_of_all_kinds
@pytest.mark.parametrize("carry", CARRIES)
@torch.no_grad()
def test_a_batch_does_what_each_sample_does_alone_and_slowly(kind, carry):
    step, x = make(kind), draw(kind)
    model, cap = PonderSequence(step, N + 2, carry).eval(), {"max_steps": N}  # another cap in one call
    rule = {"rule": "threshold", "q": 0.5} if carry == "halted" else {}
    output, state = model.unroll(x, **rule, **cap)
    found = model.predict(x, "threshold", q=0.5, **cap)
    assert torch.equal(model(x, **rule, **cap).y_hat, output.y_hat)
    assert found.computed.max() <= N
    assert output.halt_logits.shape == (N, T * BATCH)
    halted = set()
    for b in range(BATCH):
        answers, logits, steps, last = slowly(step, x[:, b : b + 1], carry, first_over_half)
        halted |= set(steps)
        for t in range(T):
            sample = t * BATCH + b
            assert output.halt_logits[:, sample].tolist() == pytest.approx(logits[t])
            torch.testing.assert_close(output.y_hat[:, sample], torch.stack(answers[t]))
            assert found.steps[t, b] == steps[t]
            torch.testing.assert_close(found.y_hat[t, b], answers[t][steps[t] - 1])
            p = halting_log_probs(torch.tensor(logits[t], dtype=torch.float64)).exp()
            assert found.p_halt[t, b].item() == pytest.approx(p[steps[t] - 1].item())
        for whole, batched, alone in zip(parts(state), parts(found.state), parts(last), strict=True):
            torch.testing.assert_close(whole[b], alone[0])
            torch.testing.assert_close(batched[b], alone[0])
    assert len(halted) >= 2  # else this would be a test of nothing


@given(st.sampled_from(list(INPUTS)), st.sampled_from(CARRIES), st.sampled_from(list(BY_RULE)), st.integers(0, 10**6))
def test_a_prediction_equals_the_forward_pass_for_every_rule(kind, carry, rule, seed):
    model, x = PonderSequence(make(kind, seed), N, carry).eval(), draw(kind, seed)
    with torch.no_grad():
        to_carry = {"rule": rule, "generator": seeded(1), **BY_RULE[rule]} if carry == "halted" else {}
        output, state = model.unroll(x, **to_carry)
    found, generator = model.predict(x, rule, generator=seeded(1), **BY_RULE[rule]), seeded(1)
    first = model.predict(x[:1], rule, generator=generator, **BY_RULE[rule])
    rest = model.predict(x[1:], rule, state=first.state, generator=generator, **BY_RULE[rule])
    torch.testing.assert_close(torch.cat([first.y_hat, rest.y_hat]), found.y_hat)
    at = found.steps.flatten()
    torch.testing.assert_close(found.y_hat.flatten(0, 1), output.y_hat[at - 1, torch.arange(T * BATCH)])
    torch.testing.assert_close(found.p_halt.flatten(), output.log_p.exp()[at - 1, torch.arange(T * BATCH)])
    for ours, theirs in zip(parts(found.state), parts(state), strict=True):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("carry", ["halted", "mean"])
def test_whoever_has_halted_costs_nothing_until_the_next_time_step(carry):
    step, rows = make("gru"), []
    step.cell.register_forward_hook(lambda cell, given, h: rows.append(len(h)))
    found = PonderSequence(step, N, carry).eval().predict(draw("gru"), "threshold", q=0.5)
    assert torch.equal(found.computed, found.steps if carry == "halted" else torch.full((T, BATCH), N))
    assert sum(rows) == found.computed.sum()
    assert found.steps.sum() < N * T * BATCH


@steps_of_all_kinds
@pytest.mark.parametrize("carry", CARRIES)
def test_gradients_reach_every_weight_and_the_first_input(kind, carry):
    torch.manual_seed(0)
    step, x = make(kind), draw(kind).requires_grad_()
    output = PonderSequence(step, N, carry)(x)
    output.y_hat[:, -BATCH:].sum().backward()
    assert (x.grad[0].flatten(1) != 0).any(1).all()
    step.zero_grad()
    output = PonderSequence(step, N, carry)(draw(kind))
    (output.y_hat.sum() + (output.log_p.exp() * output.halt_logits).sum()).backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in step.parameters())


def counts(z, h):
    """Its state is a number that changes with the step, and samples halt at different steps."""
    return z[:, 0], (z, h[1] + 1 if h else 1), z[:, 0]


def at_places(z, h):
    return z[:, 0], z, z[:, 0]


def grows(z, h):
    """Its state has a part more after each step."""
    return z[:, 0], [z, *(h or [])], z[:, 0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: PonderSequence(make("gru"), 3)(torch.zeros(4, 3)), TypeError, r"x .*\[4, 3\]"),
        (lambda: PonderSequence(make("gru"), 3)(draw("gru"), mask=1), TypeError, "'mask'"),
        (lambda: PonderSequence(make("gru"), 3, "mean")(draw("gru"), mask=1), ValueError, "rule .*'mean'.*'mask'"),
        (
            lambda: PonderSequence(make("gru"), 3, "last")(draw("gru"), "quantile"),
            ValueError,
            "rule .*'last'.*'quantile'",
        ),
        (lambda: PonderSequence(at_places, 3).predict(draw("line")), ValueError, r"halt_logit .*\[6, 7\]"),
        (lambda: PonderSequence(counts, 3, "mean")(draw("gru")), ValueError, "state must hold in a tensor"),
        (lambda: PonderSequence(grows, 3, "mean")(draw("gru")), ValueError, "state .*same parts"),
        (lambda: PonderSequence(make("gru"), 3).predict(draw("gru"), state=torch.zeros(1, 8)), ValueError, "state .*6"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
