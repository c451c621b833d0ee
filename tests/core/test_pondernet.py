import collections
import dataclasses
import itertools
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import halting, most_probable_step, quantile_step, threshold_step
from scipy.stats import chisquare
from scripted import Scripted, draws, scripted
from torch import nn

from benchmarks.peers import copy_cell
from benchmarks.timing import peak_bytes
from ponder_course.research.ways_to_stop.supervision import JudgedStep
from ponder_utils.attention import TransformerStep
from ponder_utils.cells import GRUCell
from ponder_utils.halting import expected_steps, halting_log_probs
from ponder_utils.pondernet import LONG_STRIDE, MANY_ROWS, SHORT_STRIDE, PonderNet
from ponder_utils.steps import EncodedStep, GRUStep, RecurrentStep, RNNStep, Step

STEPS = (RNNStep, GRUStep)
RULES = ("sample", "quantile", "threshold", "most_probable", "fixed", "confidence", "settled")


def parameters_of(rule, step):
    return {"step": step} if rule == "fixed" else {}


cases = given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 12))


@cases
def test_deterministic_rules_equal_the_definition(seed, batch_size, max_steps):
    logits = draws(seed, batch_size, max_steps)
    p = [halting(row) for row in logits.double().tolist()]
    for q in (0.1, 0.5, 0.9, 1.0):
        got, cost = scripted(logits, "quantile", q=q, check_every=1)
        assert got.steps.tolist() == [quantile_step(row, q) for row in p] or q == 1.0
        assert cost == got.computed.sum() == got.steps.sum()
    for q in (0.1, 0.5, 0.9):
        got, cost = scripted(logits, "threshold", q=q, check_every=1)
        assert got.steps.tolist() == [threshold_step(row, q) for row in logits.double().tolist()]
        assert cost == got.computed.sum() == got.steps.sum()
    got, cost = scripted(logits, "most_probable", check_every=1)
    assert got.steps.tolist() == [most_probable_step(row) for row in p]
    assert cost == got.computed.sum()
    assert (got.computed >= got.steps).all()
    for step in range(1, max_steps + 1):
        got, cost = scripted(logits, "fixed", step=step)
        assert (got.steps == step).all()
        assert cost == batch_size * step


@cases
def test_how_often_one_checks_changes_the_cost_and_nothing_else(seed, batch_size, max_steps):
    logits = draws(seed, batch_size, max_steps)
    for rule in ("sample", "quantile", "threshold", "most_probable"):

        def run(check_every, rule=rule):
            return scripted(logits, rule, generator=torch.Generator().manual_seed(seed), check_every=check_every)

        every_step, fewest = run(1)
        assert fewest == every_step.computed.sum()
        for check_every in (2, 3, max_steps, None):
            got, cost = run(check_every)
            for part in ("y_hat", "steps", "p_halt"):
                torch.testing.assert_close(getattr(got, part), getattr(every_step, part))
            assert cost == got.computed.sum()
            stride = check_every or LONG_STRIDE
            rounded = (every_step.computed + stride - 1) // stride * stride
            assert torch.equal(got.computed, rounded.clamp(max=max_steps))


@cases
def test_expectation_averages_the_answers(seed, batch_size, max_steps):
    logits = draws(seed, batch_size, max_steps)
    p = halting_log_probs(logits.T).exp()
    n = torch.arange(1.0, max_steps + 1)[:, None]
    model = PonderNet(Scripted(), max_steps)
    got = model.expectation(logits)
    torch.testing.assert_close(got.y_hat, (n * p).sum(0))
    assert model.step.rows == got.computed.sum() == got.steps.sum() == batch_size * max_steps
    assert (got.p_halt == 1).all()
    torch.testing.assert_close(model.expectation(logits, torch.sigmoid).y_hat, (n.sigmoid() * p).sum(0))


def test_most_probable_stops_as_soon_as_no_later_step_can_win():
    got, cost = scripted(torch.tensor([[0.0, 0.0, 0.0, 0.0], [-1.0, 3.0, 0.0, 0.0]]), "most_probable", check_every=1)
    assert got.steps.tolist() == [1, 2]
    assert got.computed.tolist() == [1, 2]
    assert cost == 3


