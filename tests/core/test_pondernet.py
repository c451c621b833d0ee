import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import draws, scripted
from torch import nn
from torch.func import functional_call

from examples.universal_transformer import UniversalStep
from ponder_course.common.local import LocalStep
from ponder_evidence.alone_and_together.reader import ReaderStep
from ponder_utils.act import act_average
from ponder_utils.attention import TransformerStep
from ponder_utils.halting import expected_steps
from ponder_utils.pondernet import LONG_STRIDE, PonderNet
from ponder_utils.rules import halting_steps
from ponder_utils.states import map_states
from ponder_utils.steps import EncodedStep, GRUStep, RecurrentStep, RNNStep, Step

PARAMETERS = {
    "quantile": {"q": 0.7},
    "threshold": {"q": 0.6},
    "most_probable": {},
    "fixed": {"step": 3},
    "sample": {},
    "confidence": {"q": 0.9},
    "entropy": {"tolerance": 0.4},
    "unchanged": {"t": 2},
    "settled": {"tolerance": 0.02},
}


cases = given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 12))


@settings(max_examples=25)
@cases
def test_how_often_one_checks_changes_the_cost_and_nothing_else(seed, batch_size, max_steps):
    logits = draws(seed, batch_size, max_steps)
    for rule in ("sample", "quantile", "threshold", "most_probable"):

        def run(check_every, rule=rule):
            return scripted(logits, rule, generator=torch.Generator().manual_seed(seed), check_every=check_every)

        every_step, fewest = run(1)
        assert fewest == every_step.computed.sum()
        assert rule == "most_probable" or torch.equal(every_step.computed, every_step.steps)
        for check_every in (2, 3, max_steps, None):
            got, cost = run(check_every)
            assert cost == got.computed.sum()
            stride = check_every or LONG_STRIDE
            rounded = (every_step.computed + stride - 1) // stride * stride
            assert torch.equal(got.computed, rounded.clamp(max=max_steps))


def local(dimensions, kernel, residual, vote):
    return lambda _: LocalStep(2, 8, dimensions, kernel, residual, vote)


PADDING = torch.arange(6) >= torch.tensor([6, 1, 3, 5, 4])[:, None]
SAMPLES, LINE, GRID, TOKENS = (5, 4), (5, 2, 7), (5, 2, 5, 4), (5, 6, 8)
ANY_NETWORK = {  # n_outputs -> step, and the shape of an input
    "RNN": (lambda n: RNNStep(4, 8, n), SAMPLES),
    "GRU": (lambda n: GRUStep(4, 8, n), SAMPLES),
    "LSTM": (lambda n: RecurrentStep(nn.LSTMCell(4, 8), n), SAMPLES),
    "encoded": (lambda n: EncodedStep(nn.Linear(4, 3), GRUStep(3, 8, n)), SAMPLES),
    "line": (local(1, 3, False, "least"), LINE),
    "line, residual": (local(1, 5, True, "pooled"), LINE),
    "grid": (local(2, 3, False, "pooled"), GRID),
    "grid, residual": (local(2, 3, True, "least"), GRID),
    "reader": (lambda n: ReaderStep(8, n, 2), TOKENS),
    "transformer": (lambda n: TransformerStep(8, n, 2), TOKENS),
    "transformer, start": (lambda n: TransformerStep(8, n, 2, "initial"), TOKENS),
    "transformer, causal": (lambda n: TransformerStep(8, n, 2, causal=True), TOKENS),
    "universal": (lambda n: UniversalStep(8, n, 2), TOKENS),
}
any_network = pytest.mark.parametrize("name", ANY_NETWORK)


def made(name, n_outputs=1, max_steps=7):
    """A network in float64 whose samples halt at different steps, and an input for it."""
    torch.manual_seed(8)
    step, shape = ANY_NETWORK[name]
    model = PonderNet(step(n_outputs), max_steps).double()
    with torch.no_grad():
        for part, weight in model.named_parameters():
            if weight.ndim == 1 and "norm" not in part:
                weight.copy_(0.3 * torch.randn(weight.shape))
            elif "heads" in part or "pooled" in part:
                weight.mul_(6)
    x = torch.randn(shape, dtype=torch.float64)
    if shape == TOKENS:
        x = (x, PADDING)
    if name == "reader":
        x = (torch.randn(5, 8, dtype=torch.float64), *x)
    return model, x


