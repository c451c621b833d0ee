"""Steps that read by attention: against loops, one token at a time; padding is never read; and any network ponders."""

import math

import pytest
import torch
from reference import act
from torch import nn
from torch.func import functional_call

from examples.universal_transformer import UniversalStep, place_and_step
from ponder_course.research.alone_and_together.reader import ReaderStep
from ponder_utils.act import act_average
from ponder_utils.attention import TransformerStep
from ponder_utils.halting import PonderOutput
from ponder_utils.losses import ACTLoss, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps
from ponder_utils.steps import RecurrentStep

BCE = nn.BCEWithLogitsLoss(reduction="none")
BATCH, TOKENS, SIZE = 5, 6, 8
LENGTHS = torch.tensor([6, 1, 3, 5, 4])
PADDING = torch.arange(TOKENS) >= LENGTHS[:, None]
both_ways = pytest.mark.parametrize("memory", ["current", "initial"])
heads = pytest.mark.parametrize("n_heads", [1, 2, 4])


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def alive(step, seed=0, scale=6.0):
    """The step in float64, with heads that answer and halt differently from token to token, and no bias of 0."""
    generator = torch.Generator().manual_seed(seed)
    step.double().eval()
    with torch.no_grad():
        for name, weight in step.named_parameters():
            if weight.ndim == 1 and "norm" not in name:
                weight.copy_(0.3 * torch.randn(weight.shape, generator=generator))
            elif "heads" in name:
                weight.mul_(scale)
    return step


def attend(attention, query, read, padding):
    """What one query [size] hears from tokens [tokens, size], head by head and token by token."""
    size, n_heads = attention.embed_dim, attention.num_heads
    width = size // n_heads
    (W_q, W_k, W_v), (b_q, b_k, b_v) = attention.in_proj_weight.split(size), attention.in_proj_bias.split(size)
    heard = []
    for head in range(n_heads):
        part = slice(head * width, (head + 1) * width)
        q = (W_q @ query + b_q)[part]
        scores = {}
        for j in range(len(read)):
            if not padding[j]:
                scores[j] = math.exp((q @ (W_k @ read[j] + b_k)[part]).item() / math.sqrt(width))
        total = sum(scores.values())
        heard.append(sum(score / total * (W_v @ read[j] + b_v)[part] for j, score in scores.items()))
    return attention.out_proj.weight @ torch.cat(heard) + attention.out_proj.bias


def normalised(norm, v):
    mean = sum(v.tolist()) / len(v)
    variance = sum((value - mean) ** 2 for value in v.tolist()) / len(v)
    return (v - mean) / math.sqrt(variance + norm.eps) * norm.weight + norm.bias


@torch.no_grad()
def layer(step, h, read, padding):
    """One step of the tokens of one sample: answers and halting logits [tokens, n_outputs + 1], next states."""
    states, said_and_halts = [], []
    for token in h:
        a = normalised(step.norm_attention, token + attend(step.attention, token, read, padding))
        into, _, out = step.mlp
        between = (into.weight @ a + into.bias).clamp(min=0)
        states.append(normalised(step.norm_mlp, a + out.weight @ between + out.bias))
        said_and_halts.append(step.heads.weight @ states[-1] + step.heads.bias)
    return torch.stack(said_and_halts), torch.stack(states)


@heads
@both_ways
@pytest.mark.parametrize("padded", [False, True])
def test_the_layer_is_that_of_a_loop(n_heads, memory, padded):
    step = alive(TransformerStep(SIZE, 3, n_heads, memory))
    x, padding = numbers(BATCH, TOKENS, SIZE), PADDING if padded else torch.zeros_like(PADDING)
    output = PonderNet(step, 3)((x, padding) if padded else x)
    for i in range(BATCH):
        h = x[i]
        for n in range(3):
            wanted, h = layer(step, h, h if memory == "current" else x[i], padding[i])
            asked = ~padding[i]
            torch.testing.assert_close(output.y_hat[n, i][asked], wanted[asked, :3])
            torch.testing.assert_close(output.halt_logits[n, i][asked], wanted[asked, 3])