@pytest.mark.parametrize("seed", range(3))
def test_sampled_steps_follow_p_n(seed):
    row = draws(seed, 1, 8, scale=1)
    got, _ = scripted(row.expand(20_000, 8), "sample", generator=torch.Generator().manual_seed(seed))
    counts = torch.bincount(got.steps, minlength=9)[1:]
    expected = 20_000 * torch.tensor(halting(row[0].double().tolist()), dtype=torch.float64)
    assert chisquare(counts.double(), expected * counts.sum() / expected.sum()).pvalue > 1e-3


def test_chi_square_would_notice_unconditional_coins():
    """The rule of one published implementation, a coin with bias p_n at each step, does not pass this test."""
    row = draws(0, 1, 8, scale=1)
    p = torch.tensor(halting(row[0].double().tolist()), dtype=torch.float64)
    heads = torch.rand(20_000, 8, generator=torch.Generator().manual_seed(0)) < p
    heads[:, -1] = True
    counts = torch.bincount(heads.float().argmax(1), minlength=8).double()
    assert chisquare(counts, 20_000 * p / p.sum()).pvalue < 1e-12


@pytest.mark.parametrize("step", STEPS)
def test_same_seed_same_answer_whoever_else_is_in_the_batch(step):
    torch.manual_seed(0)
    model, x = PonderNet(step(6, 16), 12), torch.randn(50, 6)
    one = model.predict(x, generator=torch.Generator().manual_seed(3))
    two = model.predict(x, generator=torch.Generator().manual_seed(3))
    other = model.predict(x, generator=torch.Generator().manual_seed(4))
    assert all(torch.equal(a, b) for a, b in zip(one[:4], two[:4], strict=True))
    assert not torch.equal(one.steps, other.steps)
    alone = torch.cat([model.predict(x[i : i + 1], "quantile").y_hat for i in range(50)])
    torch.testing.assert_close(model.predict(x, "quantile").y_hat, alone)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("rule", RULES)
def test_prediction_equals_the_forward_pass(step, rule):
    model, x = PonderNet(step(6, 16, n_outputs=3), 7), torch.randn(20, 2, 3)
    y_hat, _, log_p = model(x)
    assert y_hat.shape == (7, 20, 3)
    got = model.predict(x, rule, **parameters_of(rule, 4))
    torch.testing.assert_close(got.y_hat, y_hat[got.steps - 1, torch.arange(20)])
    torch.testing.assert_close(got.p_halt, log_p.exp()[got.steps - 1, torch.arange(20)])
    torch.testing.assert_close(model.expectation(x).y_hat, (log_p.exp()[..., None] * y_hat).sum(0))


@pytest.mark.parametrize(("step", "cell"), [(RNNStep, nn.RNNCell), (GRUStep, nn.GRUCell)])
def test_steps_are_torchs_cells(step, cell):
    model, x = PonderNet(step(5, 8), 4), torch.randn(3, 5)
    theirs = cell(5, 8)
    copy_cell(theirs, model.step.cell)
    h, y_hat = torch.zeros(3, 8), model(x).y_hat
    for n in range(4):
        h = theirs(x, h)
        torch.testing.assert_close(y_hat[n], model.step.heads(h)[0])


@pytest.mark.parametrize("step", STEPS)
def test_step_1_sees_the_input(step):
    y_hat, _, log_p = PonderNet(step(5, 8), 3)(torch.randn(64, 5))
    assert len(y_hat[0].unique()) > 60
    assert len(log_p[0].unique()) > 60


def test_work_is_done_once_and_none_is_thrown_away():
    class Counting(GRUCell):
        starts = calls = 0

        def _with_biases(self, from_x):
            self.starts += 1
            return super()._with_biases(from_x)

        def forward(self, z, h):
            self.calls += 1
            return super().forward(z, h)

    model = PonderNet(RecurrentStep(Counting(5, 8)), 6)
    cell = model.step.cell
    model(torch.randn(3, 5))
    assert (cell.starts, cell.calls) == (1, 6)
    model.predict(torch.randn(3, 5), "fixed", step=2)
    assert (cell.starts, cell.calls) == (2, 8)