def asked(halt_logits):
    """What is asked: every sample, or every token that is no padding."""
    return ~PADDING if halt_logits.ndim == 3 else torch.ones(halt_logits.shape[1:], dtype=torch.bool)


class OneByOne(GRUStep):
    reads_together = False


@any_network
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_predictions_are_those_of_all_steps_at_the_step_of_halting(name, n_outputs):
    model, x = made(name, n_outputs)
    output = model(x)
    p = output.log_p.exp()
    classes, halted_at = output.y_hat.shape[-1] == 3, set()
    for rule, parameters in PARAMETERS.items():
        if rule in ("confidence", "entropy", "unchanged", "settled"):
            parameters = {**parameters, "classes": classes}
        steps = halting_steps(output, rule, generator=torch.Generator().manual_seed(5), **parameters)
        if rule in ("quantile", "sample"):
            halted_at |= set(steps[asked(output.halt_logits)].tolist())
        for check_every in (None, 1):
            generator = torch.Generator().manual_seed(5)
            found = model.predict(x, rule, generator=generator, check_every=check_every, **parameters)
            assert torch.equal(found.steps, steps), rule
            at = (steps - 1)[None]
            torch.testing.assert_close(found.p_halt, p.gather(0, at)[0])
            at = at.view(*at.shape, *[1] * (output.y_hat.ndim - at.ndim)).expand(1, *output.y_hat.shape[1:])
            torch.testing.assert_close(found.y_hat, output.y_hat.gather(0, at)[0])
            assert not found.y_hat.requires_grad
    assert len(halted_at) > 1  # else this would be a test of nothing
    weights = p.view(*p.shape, *[1] * (output.y_hat.ndim - p.ndim))
    expectation = model.expectation(x)
    torch.testing.assert_close(expectation.y_hat, (weights * output.y_hat).sum(0))
    assert (expectation.steps == 7).all()
    assert (expectation.p_halt == 1).all()
    assert expectation.computed.tolist() == [7] * 5
    torch.testing.assert_close(model.expectation(x, torch.sigmoid).y_hat, (weights * output.y_hat.sigmoid()).sum(0))


@any_network
def test_gradients_against_finite_differences(name):
    model, x = made(name, max_steps=2)
    names, values = zip(*model.named_parameters(), strict=True)

    def run(*values):
        output = functional_call(model, dict(zip(names, values, strict=True)), (x,))
        output = output.at(asked(output.halt_logits))
        of_act = act_average(output)
        return *output, of_act.y_hat, of_act.remainder

    assert torch.autograd.gradcheck(run, values, fast_mode=True)
    gradients = torch.autograd.grad(sum(part.sum() for part in run(*values)), values)
    assert all((gradient != 0).any() for gradient in gradients)


@any_network
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(name, dtype):
    model, x = made(name)
    model, x = model.float(), map_states(lambda part: part.float() if part.is_floating_point() else part, x)
    exact = model(x)
    with torch.autocast("cpu", dtype=dtype):
        output = model(x)
        steps = expected_steps(output.log_p)
    assert output.log_p.dtype == steps.dtype == torch.float32
    torch.testing.assert_close(output.log_p.exp().sum(0), torch.ones_like(steps), rtol=0, atol=2e-6)
    torch.testing.assert_close(steps, expected_steps(output.log_p.double()).float())
    torch.testing.assert_close(output.y_hat.float(), exact.y_hat, rtol=0.1, atol=0.2)
    output.y_hat.float().sum().backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters() if weight.grad is not None)


@any_network
@pytest.mark.parametrize("n", [1, 3, 9])
def test_another_cap_in_one_call_is_that_of_another_network(name, n):
    model, x = made(name, max_steps=5)
    other = PonderNet(model.step, n)
    pairs = [(model(x, max_steps=n), other(x)), (model.expectation(x, max_steps=n), other.expectation(x))]
    for rule, parameters in (("quantile", {"q": 0.9}), ("most_probable", {}), ("fixed", {"step": n})):
        pairs.append((model.predict(x, rule, max_steps=n, **parameters), other.predict(x, rule, **parameters)))
    for found, wanted in pairs:
        assert all(map(torch.equal, found[:4], wanted[:4]))
    assert model.max_steps == 5


OF_TOKENS = [name for name, (_, shape) in ANY_NETWORK.items() if shape == TOKENS]


