import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import act
from torch import nn
from torch.func import functional_call

from ponder_utils.act import ACT, act_average
from ponder_utils.cells import GRUCell, RNNCell, encode_input
from ponder_utils.halting import PonderOutput, halting_log_probs
from ponder_utils.losses import ACTLoss
from ponder_utils.states import hidden_state

CELLS = (nn.RNNCell, nn.GRUCell, nn.LSTMCell, RNNCell, GRUCell)
WEIGHTS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
cells = pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.__module__.split('.')[0]}-{cell.__name__}")


class Scripted(nn.Module):
    """Reads its halting logits from its input. State n is the n-th logit, a one-hot n, and a 1.

    It counts the rows it is given.
    """

    def __init__(self, max_steps):
        super().__init__()
        self.input_size, self.hidden_size = max_steps + 1, max_steps + 2
        self.rows = 0

    def forward(self, z, state):
        self.rows += len(z)
        n = torch.zeros(len(z), dtype=torch.long)
        if state is not None:
            n = torch.where(z[:, -1] == 1, n, state[:, 1:-1].argmax(1) + 1)
        one_hot = nn.functional.one_hot(n, self.hidden_size - 2).to(z.dtype)
        return torch.cat([z.gather(1, n[:, None]), one_hot, torch.ones_like(z[:, :1])], 1)


def scripted(logits, epsilon=0.01):
    """Return an ACT that answers with its mean-field state, and its output for halting logits [T, batch, M]."""
    max_steps = logits.shape[2]
    model = ACT(Scripted(max_steps), max_steps + 2, epsilon=epsilon, max_steps=max_steps).to(logits.dtype)
    with torch.no_grad():
        model.output.weight.copy_(torch.eye(max_steps + 2))
        model.output.bias.zero_()
        model.halting.weight.copy_(torch.eye(max_steps + 2)[:1])
        model.halting.bias.zero_()
    return model, model(logits)


def weights(output):
    """p_n [T, batch, M], read off the one-hot part of the mean-field states."""
    return output.y_hat[..., 1:-1]


def random_act(cell, n_outputs=1, scale=2.0, bias=-1.0, epsilon=0.01, max_steps=8):
    model = ACT(cell(4, 5), n_outputs, epsilon=epsilon, max_steps=max_steps).double()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(scale)
        model.halting.bias.fill_(bias)
    return model


def parts(state):
    return state if isinstance(state, tuple) else (state,)


def by_reference(model, x):
    """Sample by sample: [([(y_t, N(t), R(t), [h_n])], last state)]."""

    def cell(x, state):
        return model.cell(encode_input(model.cell, torch.tensor([x], dtype=torch.float64)), state)

    with torch.no_grad():
        return [
            act(
                cell,
                lambda s: model.output(hidden_state(s)[0]),
                lambda s: model.halting(hidden_state(s)[0]).item(),
                x[:, i].tolist(),
                model.epsilon,
                model.max_steps,
            )
            for i in range(x.shape[1])
        ]


@cells
@given(
    seed=st.integers(0, 10**6),
    shape=st.tuples(st.integers(1, 4), st.integers(0, 6)),
    scale=st.floats(0.5, 6),
    bias=st.floats(-4, 2),
    epsilon=st.floats(0.001, 0.5),
    max_steps=st.integers(1, 8),
    n_outputs=st.sampled_from([1, 3]),
)
def test_act_equals_the_definition_sample_by_sample(cell, seed, shape, scale, bias, epsilon, max_steps, n_outputs):
    torch.manual_seed(seed)
    model = random_act(cell, n_outputs, scale, bias, epsilon, max_steps)
    x = torch.randn(*shape, 3, dtype=torch.float64)
    got = model(x)
    assert got.y_hat.shape == (shape if n_outputs == 1 else (*shape, n_outputs))
    for i, (outputs, state) in enumerate(by_reference(model, x)):
        y, n, remainder, _ = zip(*outputs, strict=True)
        assert got.steps[:, i].tolist() == list(n)
        assert got.remainder[:, i].tolist() == pytest.approx(remainder, rel=1e-9)
        torch.testing.assert_close(got.y_hat[:, i].reshape(shape[0], -1), torch.stack(y))
        for part, expected in zip(parts(got.state), parts(state), strict=True):
            torch.testing.assert_close(part[i : i + 1], expected)
    first, kept = model(x[:1]), model(x[:1]).state
    rest = [model(x[1:], first.state)] if len(x) > 1 else []
    for field in ("y_hat", "steps", "remainder"):
        torch.testing.assert_close(torch.cat([getattr(part, field) for part in (first, *rest)]), getattr(got, field))
    assert all(map(torch.equal, parts(first.state), parts(kept)))


@pytest.mark.parametrize("dtype", WEIGHTS)
def test_weights_sum_to_one_where_m_cuts_thinking_short(dtype):
    """In half precision a sum of as many stops growing as soon as its parts are below half of its last digit."""
    _, got = scripted(torch.full((2, 3, 500), -7.0, dtype=dtype))
    assert (got.steps == 500).all()
    tolerance = max(torch.finfo(dtype).eps, 1e-5)
    assert got.state.dtype == got.y_hat.dtype == dtype
    torch.testing.assert_close(got.state[:, -1].double(), torch.ones(3).double(), rtol=0, atol=tolerance)
    expected = 1 - 499 * torch.tensor(-7.0).sigmoid()
    torch.testing.assert_close(got.remainder, expected.expand(2, 3).to(got.remainder), rtol=1e-4, atol=0)