def test_a_prediction_takes_no_memory_for_steps_that_nobody_takes():
    def step(x, h):
        return x, x, torch.full((len(x),), 5.0)

    x = torch.randn(64, 1000)

    def peak(max_steps):
        return peak_bytes(lambda: PonderNet(step, max_steps).predict(x, "quantile"))

    assert peak(100) < 1.1 * peak(10)


def test_states_may_be_named_tuples():
    class State(NamedTuple):
        h: torch.Tensor
        n: torch.Tensor

    def step(x, state):
        state = State(x, torch.zeros(len(x))) if state is None else State(state.h * 0.5, state.n + 1)
        return state.h[:, 0], state, state.n - 2

    model, x = PonderNet(step, 12), torch.randn(9, 3)
    for rule in RULES:
        got = model.predict(x, rule, **parameters_of(rule, 4))
        torch.testing.assert_close(got.y_hat, model(x).y_hat[got.steps - 1, range(9)])


@dataclasses.dataclass(frozen=True)
class Parts:
    h: torch.Tensor
    n: torch.Tensor
    name: str = "state"
    depth: int = 0


def next_state(kind, x, state):
    """Return a state of this kind: half of h, and the number of steps."""
    if state is None:
        h, n, depth = x, torch.zeros(len(x)), 0
    elif isinstance(state, Parts):
        h, n, depth = state.h, state.n, state.depth
    else:
        h, n, depth = state.values() if isinstance(state, dict) else state
    h, n, depth = h * 0.5, n + 1, depth + 1
    if kind is Parts:
        return Parts(h, n, depth=depth)
    if kind is collections.OrderedDict:
        return kind(h=h, n=n, depth=depth)
    return kind((h, n, depth))


@pytest.mark.parametrize("kind", [list, tuple, collections.OrderedDict, Parts])
@pytest.mark.parametrize("rule", RULES)
def test_states_may_be_lists_dicts_and_dataclasses_with_a_number_among_their_parts(kind, rule):
    def step(x, state):
        state = next_state(kind, x, state)
        h, n, depth = (
            (state.h, state.n, state.depth) if kind is Parts else state.values() if isinstance(state, dict) else state
        )
        assert type(state) is kind
        assert (n == depth).all()
        return h[:, 0], state, x[:, 1] + n - 4

    model, x = PonderNet(step, 9), torch.randn(9, 3)
    got = model.predict(x, rule, check_every=1, **parameters_of(rule, 4))
    torch.testing.assert_close(got.y_hat, model(x).y_hat[got.steps - 1, range(9)])