@pytest.mark.parametrize("name", OF_TOKENS)
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("value", [-1e4, torch.inf, torch.nan])
def test_whatever_stands_at_padding_reaches_nobody_and_no_gradient(name, n_outputs, value):
    """To the last bit; also where a sample is nothing but padding, which changes no other."""
    model, (*question, tokens, _) = made(name, n_outputs)
    emptier, outputs = PADDING.clone(), []
    emptier[[1, 3]] = True
    for padding in (PADDING, emptier):
        clean, other = ((*question, tokens.masked_fill(padding[..., None], v), padding) for v in (0.0, value))
        pairs = zip(model(clean), model(other), strict=True)
        predicted = zip(model.predict(clean, "quantile")[:4], model.predict(other, "quantile")[:4], strict=True)
        for one, two in (*pairs, *predicted):
            assert one.isfinite().all()
            assert torch.equal(one, two)
        outputs.append(model(other))
    for one, two in zip(*outputs, strict=True):
        torch.testing.assert_close(one[:, [0, 2, 4]], two[:, [0, 2, 4]], rtol=0, atol=1e-9)
    outputs[1].y_hat.sum().backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters() if weight.grad is not None)


@pytest.mark.parametrize("name", [name for name in OF_TOKENS if name != "reader"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("rule", [rule for rule in PARAMETERS if rule != "fixed"])
def test_padding_halts_at_once_and_keeps_nobody_waiting(name, n_outputs, rule):
    model, (tokens, padding) = made(name, n_outputs)
    strictest = {"confidence": {"q": 1.0}, "entropy": {"tolerance": 0.0}, "settled": {"tolerance": 0.0}}
    options = strictest.get(rule, PARAMETERS[rule])
    if rule in ("confidence", "entropy", "settled", "unchanged"):
        options = options | {"classes": n_outputs > 1}
    found = model.float().predict((tokens.float(), padding), rule, check_every=1, **options)
    assert (found.steps[padding] == {"settled": 2, "unchanged": 3}.get(rule, 1)).all()  # when it can speak at all
    if rule != "most_probable":  # which has to see that no later step is more probable
        assert torch.equal(found.computed, found.steps.masked_fill(padding, 1).amax(1))


@pytest.mark.parametrize("name", OF_TOKENS)
def test_sequences_may_be_empty(name):
    model, _ = made(name)
    tokens, padding = torch.zeros(2, 0, 8, dtype=torch.float64), torch.zeros(2, 0, dtype=torch.bool)
    question = [torch.zeros(2, 8, dtype=torch.float64)] * (name == "reader")
    for inputs in ((*question, tokens), (*question, tokens, padding)):
        output = model(inputs)
        assert output.y_hat.shape == (7, 2, *[0] * (name != "reader"))
        assert output.y_hat.isfinite().all()
        assert torch.equal(model.predict(inputs, "fixed", step=1).y_hat, output.y_hat[0])


def test_a_step_around_torchs_lstm_is_that_lstm():
    model, x = PonderNet(RecurrentStep(nn.LSTMCell(5, 8)), 4), torch.randn(3, 5)
    state, output = None, model(x)
    for n in range(4):
        state = model.step.cell(x, state)
        torch.testing.assert_close((output.y_hat[n], output.halt_logits[n]), model.step.heads(state[0]))


@pytest.mark.parametrize(("step", "reads"), [(GRUStep, 1), (OneByOne, 6)])
def test_work_is_done_once_and_none_is_thrown_away(step, reads):
    """States are read all at once where a step allows it."""
    model, x, calls = PonderNet(EncodedStep(nn.Identity(), step(5, 8)), 6), torch.randn(3, 5), Counter()
    step = model.step.step
    for name, part in {"encode": model.step.encoder, "move": step.cell, "read": step.heads}.items():
        part.register_forward_hook(lambda *_, name=name: calls.update([name]))
    model(x)
    assert calls == {"encode": 1, "move": 6, "read": reads}
    model.predict(x, "fixed", step=2)
    assert (calls["encode"], calls["move"]) == (2, 8)


class Backwards(GRUStep):
    """In the paper's form, with a state turned around."""

    def forward(self, z, h):
        y_hat, h, halt_logit = super().forward(z, h)
        return y_hat, h.flip(1), halt_logit


@pytest.mark.parametrize("kind", [RNNStep, GRUStep, OneByOne, Backwards])
@pytest.mark.parametrize("batch_size", [0, 7])
def test_the_state_of_the_step_that_answers_is_returned(kind, batch_size):
    model, x = PonderNet(kind(4, 8), 9).eval(), torch.randn(batch_size, 4)
    for rule, check_every in (("quantile", None), ("quantile", 1), ("most_probable", 4)):
        found = model.predict(x, rule, check_every=check_every, keep_state=True)
        without = model.predict(x, rule, check_every=check_every)
        assert without.state is None
        torch.testing.assert_close(found[:4], without[:4])
        for row, n in enumerate(found.steps.tolist()):
            z, h = model.step.encode(x[row : row + 1])
            for _ in range(n):
                y_hat, h, _ = model.step(z, h)
            torch.testing.assert_close(found.state[row], h[0])
            torch.testing.assert_close(found.y_hat[row], y_hat[0])


@pytest.mark.parametrize("step", [RNNStep, GRUStep])
def test_the_halting_bias_decides_how_long_an_untrained_network_thinks(step):
    networks = [PonderNet(step(4, 8, 3, bias), 20) for bias in (-4.0, 0.0, 4.0)]
    steps = [expected_steps(network(torch.randn(64, 4)).log_p).mean().item() for network in networks]
    assert steps[0] > 10 > steps[1] > 1.1 > steps[2]


class Unready(Step):
    """Returns x alone, which two samples would make into z and h."""

    def encode(self, x):
        return x


x = torch.zeros(3, 4)
model = PonderNet(RNNStep(4, 8), 5)
tokens = PonderNet(TransformerStep(8), 3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: PonderNet(GRUStep, 5), TypeError, "step .*GRUStep"),
        (lambda: PonderNet(RNNStep(4, 8), 0), ValueError, "max_steps .*0"),
        (lambda: RNNStep(0, 8), ValueError, "input_size .*>= 1.* 0"),
        (lambda: GRUStep(4, 8.5), TypeError, "hidden_size .*>= 1.* 8.5"),
        (lambda: GRUStep(4, 8, 0), ValueError, "n_outputs .*0"),
        (lambda: GRUStep(4, 8, 1, math.nan), ValueError, "halting_bias .*nan"),
        (lambda: RecurrentStep(nn.Linear(4, 8)), TypeError, "cell .*hidden_size.*Linear"),
        (lambda: RecurrentStep(nn.LSTM(4, 8)), TypeError, "cell .*LSTM"),  # which reads a whole sequence
        (lambda: EncodedStep(nn.Identity(), 3), TypeError, "step .*3"),
        (lambda: EncodedStep(None, RNNStep(4, 8)), TypeError, "encoder .*None"),
        (lambda: model(torch.zeros(3, 5)), ValueError, "x .*input_size = 4.*5"),
        (lambda: model.predict(None), TypeError, r"x .*None"),
        (lambda: model((x, x[:2])), ValueError, r"x .*\[3, 2\]"),
        (lambda: model(x, max_steps=0), ValueError, "max_steps .*0"),
        (lambda: model.expectation(x, max_steps=True), TypeError, "max_steps .*True"),
        (lambda: model.predict(x, check_every=0), ValueError, "check_every .*0"),
        (lambda: tokens.predict(torch.randn(2, 3, 8), "quantile", keep_state=True), ValueError, r"halt_logit .*2, 3\]"),
        (lambda: PonderNet(lambda x, h: (x[:, 0], h, x), 2)(x), ValueError, r"step .* = 3.*\[3\] and \[3, 4\]"),
        (lambda: PonderNet(lambda x, h: (x[:, 0], h, 1.0), 2)(x), TypeError, "halt_logit .*1.0"),
        (lambda: PonderNet(lambda x, h: (x[:, 0], x[0], x[:, 1]), 2)(x), ValueError, r"the state .*3.*\[4\]"),
        (lambda: PonderNet(EncodedStep(lambda x: x[:2], model.step), 2).predict(x), ValueError, "encode .*3.*2"),
        (lambda: PonderNet(Step(), 2)(x), NotImplementedError, "move"),
        (lambda: PonderNet(Unready(), 2)(x), TypeError, "step.encode must return 2 .*Tensor"),
        (lambda: PonderNet(nn.LSTMCell(4, 8), 2)(x), TypeError, "step must return 3 .*RecurrentStep"),
        (lambda: PonderNet(lambda x, h: x, 2)(x), TypeError, "step must return 3 .*Tensor"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