@heads
def test_it_is_the_layer_of_torch(n_heads):
    step, theirs = alive(TransformerStep(SIZE, 1, n_heads)), nn.TransformerEncoderLayer(SIZE, n_heads, 2 * SIZE, 0.0)
    ours = {"self_attn": step.attention, "linear1": step.mlp[0], "linear2": step.mlp[2]}
    for name, part in (ours | {"norm1": step.norm_attention, "norm2": step.norm_mlp}).items():
        getattr(theirs, name).load_state_dict(part.state_dict())
    x = numbers(BATCH, TOKENS, SIZE)
    z, h = step.encode((x, PADDING))
    _, (new, _), _ = step(z, h)
    expected = theirs.double()(x.transpose(0, 1), src_key_padding_mask=PADDING).transpose(0, 1)
    torch.testing.assert_close(new[~PADDING], expected[~PADDING])


@heads
def test_a_reader_is_that_of_a_loop_over_its_memory(n_heads):
    step = alive(ReaderStep(SIZE, 3, n_heads))
    question, memory = numbers(BATCH, SIZE, seed=1), numbers(BATCH, TOKENS, SIZE)
    output, whole = PonderNet(step, 3)((question, memory, PADDING)), PonderNet(step, 3)((question, memory))
    for i in range(BATCH):
        h = question[i : i + 1]
        for n in range(3):
            wanted, h = layer(step.reader, h, memory[i], PADDING[i])
            torch.testing.assert_close(torch.cat([output.y_hat[n, i], output.halt_logits[n, i, None]]), wanted[0])
    torch.testing.assert_close(whole.y_hat[:, 0], output.y_hat[:, 0])  # of six tokens
    assert not torch.isclose(whole.y_hat[:, 1], output.y_hat[:, 1]).all()


def test_places_and_steps_are_sines_and_cosines_of_both():
    got = place_and_step(torch.zeros(2, 5, 6, dtype=torch.float64), 3)
    for i in range(1, 6):
        for j in range(3):
            w = 10000 ** (2 * j / 6)
            assert got[i - 1, 2 * j].item() == pytest.approx(math.sin(i / w) + math.sin(3 / w), abs=1e-6)
            assert got[i - 1, 2 * j + 1].item() == pytest.approx(math.cos(i / w) + math.cos(3 / w), abs=1e-6)


def test_the_universal_transformer_adds_them_before_each_layer():
    step, x = alive(UniversalStep(SIZE, 2, 2)), numbers(BATCH, TOKENS, SIZE)
    output = PonderNet(step, 3)((x, PADDING))
    for i in range(BATCH):
        h = x[i]
        for n in range(3):
            h = h + place_and_step(x, n + 1)
            wanted, h = layer(step.layer, h, h, PADDING[i])
            asked = ~PADDING[i]
            torch.testing.assert_close(output.y_hat[n, i][asked], wanted[asked, :2])
            torch.testing.assert_close(output.halt_logits[n, i][asked], wanted[asked, 2])


class MLPCell(nn.Module):
    """A multilayer perceptron over input and state."""

    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.into, self.out = nn.Linear(input_size + hidden_size, 16), nn.Linear(16, hidden_size)

    def forward(self, x, h=None):
        h = x.new_zeros(len(x), self.hidden_size) if h is None else h
        return torch.tanh(self.out(torch.relu(self.into(torch.cat([x, h], 1)))))


def tokens_and_padding(seed=0):
    return numbers(BATCH, TOKENS, SIZE, seed=seed), PADDING