class Attention(Step):
    """Tokens and a mask of those that are there: the answer is read from the mean of the tokens that are."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
        self.heads = nn.Linear(8, 2)

    def encode(self, x):
        tokens, padding = x.values() if isinstance(x, dict) else x
        return padding, tokens

    def forward(self, padding, h):
        h = self.layer(h, src_key_padding_mask=padding)
        there = (~padding).to(h.dtype)[..., None]
        y_hat, halt_logit = self.heads((h * there).sum(1) / there.sum(1)).unbind(1)
        return y_hat, h, 3 * halt_logit


@pytest.mark.parametrize("kind", [tuple, list, lambda parts: dict(zip(("tokens", "mask"), parts, strict=True))])
def test_inputs_may_be_tuples_and_dicts(kind):
    torch.manual_seed(0)
    model = PonderNet(Attention(), 8)
    tokens, padding = torch.randn(7, 5, 8), torch.arange(5) >= torch.tensor([5, 1, 2, 3, 4, 5, 3])[:, None]
    output = model(kind([tokens, padding]))
    assert output.y_hat.shape == output.log_p.shape == (8, 7)
    for rule in RULES:
        got = model.predict(kind([tokens, padding]), rule, check_every=1, **parameters_of(rule, 4))
        torch.testing.assert_close(got.y_hat, output.y_hat[got.steps - 1, range(7)])
    shorter = model(kind([tokens[1:2, :1], padding[1:2, :1]])).y_hat  # what is padded changes nothing
    torch.testing.assert_close(output.y_hat[:, 1:2], shorter)
    torch.testing.assert_close(
        model.expectation(kind([tokens, padding])).y_hat, (output.log_p.exp() * output.y_hat).sum(0)
    )


class Doubled(GRUStep):
    def forward(self, z, h):
        y_hat, h, halt_logit = super().forward(z, h)
        return 2 * y_hat, h, halt_logit


def inside_out(step):
    return EncodedStep(nn.Identity(), EncodedStep(nn.Identity(), step))


@pytest.mark.parametrize("around", [lambda step: step, inside_out])
def test_a_forward_of_a_subclass_is_called_at_every_step(around):
    plain, doubled, x = GRUStep(4, 8), Doubled(4, 8), torch.randn(6, 4)
    doubled.load_state_dict(plain.state_dict())
    y_hat, y_hat_doubled = (PonderNet(around(step), 5)(x).y_hat for step in (plain, doubled))
    torch.testing.assert_close(y_hat_doubled, 2 * y_hat)
    got = PonderNet(around(doubled), 5).predict(x, "fixed", step=3)
    torch.testing.assert_close(got.y_hat, 2 * y_hat[2])


@pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning")  # of torch 2.9, at the first step
@pytest.mark.parametrize("register", ["forward_hook", "forward_pre_hook", "full_backward_pre_hook"])
def test_hooks_on_the_cell_of_a_step_fire_at_every_step(register):
    model, x, fired = PonderNet(GRUStep(4, 8), 5), torch.randn(6, 4, requires_grad=True), []
    getattr(model.step.cell, f"register_{register}")(lambda *_: fired.append(1))
    model(x).y_hat.sum().backward()
    assert len(fired) == 5


def test_a_forward_that_is_put_on_a_step_is_called():
    model, x, calls = PonderNet(GRUStep(4, 8), 5), torch.randn(6, 4), []
    forward = model.step.forward
    model.step.forward = lambda z, h: calls.append(1) or forward(z, h)
    model(x)
    assert len(calls) == 5


@pytest.mark.parametrize("rule", RULES)
def test_the_default_dtype_is_the_users(rule):
    torch.set_default_dtype(torch.bfloat16)
    try:
        model = PonderNet(RNNStep(4, 8), 5)
        got = model.predict(torch.randn(6, 4), rule, **parameters_of(rule, 3))
    finally:
        torch.set_default_dtype(torch.float32)
    assert got.y_hat.dtype in (torch.bfloat16, torch.float32)
    assert got.p_halt.dtype == torch.float32


def test_many_rows_are_looked_at_more_often_than_few():
    logits = draws(0, MANY_ROWS + 1, 12, scale=1)
    got, cost = scripted(logits, "quantile")
    exact, fewest = scripted(logits, "quantile", check_every=1)
    assert torch.equal(got.steps, exact.steps)
    assert fewest <= cost == got.computed.sum()
    assert got.computed.min() == SHORT_STRIDE
    assert (got.computed - exact.computed).max() < LONG_STRIDE


class Doubling(GRUStep):
    """Reads twice the answer."""

    def read(self, h):
        y_hat, halt_logit = super().read(h)
        return 2 * y_hat, halt_logit


class OneByOne(GRUStep):
    reads_together = False


class Backwards(GRUStep):
    """In the paper's form, with a state turned around."""

    def forward(self, z, h):
        y_hat, h, halt_logit = super().forward(z, h)
        return y_hat, h.flip(1), halt_logit


def test_a_step_may_change_how_it_moves_reads_or_both():
    plain, x = GRUStep(4, 8), torch.randn(6, 4)
    steps = {kind: kind(4, 8) for kind in (Doubling, OneByOne, Backwards)}
    for step in steps.values():
        step.load_state_dict(plain.state_dict())
    wanted = PonderNet(plain, 5)(x)
    torch.testing.assert_close(PonderNet(steps[Doubling], 5)(x).y_hat, 2 * wanted.y_hat)
    torch.testing.assert_close(PonderNet(steps[OneByOne], 5)(x), wanted)
    z, h = plain.encode(x)
    for y_hat, halt_logit in zip(*PonderNet(steps[Backwards], 5)(x)[:2], strict=True):
        one, h, other = plain(z, h)
        h = h.flip(1)
        torch.testing.assert_close((y_hat, halt_logit), (one, other))


def test_states_are_read_together_once_or_one_by_one():
    for kind, n_reads in ((GRUStep, 1), (OneByOne, 5), (Backwards, 5)):
        step, reads = kind(4, 8), []
        step.heads.register_forward_hook(lambda *_, reads=reads: reads.append(1))
        PonderNet(step, 5)(torch.randn(6, 4))
        assert len(reads) == n_reads


