"""Steps that read by attention: against loops, one token at a time; and padding is never read."""

import math

import pytest
import torch

from examples.universal_transformer import UniversalStep
from ponder_course.research.alone_and_together.reader import ReaderStep
from ponder_utils.attention import TransformerStep
from ponder_utils.pondernet import PonderNet

BATCH, TOKENS, SIZE = 5, 6, 8
LENGTHS = torch.tensor([6, 1, 3, 5, 4])
PADDING = torch.arange(TOKENS) >= LENGTHS[:, None]
SCATTERED = torch.zeros(BATCH, TOKENS, dtype=torch.bool)
SCATTERED[0, 0] = SCATTERED[1, :3] = SCATTERED[2, [1, 4]] = SCATTERED[3] = True
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
def layer(step, h, read, padding, causal=False):
    """One step of the tokens of one sample: answers and halting logits [tokens, n_outputs + 1], next states.

    Tokens that are padding themselves are not moved.
    """
    states, said_and_halts = [], []
    for i, token in enumerate(h):
        if causal and padding[i]:
            states.append(token)
        else:
            n_read = i + 1 if causal else len(read)
            a = normalised(step.norm_attention, token + attend(step.attention, token, read[:n_read], padding))
            into, _, out = step.mlp
            between = (into.weight @ a + into.bias).clamp(min=0)
            states.append(normalised(step.norm_mlp, a + out.weight @ between + out.bias))
        said_and_halts.append(step.heads.weight @ states[-1] + step.heads.bias)
    return torch.stack(said_and_halts), torch.stack(states)


@heads
@both_ways
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padding", [None, PADDING, SCATTERED])
def test_the_layer_is_that_of_a_loop(n_heads, memory, causal, padding):
    step, x = alive(TransformerStep(SIZE, 3, n_heads, memory, causal=causal)), numbers(BATCH, TOKENS, SIZE)
    output = PonderNet(step, 3)(x if padding is None else (x, padding))
    assert all(part.isfinite().all() for part in output)
    for i in range(BATCH):
        h, unread = x[i], torch.zeros(TOKENS, dtype=torch.bool) if padding is None else padding[i]
        if unread.all():
            continue
        for n in range(3):
            wanted, h = layer(step, h, h if memory == "current" else x[i], unread, causal)
            torch.testing.assert_close(output.y_hat[n, i][~unread], wanted[~unread, :3])
            torch.testing.assert_close(output.halt_logits[n, i][~unread], wanted[~unread, 3])


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