@pytest.mark.parametrize("dtype", WEIGHTS)
@pytest.mark.parametrize(
    ("h", "epsilon", "expected"),
    [
        ([0.1, 0.3, 0.5, 0.5], 0.11, [0.1, 0.3, 0.6, 0.0]),
        ([0.5, 0.5, 0.5, 0.5], 0.5, [1.0, 0.0, 0.0, 0.0]),  # the sum is 1 - epsilon
        ([0.5, 0.5, 0.5, 0.5], 0.49, [0.5, 0.5, 0.0, 0.0]),
        ([0.1, 0.1, 0.1, 0.1], 0.01, [0.1, 0.1, 0.1, 0.7]),
    ],
)
def test_worked_by_hand(dtype, h, epsilon, expected):
    """By a cell, and around a step."""
    logits, expected = torch.tensor(h).logit().to(dtype), torch.tensor(expected)
    _, got = scripted(logits[None, None], epsilon)
    output = PonderOutput(torch.eye(4, dtype=dtype)[:, None], logits[:, None], halting_log_probs(logits[:, None]))
    around = act_average(output, epsilon)
    assert got.steps.item() == around.steps.item() == (expected > 0).sum()
    assert got.remainder.dtype == around.remainder.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    last = expected[got.steps.item() - 1]
    pairs = [(weights(got)[0, 0], expected), (around.y_hat[0, 0], expected)]
    for found, wanted in (*pairs, (got.remainder[0, 0], last), (around.remainder[0, 0], last)):
        torch.testing.assert_close(found.float(), wanted, rtol=0, atol=max(2 * torch.finfo(dtype).eps, 1e-6))


@cells
def test_gradients_against_finite_differences(cell):
    model = random_act(cell, scale=3.0, bias=-0.2, epsilon=0.1, max_steps=3)
    x = torch.randn(2, 8, 3, dtype=torch.float64, requires_grad=True)
    halted = [torch.tensor(h).cumsum(0) for outputs, _ in by_reference(model, x) for *_, h in outputs]
    assert min((s - (1 - model.epsilon)).abs().min() for s in halted) > 1e-3  # so N stays what it is
    assert {2, 3} <= {len(s) for s in halted}
    names, values = zip(*model.named_parameters(), strict=True)

    def run(x, *values):
        y_hat, _, remainder, state = functional_call(model, dict(zip(names, values, strict=True)), (x,))
        return y_hat, remainder, *parts(state)

    assert torch.autograd.gradcheck(run, (x, *values), fast_mode=True)


@pytest.mark.parametrize("batch_size", [0, 128])
def test_samples_that_have_halted_cost_nothing_more(batch_size):
    model, got = scripted(2 * torch.randn(3, batch_size, 9))
    assert got.y_hat.shape == (3, batch_size, 11)
    assert got.steps.shape == got.remainder.shape == (3, batch_size)
    assert model.cell.rows == got.steps.sum()


def count(x, state):
    return (0,) if state is None else (state[0] + 1,)


def of(numbers):
    return lambda state: numbers[int(state[0])]


@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.integers(1, 9),
    st.sampled_from([0.01, 0.3, 1.0]),
    st.sampled_from([(), (3,)]),
)
def test_act_around_a_step_equals_the_definition(seed, shape, n_steps, epsilon, classes):
    """For each sample, and for each place that halts by itself."""
    torch.manual_seed(seed)
    a = torch.randn(n_steps, *shape, dtype=torch.float64)
    y_hat = torch.randn(n_steps, *shape, *classes, dtype=torch.float64)
    got = act_average(PonderOutput(y_hat, a, halting_log_probs(a)), epsilon)
    assert got.y_hat.shape == (1, *shape, *classes)
    assert got.steps.shape == got.remainder.shape == (1, *shape)
    assert got.state is None
    answers, found = y_hat.flatten(1, len(shape)), got.y_hat.flatten(0, len(shape))
    for i, logits in enumerate(a.flatten(1).T.tolist()):
        ((y, steps, remainder, _),), _ = act(count, of(answers[:, i]), of(logits), [()], epsilon, n_steps)
        torch.testing.assert_close(found[i], y)
        assert got.steps.flatten()[i].item() == steps
        assert got.remainder.flatten()[i].item() == pytest.approx(remainder, abs=1e-12)


def test_a_mask_leaves_padded_time_steps_out_of_loss_and_cost():
    model, lengths = random_act(nn.GRUCell), torch.tensor([4, 1, 2])
    x, mask = torch.randn(4, 3, 3, dtype=torch.float64), torch.arange(4)[:, None] < lengths
    y = torch.randint(0, 2, (4, 3)).double()
    loss = ACTLoss(nn.BCEWithLogitsLoss(reduction="none"), 0.1)
    found = loss(model(x), y.where(mask, torch.nan), mask)
    alone = [loss(model(x[:length, i : i + 1]), y[:length, i : i + 1]) for i, length in enumerate(lengths.tolist())]
    wanted = torch.stack([torch.stack(terms) for terms in alone]).mean(0)
    torch.testing.assert_close(torch.stack(found), wanted)
    torch.testing.assert_close(torch.stack(loss(model(x), y, mask | True)), torch.stack(loss(model(x), y)))


model = ACT(RNNCell(4, 8), max_steps=5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ACT(nn.LSTM(4, 8)), TypeError, "cell .*LSTM"),
        (lambda: ACT(RNNCell(4, 8), epsilon=0.0), ValueError, "epsilon .*0.0"),
        (lambda: model(torch.zeros(2, 3)), TypeError, r"x .*\[2, 3\]"),
        (lambda: model(torch.zeros(1, 2, 4)), ValueError, r"x .*input_size - 1 = 3\].*\[1, 2, 4\]"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