@pytest.mark.parametrize("kind", [*STEPS, Doubling, OneByOne, Backwards])
@pytest.mark.parametrize("batch_size", [0, 1, 7])
def test_the_state_of_the_step_that_answers_is_returned(kind, batch_size):
    model, x = PonderNet(kind(4, 8), 9).eval(), torch.randn(batch_size, 4)
    for rule, check_every in itertools.product(("quantile", "most_probable"), (None, 1, 4)):
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


def test_the_state_of_places_that_halt_alone_is_refused():
    with pytest.raises(ValueError, match=r"halt_logit \[batch\]"):
        PonderNet(TransformerStep(8), 3).predict(torch.randn(2, 3, 8), "quantile", keep_state=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda bias: GRUStep(4, 8, 3, bias),
        lambda bias: RecurrentStep(torch.nn.LSTMCell(4, 8), halting_bias=bias),
        lambda bias: RNNStep(4, 8, halting_bias=bias),
    ],
)
def test_the_halting_bias_decides_how_long_an_untrained_network_thinks(make):
    x = torch.randn(64, 4)
    steps = [expected_steps(PonderNet(make(bias), 20)(x).log_p).mean().item() for bias in (-4.0, 0.0, 4.0)]
    assert steps[0] > 10 > steps[1] > 1.1 > steps[2]
    assert make(-4.0).heads.bias[-1] == -4.0
    with pytest.raises(ValueError, match="halting_bias"):
        make(float("nan"))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("max_steps", [1, 5])
@pytest.mark.parametrize("batch_size", [0, 1])
def test_smallest_batches_and_depths(rule, max_steps, batch_size):
    model = PonderNet(RNNStep(4, 8), max_steps)
    got = model.predict(torch.randn(batch_size, 2, 2), rule, **parameters_of(rule, 1))
    assert got.y_hat.shape == got.steps.shape == got.p_halt.shape == got.computed.shape == (batch_size,)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(step, dtype):
    model, x = PonderNet(step(6, 16), 9), torch.randn(32, 6)
    exact = model(x)
    with torch.autocast("cpu", dtype=dtype):
        y_hat, _, log_p = model(x)
        got = model.predict(x)
        steps = expected_steps(log_p)
    assert log_p.dtype == steps.dtype == torch.float32
    torch.testing.assert_close(steps, expected_steps(log_p.double()).float())
    torch.testing.assert_close(log_p.exp().sum(0), torch.ones(32), rtol=0, atol=2e-6)
    torch.testing.assert_close(log_p, exact.log_p, rtol=0.1, atol=0.1)
    torch.testing.assert_close(y_hat.float(), exact.y_hat, rtol=0.1, atol=0.1)
    assert got.steps.min() >= 1
    y_hat.float().sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("rule", RULES)
def test_cuda(step, rule):
    model, x = PonderNet(step(6, 16), 9), torch.randn(32, 6)
    options = {"generator": torch.Generator().manual_seed(0), **parameters_of(rule, 3)}
    here = model.predict(x, rule, **options)
    options["generator"].manual_seed(0)
    there = model.cuda().predict(x.cuda(), rule, **options)
    assert there.y_hat.is_cuda
    torch.testing.assert_close(there.y_hat.cpu(), here.y_hat, rtol=1e-3, atol=1e-3)


def test_any_callable_is_a_step_function():
    """A plain function: halve the distance to the answer, halt when close."""

    def newton(x, h):
        h = x if h is None else (h + x / h) / 2
        return h, h, 10 * (1e-4 - (h * h - x).abs())

    got = PonderNet(newton, 20).predict(torch.tensor([2.0, 9.0]), "quantile", q=0.999)
    torch.testing.assert_close(got.y_hat, torch.tensor([2.0, 9.0]).sqrt(), rtol=1e-3, atol=1e-3)