def place_and_step(i, n):
    """Sines and cosines of the place i and of the step n, both counted from 1: [size]."""
    waves = torch.zeros(SIZE, dtype=torch.float64)
    for j in range(SIZE // 2):
        w = 10000 ** (2 * j / SIZE)
        waves[2 * j] = math.sin(i / w) + math.sin(n / w)
        waves[2 * j + 1] = math.cos(i / w) + math.cos(n / w)
    return waves


def test_the_universal_transformer_adds_place_and_step_before_each_layer():
    step, x = alive(UniversalStep(SIZE, 2, 2)), numbers(BATCH, TOKENS, SIZE)
    output = PonderNet(step, 3)((x, PADDING))
    for i in range(BATCH):
        h = x[i]
        for n in range(3):
            h = h + torch.stack([place_and_step(place, n + 1) for place in range(1, TOKENS + 1)])
            wanted, h = layer(step.layer, h, h, PADDING[i])
            asked = ~PADDING[i]
            torch.testing.assert_close(output.y_hat[n, i][asked], wanted[asked, :2], rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(output.halt_logits[n, i][asked], wanted[asked, 2], rtol=1e-5, atol=1e-5)


WITH_PADDING = {  # n_outputs -> step
    "reader": lambda n: ReaderStep(SIZE, n, 2),
    "transformer": lambda n: TransformerStep(SIZE, n, 2),
    "transformer, start": lambda n: TransformerStep(SIZE, n, 2, "initial"),
    "causal": lambda n: TransformerStep(SIZE, n, 2, causal=True),
    "universal": lambda n: UniversalStep(SIZE, n, 2),
}
with_padding = pytest.mark.parametrize("name", WITH_PADDING)
of_tokens = pytest.mark.parametrize("name", [name for name in WITH_PADDING if name != "reader"])


def made(name, n_outputs, padding=PADDING):
    """A network, and an input of tokens with padding, behind a question if it is a reader."""
    torch.manual_seed(8)
    x = numbers(BATCH, TOKENS, SIZE), padding
    if name == "reader":
        x = (numbers(BATCH, SIZE, seed=1), *x)
    return PonderNet(alive(WITH_PADDING[name](n_outputs)), 7), x


def with_at_padding(x, value):
    """The input with other numbers in the padding."""
    *before, tokens, padding = x
    return (*before, tokens.masked_fill(padding[..., None], value), padding)


@with_padding
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("value", [-1e4, math.inf, math.nan])
def test_whatever_stands_at_padding_reaches_nobody_and_no_gradient(name, n_outputs, grad, value):
    """To the last bit; also where a sample is nothing but padding, which changes no other."""
    model, x = made(name, n_outputs)
    emptier = PADDING.clone()
    emptier[[1, 3]] = True
    outputs = []
    with torch.set_grad_enabled(grad):
        for inputs in (x, (*x[:-1], emptier)):
            clean, found = model(inputs), model(with_at_padding(inputs, value))
            predicted = (model.predict(given, "quantile") for given in (inputs, with_at_padding(inputs, value)))
            for one, two in (*zip(clean, found, strict=True), *zip(*(each[:4] for each in predicted), strict=True)):
                assert one.isfinite().all()
                assert torch.equal(one, two)
            outputs.append(found)
    for one, two in zip(*outputs, strict=True):
        torch.testing.assert_close(one[:, [0, 2, 4]], two[:, [0, 2, 4]], rtol=0, atol=1e-9)
    if grad:
        found.y_hat.sum().backward()
        assert all(weight.grad.isfinite().all() for weight in model.parameters() if weight.grad is not None)


@of_tokens
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("rule", "parameters", "soonest"),  # the first step at which a rule can speak at all
    [
        ("threshold", {}, 1),
        ("quantile", {}, 1),
        ("sample", {}, 1),
        ("most_probable", {}, 1),
        ("confidence", {"q": 1.0}, 1),
        ("entropy", {"tolerance": 0.0}, 1),
        ("settled", {"tolerance": 0.0}, 2),
        ("unchanged", {"t": 2}, 3),
    ],
)
def test_padding_halts_at_once_and_keeps_nobody_waiting(name, n_outputs, dtype, rule, parameters, soonest):
    model, (tokens, padding) = made(name, n_outputs)
    on_answers = rule in ("confidence", "entropy", "settled", "unchanged")
    for classes in (False, True) if on_answers and n_outputs > 1 else (False,):
        options = parameters | ({"classes": classes} if on_answers else {})
        found = model.to(dtype).predict((tokens.to(dtype), padding), rule, check_every=1, **options)
        assert (found.steps[padding] == soonest).all()
        if rule != "most_probable":  # which has to see that no later step is more probable
            assert torch.equal(found.computed, found.steps.masked_fill(padding, 1).amax(1))


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
    drawn = torch.get_rng_state()
    awake.train()(z, h)
    assert torch.equal(torch.get_rng_state(), drawn)  # no random number where nobody sleeps


X = torch.zeros(2, 3, 8)
QUESTION = torch.zeros(2, 8)
FOUR = torch.zeros(2, 4, dtype=torch.bool)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: TransformerStep(0), ValueError, "size .*0"),
        (lambda: TransformerStep(8, 0), ValueError, "n_outputs .*0"),
        (lambda: TransformerStep(8, n_heads=0), ValueError, "n_heads .*0"),
        (lambda: TransformerStep(8, n_heads=3), ValueError, "size .*n_heads = 3.*8"),
        (lambda: TransformerStep(8, memory="then"), ValueError, "memory .*'initial', 'current'.*'then'"),
        (lambda: TransformerStep(8, causal=1), TypeError, "causal .*1"),
        (lambda: TransformerStep(8, update_dropout=1.5), ValueError, r"update_dropout .*1.5"),
        (lambda: UniversalStep(7), ValueError, "size .*7"),
        (lambda: ReaderStep(8, n_heads=3), ValueError, "size .*n_heads = 3.*8"),
        (lambda: TransformerStep(8).encode(torch.zeros(2, 3, 7)), ValueError, r"x .*size = 8\].*\[2, 3, 7\]"),
        (lambda: TransformerStep(8).encode(QUESTION), ValueError, r"x .*\[2, 8\]"),
        (lambda: TransformerStep(8).encode((None, None)), ValueError, "x .*NoneType"),
        (lambda: TransformerStep(8).encode((X, FOUR, FOUR)), TypeError, "x .*3 parts"),
        (lambda: TransformerStep(8).encode((X, 5)), TypeError, "padding .*int"),
        (lambda: TransformerStep(8).encode((X, FOUR[:, 1:].byte())), TypeError, "padding .*uint8"),  # 1 is what, there?
        (lambda: UniversalStep(8).encode((X, FOUR)), ValueError, r"padding .*\[2, 3\].*\[2, 4\]"),
        (lambda: ReaderStep(8).encode((QUESTION, X[..., 1:])), ValueError, "memory .*size = 8"),
        (lambda: ReaderStep(8).encode((QUESTION[:, 1:], X)), ValueError, r"question .*\[2, 8\].*\[2, 7\]"),
        (lambda: ReaderStep(8).encode((QUESTION, X, FOUR)), ValueError, r"padding .*\[2, 3\]"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@with_padding
@pytest.mark.parametrize(("batch", "n_tokens"), [(0, 3), (2, 0), (0, 0)])
def test_batches_and_sequences_may_be_empty(name, batch, n_tokens):
    x, padding = torch.zeros(batch, n_tokens, SIZE), torch.zeros(batch, n_tokens, dtype=torch.bool)
    question, shape = [torch.randn(batch, SIZE)] * (name == "reader"), (batch,) if name == "reader" else x.shape[:2]
    model = PonderNet(WITH_PADDING[name](1), 2)
    for inputs in ((*question, x), (*question, x, padding)):
        output = model(inputs)
        assert output.y_hat.shape == (2, *shape)
        assert output.y_hat.isfinite().all()
        assert model.predict(inputs).steps.shape == shape