ANY_NETWORK = {  # n_outputs -> step, and an input for it
    "LSTM": (lambda n: RecurrentStep(nn.LSTMCell(SIZE, 7), n), lambda: numbers(BATCH, SIZE)),
    "MLP": (lambda n: RecurrentStep(MLPCell(SIZE, 7), n), lambda: numbers(BATCH, SIZE)),
    "reader": (lambda n: ReaderStep(SIZE, n, 2), lambda: (numbers(BATCH, SIZE, seed=1), *tokens_and_padding())),
    "transformer": (lambda n: TransformerStep(SIZE, n, 2), tokens_and_padding),
    "transformer, start": (lambda n: TransformerStep(SIZE, n, 2, "initial"), tokens_and_padding),
    "universal": (lambda n: UniversalStep(SIZE, n, 2), tokens_and_padding),
}
any_network = pytest.mark.parametrize("name", ANY_NETWORK)
with_padding = pytest.mark.parametrize("name", [name for name in ANY_NETWORK if name not in ("LSTM", "MLP")])
RULES = {
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


def made(name, n_outputs=1, max_steps=7):
    torch.manual_seed(8)  # with which, of each network, not all answers come at the same step
    step, x = ANY_NETWORK[name]
    return PonderNet(alive(step(n_outputs)), max_steps), x()


def asked(halt_logits):
    """What is asked: every sample, or every token that is no padding."""
    return ~PADDING if halt_logits.ndim == 3 else torch.ones(BATCH, dtype=torch.bool)


@any_network
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("check_every", [None, 1])
def test_predict_equals_forward(name, n_outputs, check_every):
    model, x = made(name, n_outputs)
    output = model(x)
    assert output.y_hat.shape == (*output.halt_logits.shape, *([3] if n_outputs == 3 else []))
    for rule, parameters in RULES.items():
        if n_outputs > 1 and rule in ("confidence", "entropy", "unchanged", "settled"):
            parameters = {**parameters, "classes": True}
        draws = [torch.Generator().manual_seed(5) for _ in range(2)]
        steps = halting_steps(output, rule, generator=draws[0], **parameters)
        found = model.predict(x, rule, generator=draws[1], check_every=check_every, **parameters)
        assert torch.equal(found.steps, steps), rule
        if rule in ("quantile", "sample"):
            assert len(steps[asked(output.halt_logits)].unique()) > 1
        at = (steps - 1)[None, ..., None].expand(1, *output.y_hat.shape[1:]) if n_outputs > 1 else (steps - 1)[None]
        torch.testing.assert_close(found.y_hat, output.y_hat.gather(0, at)[0])


@any_network
@pytest.mark.parametrize("way", ["PonderNet", "ACT"])
def test_gradients_reach_every_parameter(name, way):
    model, x = made(name)
    output = model.train()(x)
    at = asked(output.halt_logits)
    y = torch.arange(int(at.sum())).remainder(2).double()
    if way == "PonderNet":
        PonderLoss(BCE, 0.3)(output.at(at), y).total.backward()
    else:
        ACTLoss(BCE, 0.1)(act_average(output.at(at)), y[None]).total.backward()
    for part, weight in model.named_parameters():
        assert weight.grad is not None, part
        assert weight.grad.isfinite().all(), part
        assert (weight.grad != 0).any(), part


@any_network
def test_gradients_against_finite_differences(name):
    model, x = made(name, max_steps=2)
    names, values = zip(*model.named_parameters(), strict=True)

    def run(*values):
        output = functional_call(model, dict(zip(names, values, strict=True)), (x,))
        return output.at(asked(output.halt_logits))[:2]

    assert torch.autograd.gradcheck(run, values, fast_mode=True)


@any_network
def test_act_goes_around_it(name):
    """Sample by sample, or token by token, as in the definition."""
    model, x = made(name)
    output = model(x)
    got = act_average(output, 0.1)
    shape = output.halt_logits.shape[1:]
    assert got.y_hat.shape == got.steps.shape == got.remainder.shape == (1, *shape)
    flat = act_average(PonderOutput(*(part.flatten(1) for part in output)), 0.1)
    for i in range(shape.numel()):
        answers, logits = (part.flatten(1)[:, i].tolist() for part in (output.y_hat, output.halt_logits))

        def of(numbers):
            return lambda state: numbers[state[0]]

        ((y, steps, remainder, _),), _ = act(
            lambda _, state: (0,) if state is None else (state[0] + 1,), of(answers), of(logits), [()], 0.1, 7
        )
        assert got.y_hat.flatten()[i].item() == pytest.approx(y, rel=1e-9, abs=1e-12)
        assert got.steps.flatten()[i].item() == steps
        assert got.remainder.flatten()[i].item() == pytest.approx(remainder, abs=1e-12)
    assert all(torch.equal(part.flatten(), alone.flatten()) for part, alone in zip(got[:3], flat[:3], strict=True))
    assert len(got.steps.unique()) > 1


def test_act_averages_class_answers_at_every_token():
    model, x = made("transformer", 3)
    output = model(x)
    got = act_average(output)
    at = ~PADDING
    alone = act_average(output.at(at))
    torch.testing.assert_close(got.y_hat[:, at], alone.y_hat)
    assert torch.equal(got.steps[:, at], alone.steps)


def other_padding(x, value):
    """The input with other numbers in the padding."""
    *before, tokens, padding = x
    return (*before, torch.where(padding[..., None], value, tokens), padding)


@with_padding
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_stands_in_the_padding_changes_nothing_to_the_last_bit(name, dtype):
    model, x = made(name, 3)
    model = model.to(dtype)
    x = tuple(part.to(dtype) if part.is_floating_point() else part for part in x)
    for inputs in (other_padding(x, 0.0), other_padding(x, -1e4)):
        with torch.no_grad():
            pairs = [(model(x), model(inputs))]
        pairs += [(model(x), model(inputs)), (model.predict(x, "quantile")[:4], model.predict(inputs, "quantile")[:4])]
        for one, two in pairs:
            logits = one.halt_logits if isinstance(one, PonderOutput) else one[1][None]
            for a, b in zip(one, two, strict=True):
                a, b = (a, b) if isinstance(one, PonderOutput) else (a[None], b[None])
                at = asked(logits) if a.ndim > 2 else slice(None)
                assert torch.equal(a[:, at], b[:, at])


@with_padding
def test_a_shorter_sequence_alone_is_answered_alike(name):
    model, x = made(name, 3)
    together = model(x)
    for i, length in enumerate(LENGTHS.tolist()):
        *before, tokens, _ = (part[i : i + 1] for part in x)
        cut = (*before, tokens[:, :length])
        alone = model(cut if before else cut[0])
        for one, two in zip(together, alone, strict=True):
            one = one[:, i : i + 1]
            one = one[:, :, :length] if together.halt_logits.ndim == 3 else one
            torch.testing.assert_close(one, two, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["transformer", "transformer, start", "universal"])
def test_padding_halts_at_once_and_keeps_nobody_waiting(name):
    model, x = made(name)
    for rule in ("threshold", "quantile", "most_probable", "sample"):
        found = model.predict(x, rule, generator=torch.Generator().manual_seed(0), check_every=1)
        assert (found.steps[PADDING] == 1).all()
        if rule != "most_probable":  # which has to see that no later step is more probable
            assert torch.equal(found.computed, found.steps.masked_fill(PADDING, 1).amax(1))


@pytest.mark.parametrize("name", ["transformer", "transformer, start", "universal"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize(
    ("rule", "parameters", "soonest"),  # the first step at which a rule can speak at all
    [
        ("confidence", {"q": 1.0}, 1),
        ("entropy", {"tolerance": 0.0}, 1),
        ("settled", {"tolerance": 0.0}, 2),
        ("unchanged", {"t": 2}, 3),
    ],
)
def test_padding_halts_at_once_by_rules_that_read_answers(name, n_outputs, rule, parameters, soonest):
    model, x = made(name, n_outputs)
    for precise in (model, model.float()):
        inputs = (x[0].to(next(precise.parameters()).dtype), x[1])
        found = precise.predict(inputs, rule, check_every=1, classes=n_outputs > 1, **parameters)
        assert (found.steps[PADDING] == soonest).all()
        assert torch.equal(found.computed, found.steps.masked_fill(PADDING, 1).amax(1))


def test_padding_learns_nothing():
    model, x = made("transformer", 3)
    at_padding = model(x).y_hat[:, PADDING]
    assert not at_padding.requires_grad or torch.autograd.grad(at_padding.sum(), model.step.heads.weight)[0].eq(0).all()


@with_padding
@pytest.mark.parametrize("asked_how", ["forward", "predict", "no gradient"])
def test_a_sample_of_padding_only_is_finite_and_changes_no_other(name, asked_how):
    model, (*before, tokens, padding) = made(name, 3)
    emptier = padding.clone()
    emptier[[1, 3]] = True
    inputs = [(*before, tokens, mask) for mask in (padding, emptier)]
    inputs.append((*before, torch.where(emptier[..., None], 1e4, tokens), emptier))
    if asked_how == "predict":
        full, empty, other = ([part[None] for part in model.predict(x, "quantile")[:4]] for x in inputs)
        if empty[1].ndim == 3:  # every token halts at once
            assert (empty[1][:, emptier] == 1).all()
            assert (model.predict(inputs[1], "quantile", check_every=1).computed[[1, 3]] == 1).all()
    elif asked_how == "no gradient":
        with torch.no_grad():
            full, empty, other = (model(x) for x in inputs)
    else:
        full, empty, other = (model(x) for x in inputs)
        empty.y_hat.sum().backward()
        assert all(weight.grad.isfinite().all() for weight in model.parameters() if weight.grad is not None)
    for one, two, three in zip(full, empty, other, strict=True):
        assert two.isfinite().all()
        assert torch.equal(two, three)  # nobody has heard what stands in the padding
        torch.testing.assert_close(one[:, [0, 2, 4]], two[:, [0, 2, 4]], rtol=0, atol=1e-9)


@both_ways
def test_causal_tokens_read_no_later_ones(memory):
    """Each token is answered as if the sequence ended with it."""
    step = alive(TransformerStep(SIZE, 3, 2, memory, causal=True))
    model, x = PonderNet(step, 3), numbers(BATCH, TOKENS, SIZE)
    whole = model(x)
    for length in range(1, TOKENS + 1):
        for one, two in zip(whole, model(x[:, :length]), strict=True):
            torch.testing.assert_close(one[:, :, :length], two)
    padded = model((x, PADDING))
    for one, two in zip(whole, padded, strict=True):
        torch.testing.assert_close(one[:, ~PADDING], two[:, ~PADDING])
    assert not torch.isclose(whole.y_hat[:, :, 0], PonderNet(step_without_mask(step), 3)(x).y_hat[:, :, 0]).all()


def step_without_mask(step):
    other = alive(TransformerStep(SIZE, 3, 2, step.memory))
    other.load_state_dict(step.state_dict())
    return other


@both_ways
@pytest.mark.parametrize("n_heads", [1, 2])
def test_the_last_causal_token_is_that_of_a_loop(n_heads, memory):
    step, x = alive(TransformerStep(SIZE, 3, n_heads, memory, causal=True)), numbers(1, TOKENS, SIZE)
    output, h = PonderNet(step, 3)(x), x[0]
    for n in range(3):
        read = h if memory == "current" else x[0]
        new = []
        for i in range(TOKENS):
            wanted, state = layer(step, h[i : i + 1], read[: i + 1], [False] * (i + 1))
            torch.testing.assert_close(output.y_hat[n, 0, i], wanted[0, :3])
            torch.testing.assert_close(output.halt_logits[n, 0, i], wanted[0, 3])
            new.append(state[0])
        h = torch.stack(new)


@both_ways
@pytest.mark.parametrize("n_heads", [1, 2])
@pytest.mark.parametrize("grad", [True, False])
def test_causal_tokens_do_not_read_padding_wherever_it_stands(memory, n_heads, grad):
    model = PonderNet(alive(TransformerStep(SIZE, 3, n_heads, memory, causal=True)), 3)
    x = numbers(5, TOKENS, SIZE)
    padding = torch.zeros(5, TOKENS, dtype=torch.bool)
    padding[0, 0] = padding[1, :3] = padding[2, [1, 4]] = padding[3] = True
    with torch.set_grad_enabled(grad):
        output = model((x, padding))
        assert all(part.isfinite().all() for part in output)
        assert (output.log_p[0, padding].exp() > 0.999).all()
        for i in (0, 1, 2, 4):
            alone = model(x[i : i + 1, ~padding[i]])
            for one, two in zip(output, alone, strict=True):
                torch.testing.assert_close(one[:, i, ~padding[i]], two[:, 0])


@both_ways
def test_tokens_have_no_order(memory):
    model = PonderNet(alive(TransformerStep(SIZE, 3, 2, memory)), 4)
    x, order = numbers(BATCH, TOKENS, SIZE), torch.tensor([3, 0, 5, 1, 4, 2])
    straight, mixed = model((x, PADDING)), model((x[:, order], PADDING[:, order]))
    for one, two in zip(straight, mixed, strict=True):
        torch.testing.assert_close(one[:, :, order], two)


def test_with_places_they_have():
    model, x = PonderNet(alive(UniversalStep(SIZE, 3)), 4), numbers(BATCH, TOKENS, SIZE)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    assert not torch.isclose(model(x).y_hat[:, :, order], model(x[:, order]).y_hat).all()


@both_ways
def test_what_others_know_by_now_is_read_now_or_never(memory):
    step, x = alive(TransformerStep(SIZE, 3, 2, memory)), numbers(BATCH, TOKENS, SIZE)
    z, h = step.encode(x)
    _, h, _ = step(z, h)
    other = h.clone()
    other[:, 1:] = numbers(BATCH, TOKENS - 1, SIZE, seed=9)  # all but the first token
    for one, two in zip(step(z, h), step(z, other), strict=True):
        same = [torch.equal(one[i, 0], two[i, 0]) for i in range(BATCH)]
        assert same == [memory == "initial"] * BATCH


@both_ways
@pytest.mark.parametrize("update_dropout", [0.3, 1.0])
def test_tokens_sleep_in_training_only_as_often_as_they_shall(memory, update_dropout):
    step, awake = (alive(TransformerStep(SIZE, 3, 2, memory, asleep)) for asleep in (update_dropout, 0.0))
    awake.load_state_dict(step.state_dict())
    x = numbers(500, TOKENS, SIZE)
    z, h = step.encode(x)
    for a, b in zip(step(z, h), awake(z, h), strict=True):
        assert torch.equal(a, b)
    torch.manual_seed(0)
    y_hat, new, a = step.train()(z, h)
    unmoved = (new == h).all(2)
    assert torch.equal(unmoved, (new == h).any(2))  # a token sleeps as a whole
    assert unmoved.double().mean().item() == pytest.approx(update_dropout, abs=0.03)
    expected = torch.where(unmoved[..., None], h, awake(z, h)[1])
    torch.testing.assert_close(new, expected)
    torch.testing.assert_close((y_hat, a), step.heads(expected))  # what it knows, it says
    _, again, _ = step(z, h)
    assert update_dropout == 1 or not torch.equal(unmoved, (again == h).all(2))  # drawn anew


def test_no_random_number_is_drawn_where_nobody_sleeps():
    step, x = TransformerStep(SIZE), torch.randn(2, 3, SIZE)
    state = torch.get_rng_state()
    PonderNet(step.train(), 2)(x)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@with_padding
def test_autocast(name, dtype):
    model, x = made(name)
    model = model.float()
    x = tuple(part.float() if part.is_floating_point() else part for part in x)
    exact = model(x)
    with torch.autocast("cpu", dtype=dtype):
        output = model(x)
    assert output.log_p.dtype == torch.float32
    torch.testing.assert_close(output.y_hat.float(), exact.y_hat, rtol=0.1, atol=0.2)
    output.y_hat.float().sum().backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters() if weight.grad is not None)


@with_padding
def test_new_tensors_are_made_where_the_input_is_and_not_on_the_default_device(name):
    model, x = made(name)
    with torch.device("meta"):
        output = model(x)
    assert torch.equal(output.y_hat, model(x).y_hat)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: TransformerStep(0), ValueError, "size must be an integer >= 1; got 0"),
        (lambda: TransformerStep(8, 0), ValueError, "n_outputs must be an integer >= 1; got 0"),
        (lambda: TransformerStep(8, n_heads=0), ValueError, "n_heads must be an integer >= 1; got 0"),
        (lambda: TransformerStep(8, n_heads=3), ValueError, "size must be a multiple of n_heads = 3; got 8"),
        (
            lambda: TransformerStep(8, memory="then"),
            ValueError,
            "memory must be one of 'initial', 'current'; got 'then'",
        ),
        (lambda: TransformerStep(8, causal=1), TypeError, "causal must be True or False; got 1"),
        (
            lambda: TransformerStep(8, update_dropout=1.5),
            ValueError,
            r"update_dropout must be a number in \[0, 1\]; got 1.5",
        ),
        (lambda: UniversalStep(7), ValueError, "size must be even; got 7"),
        (lambda: UniversalStep(8, n_heads=3), ValueError, "size must be a multiple of n_heads = 3; got 8"),
        (lambda: ReaderStep(8, n_heads=3), ValueError, "size must be a multiple of n_heads = 3; got 8"),
        (lambda: ReaderStep(8, 0), ValueError, "n_outputs must be an integer >= 1; got 0"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("step", "x", "message"),
    [
        (TransformerStep(8), torch.zeros(2, 3, 7), r"x must have shape \[batch, tokens, size = 8\]; got \[2, 3, 7\]"),
        (TransformerStep(8), torch.zeros(2, 8), r"x must have shape \[batch, tokens, size = 8\]; got \[2, 8\]"),
        (UniversalStep(8), (torch.zeros(2, 3, 8), torch.zeros(2, 4) > 0), r"padding must have shape \[2, 3\]; got"),
        (ReaderStep(8), (torch.zeros(2, 8), torch.zeros(2, 3, 7)), r"memory must have shape \[batch, tokens, size = 8"),
        (ReaderStep(8), (torch.zeros(2, 7), torch.zeros(2, 3, 8)), r"question must have shape \[2, 8\]; got \[2, 7\]"),
        (ReaderStep(8), (torch.zeros(2, 8), torch.zeros(2, 3, 8), torch.zeros(2, 4) > 0), r"padding must .*\[2, 3\]"),
    ],
)
def test_wrong_inputs_are_named(step, x, message):
    with pytest.raises(ValueError, match=message):
        PonderNet(step, 2)(x)


def padded_networks():
    for n_outputs in (1, 3):
        for causal in (False, True):
            yield TransformerStep(SIZE, n_outputs, causal=causal)
        yield TransformerStep(SIZE, n_outputs, memory="initial")
        yield UniversalStep(SIZE, n_outputs)


@pytest.mark.parametrize("value", [1e30, math.inf, -math.inf, math.nan])
def test_whatever_stands_at_padding_reaches_nobody_and_no_gradient(value):
    for step in padded_networks():
        model, x = PonderNet(alive(step), 3), numbers(BATCH, TOKENS, SIZE)
        dirty = x.masked_fill(PADDING[..., None], value)
        clean, found = model((x, PADDING)), model((dirty, PADDING))
        assert torch.equal(found.at(~PADDING).y_hat, clean.at(~PADDING).y_hat)
        assert torch.equal(found.halt_logits, clean.halt_logits)
        found.at(~PADDING).y_hat.sum().backward()
        assert all(weight.grad.isfinite().all() for weight in model.parameters() if weight.grad is not None)
    reader, question, memory = PonderNet(alive(ReaderStep(SIZE)), 3), numbers(BATCH, SIZE), numbers(BATCH, TOKENS, SIZE)
    dirty = memory.masked_fill(PADDING[..., None], value)
    assert torch.equal(reader((question, dirty, PADDING)).y_hat, reader((question, memory, PADDING)).y_hat)


@pytest.mark.parametrize("n_outputs", [1, 2, 3])
@pytest.mark.parametrize("rule", ["threshold", "quantile", "confidence", "entropy"])
def test_padding_halts_at_once_whether_answers_are_classes_or_questions(n_outputs, rule):
    model, x = PonderNet(alive(TransformerStep(SIZE, n_outputs)), 4), numbers(BATCH, TOKENS, SIZE)
    for classes in (False, True) if n_outputs > 1 and rule in ("confidence", "entropy") else (False,):
        parameters = {"classes": classes} if classes else {}
        assert (model.predict((x, PADDING), rule, **parameters).steps[PADDING] == 1).all()


def test_a_batch_of_a_data_loader_is_a_list():
    samples = [((torch.randn(TOKENS, SIZE), torch.arange(TOKENS) >= 4), torch.zeros(TOKENS)) for _ in range(5)]
    for x, y in torch.utils.data.DataLoader(samples, batch_size=2):  # the last has one sample
        assert isinstance(x, list)
        for step in (TransformerStep(SIZE), UniversalStep(SIZE)):
            model = PonderNet(step, 3).eval()
            output = model(x)
            assert torch.equal(output.y_hat, model(tuple(x)).y_hat)
            PonderLoss(BCE, 0.3)(output, y, ~x[1]).total.backward()
        question = x[0][:, 0]
        reader = PonderNet(ReaderStep(SIZE), 3).eval()
        assert torch.equal(reader([question, *x]).y_hat, reader((question, *x)).y_hat)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_padding_of_zeros_and_ones_is_refused_by_name(dtype):
    """In some libraries 1 stands for padding, in others for a token."""
    x, padding = numbers(BATCH, TOKENS, SIZE), PADDING.to(dtype)
    for step, inputs in ((TransformerStep(SIZE), (x, padding)), (ReaderStep(SIZE), (x[:, 0], x, padding))):
        with pytest.raises(TypeError, match="padding must be a bool"):
            PonderNet(step.double(), 2)(inputs)


@pytest.mark.parametrize(
    "x", [(), (1, 2, 3), {"tokens": torch.zeros(2, 3, 8)}, (None, None), (torch.zeros(2, 3, 8), 5)]
)
def test_inputs_of_another_kind_are_refused_by_name(x):
    with pytest.raises((TypeError, ValueError), match=r"\b(x|padding) must "):
        TransformerStep(8).encode(x)
    with pytest.raises((TypeError, ValueError), match=r"\b(x|memory) must "):
        ReaderStep(8).encode((torch.zeros(2, 8), *x) if len(x) == 3 else x)


def test_batches_and_sequences_may_be_empty():
    for batch, n_tokens in ((0, 3), (2, 0), (0, 0)):
        x, padding = torch.zeros(batch, n_tokens, SIZE), torch.zeros(batch, n_tokens, dtype=torch.bool)
        for step in (TransformerStep(SIZE), TransformerStep(SIZE, causal=True), UniversalStep(SIZE)):
            for inputs in (x, (x, padding)):
                model = PonderNet(step, 2)
                assert model(inputs).y_hat.shape == (2, batch, n_tokens)
                assert model.predict(inputs).steps.shape == (batch, n_tokens)
        reader, question = PonderNet(ReaderStep(SIZE), 2), torch.randn(batch, SIZE)
        for inputs in ((question, x), (question, x, padding)):
            assert reader(inputs).y_hat.isfinite().all()
            assert reader.predict(inputs).steps.shape == (batch,)


def test_a_network_that_was_made_without_memory_and_then_filled_is_the_same():
    x = torch.randn(BATCH, TOKENS, SIZE), PADDING
    model = PonderNet(TransformerStep(SIZE, 3), 2)
    with torch.device("meta"):
        empty = PonderNet(TransformerStep(SIZE, 3), 2)
    empty.to_empty(device="cpu").load_state_dict(model.state_dict())
    for found, wanted in zip(empty(x), model(x), strict=True):
        assert torch.equal(found, wanted)