x = torch.zeros(3, 4)
model = PonderNet(RNNStep(4, 8), 5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: PonderNet("gru", 5), TypeError, "step must be .*callable.*'gru'"),
        (lambda: model.predict(x, check_every=0), ValueError, "check_every must be an integer >= 1; got 0"),
        (lambda: PonderNet(RNNStep(4, 8), 0), ValueError, "max_steps must be an integer >= 1; got 0"),
        (lambda: RNNStep(0, 8), ValueError, "input_size must be"),
        (lambda: GRUStep(4, 8.5), TypeError, "hidden_size must be an integer >= 1; got 8.5"),
        (lambda: GRUStep(4, 8, 0), ValueError, "n_outputs must be an integer >= 1; got 0"),
        (lambda: model(torch.zeros(3, 5)), ValueError, "x must have input_size = 4 numbers per sample; got 5"),
        (
            lambda: model([1.0]),
            TypeError,
            r"x must be a tensor of shape \[batch, ...\], or a tuple.*; got list \[1.0\]",
        ),
        (lambda: model.predict(None), TypeError, r"x must be a tensor of shape \[batch, ...\], .*; got NoneType None"),
        (lambda: model((x, x[:2])), ValueError, r"all tensors of x must have the same batch.*; got \[3, 2\]"),
        (lambda: PonderNet(GRUStep, 5), TypeError, "step must be .*callable.*; got <class .*GRUStep"),
        (lambda: RecurrentStep(nn.Linear(4, 8)), TypeError, "cell must be .*hidden_size.*got Linear"),
        (lambda: EncodedStep(nn.Identity(), 3), TypeError, "step must be .*callable.*; got 3"),
        (lambda: JudgedStep(lambda x, h: x, len), TypeError, "step must be an nn.Module.*; got <function"),
        (lambda: model(torch.tensor(1.0)), TypeError, "x must be a tensor of shape"),
        (lambda: model.predict(x, "best"), ValueError, "rule must be one of 'sample', .*; got 'best'"),
        (lambda: model.predict(x, "sample", q=0.5), TypeError, "unexpected keyword argument 'q'"),
        (lambda: model.predict(x, check_every=1.5), TypeError, "check_every must be an integer >= 1; got 1.5"),
        (lambda: model.predict(x, "quantile", q=0.0), ValueError, r"q must be a number in \(0, 1\]; got 0.0"),
        (lambda: model.predict(x, "quantile", q=2), ValueError, "q must be.*got 2"),
        (lambda: model.predict(x, "threshold", q=0.0), ValueError, r"q must be a number in \(0, 1\]; got 0.0"),
        (lambda: model.predict(x, "threshold", q=1.5), ValueError, r"q must be a number in \(0, 1\]; got 1.5"),
        (lambda: model.predict(x, "fixed"), TypeError, r"step must be an integer in \[1, 5\]; got None"),
        (lambda: model.predict(x, "fixed", step=6), ValueError, r"step must be an integer in \[1, 5\]; got 6"),
        (
            lambda: PonderNet(lambda x, h: (x[:, 0], h, x), 2)(x),
            ValueError,
            r"step must return y_hat .* halt_logit \[batch\] or .*, batch = 3; got \[3\] and \[3, 4\]",
        ),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def in_all_containers(tensor):
    @dataclasses.dataclass
    class Held:
        part: torch.Tensor

    yield from ([tensor], (0, tensor), {"part": tensor}, Held(tensor), {"deep": [(tensor,)]})


def test_what_a_step_carries_along_must_have_the_batch_or_be_no_tensor():
    """A table in z or h would be cut with the samples that have halted."""

    class Carrying(Step):
        def __init__(self, in_z, in_h):
            super().__init__()
            self.in_z, self.in_h = in_z, in_h

        def encode(self, x):
            return (x, self.in_z), (torch.zeros(len(x)), self.in_h)

        def forward(self, z, h):
            n = h[0] + 1
            return z[0][:, 0], (n, h[1]), n - z[0][:, 0]

    x = torch.linspace(1, 8, 8)[:, None]
    wanted = PonderNet(Carrying(None, None), 12).predict(x, "threshold", check_every=1).steps
    for table in in_all_containers(torch.arange(40.0)):
        for step in (Carrying(table, None), Carrying(None, table)):
            with pytest.raises(ValueError, match=r"same batch.*40"):
                PonderNet(step, 12).predict(x, "threshold", check_every=1)
    numbers = [float(n) for n in range(40)]
    for constant in (numbers, torch.tensor(3.0), "a word", None):
        assert torch.equal(PonderNet(Carrying(constant, constant), 12).predict(x, "threshold").steps, wanted)


