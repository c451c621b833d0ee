"""Steps that read by attention: against loops, one token at a time; and padding is never read."""

import pytest
import torch

from ponder_course.common.attention import TransformerStep
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
    """What one query [size] hears from those tokens [tokens, size] that are no padding."""
    read = read[~padding[: len(read)]][None]
    return attention(query[None, None], read, read)[0][0, 0]


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
            a = step.norm_attention(token + attend(step.attention, token, read[:n_read], padding))
            states.append(step.norm_mlp(a + step.mlp(a)))
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


@both_ways
@pytest.mark.parametrize("update_dropout", [0.3, 1.0])
def test_tokens_sleep_in_training_only_as_often_as_they_shall(memory, update_dropout):
    step = alive(TransformerStep(SIZE, 3, 2, memory, update_dropout))
    z, h = step.encode(numbers(500, TOKENS, SIZE))
    awake = step.move(z, h)
    assert not (awake == h).any()
    y_hat, new, a = step.train()(z, h)
    unmoved = (new == h).all(2)
    assert unmoved.double().mean().item() == pytest.approx(update_dropout, abs=0.03)
    torch.testing.assert_close(new, torch.where(unmoved[..., None], h, awake))  # a token sleeps as a whole
    torch.testing.assert_close((y_hat, a), step.heads(new))  # what it knows, it says
    assert update_dropout == 1 or not torch.equal(unmoved, (step.move(z, h) == h).all(2))  # drawn anew


X = torch.zeros(2, 3, 8)
FOUR = torch.zeros(2, 4, dtype=torch.bool)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: TransformerStep(8, n_heads=3), ValueError, "size .*n_heads = 3.*8"),
        (lambda: TransformerStep(8).encode(torch.zeros(2, 3, 7)), ValueError, r"x .*size = 8\].*\[2, 3, 7\]"),
        (lambda: TransformerStep(8).encode((X, FOUR, FOUR)), TypeError, "x .*3 parts"),
        (lambda: TransformerStep(8).encode((X, FOUR[:, 1:].byte())), TypeError, "padding .*uint8"),  # 1 is what, there?
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