def test_a_state_that_grows_a_table_on_its_way_is_refused_too():
    def step(x, h):
        n = 1 if h is None else h[0] + 1
        return x[:, 0], (n, torch.zeros(40)), n - x[:, 0]

    with pytest.raises(ValueError, match="same batch"):
        PonderNet(step, 12).predict(torch.linspace(1, 8, 8)[:, None], "threshold", check_every=1)


class Unread(Step):
    """Returns its state where an answer and a halting logit are read."""

    def move(self, z, h):
        return z

    def read(self, h):
        return h


class Starts(Unread):
    """Returns x alone, which two samples would make into z and h."""

    def encode(self, x):
        return x


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Unread(), "step.read must return 2 things.*Tensor"),
        (Starts(), "step.encode must return 2 things.*Tensor"),
        (nn.LSTMCell(4, 8), "step must return 3 things.*RecurrentStep"),
        (lambda x, h: None, "step must return 3 things.*NoneType"),
        (lambda x, h: x, "step must return 3 things.*Tensor"),
        (lambda x, h: (x, h), "step must return 3 things.*2"),
    ],
)
def test_a_step_that_returns_something_else_is_refused(step, message):
    for call in (PonderNet(step, 3), PonderNet(step, 3).predict):
        with pytest.raises(TypeError, match=message):
            call(torch.randn(2, 4))
    with pytest.raises(NotImplementedError, match="move"):
        PonderNet(Step(), 2)(torch.zeros(3, 4))


def test_a_module_over_a_whole_sequence_is_no_cell():
    for whole in (nn.LSTM(4, 8), nn.GRU(4, 8), nn.RNN(4, 8)):
        with pytest.raises(TypeError, match="cell must be"):
            RecurrentStep(whole)
    with pytest.raises(TypeError, match="encoder must be callable"):
        EncodedStep(None, RNNStep(4, 8))


def test_an_empty_batch_gives_empty_answers():
    for step in (RNNStep(4, 8), GRUStep(4, 8, 3), RecurrentStep(nn.LSTMCell(4, 8))):
        model = PonderNet(step, 3)
        for rule in ("sample", "quantile", "fixed"):
            assert model.predict(torch.zeros(0, 4), rule, **parameters_of(rule, 2)).steps.shape == (0,)
        assert model.expectation(torch.zeros(0, 4)).y_hat.shape[0] == 0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: PonderNet(lambda x, h: (x[:, 0], h, 1.0), 2)(x), "halt_logit"),
        (lambda: model((x, x)), "x"),
        (lambda: model(torch.zeros(4)), "x"),
        (lambda: model.predict(x, "sample", v=0.5), "v"),
        (lambda: model.predict(x, "either", rules=("confidence",)), "rules"),
        (lambda: PonderNet(lambda x, h: (x[:, 0], torch.zeros(40), x[:, 1]), 2)(x), "the state"),
    ],
)
def test_what_is_no_tensor_of_the_batch_is_named(call, name):
    with pytest.raises((TypeError, ValueError), match=rf"{name}.* must"):
        call()


@pytest.mark.parametrize("n", [1, 3, 9])
def test_another_cap_in_one_call_is_that_of_another_network(n):
    model, x = PonderNet(GRUStep(4, 8), 5).eval(), torch.randn(40, 4)
    other = PonderNet(model.step, n).eval()
    for found, wanted in zip(model(x, max_steps=n), other(x), strict=True):
        assert torch.equal(found, wanted)
    for rule, parameters in (("quantile", {"q": 0.9}), ("most_probable", {}), ("fixed", {"step": n})):
        for found, wanted in zip(
            model.predict(x, rule, max_steps=n, **parameters)[:4], other.predict(x, rule, **parameters)[:4], strict=True
        ):
            assert torch.equal(found, wanted)
    for found, wanted in zip(model.expectation(x, max_steps=n)[:4], other.expectation(x)[:4], strict=True):
        assert torch.equal(found, wanted)
    assert model.max_steps == 5
    for call in (model, model.predict, model.expectation):
        for cap in (0, 2.0, True):
            with pytest.raises((TypeError, ValueError), match="max_steps must be an integer"):
                call(x, max_steps=cap)
