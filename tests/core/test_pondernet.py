import numpy as np
import pytest
import torch
from torch import nn
from torch.func import functional_call

from ponder_course.alone_and_together.lesson import NodeStep
from ponder_course.light_cone.lesson import LocalStep
from ponder_course.mnist_rotation.patches import Patches
from ponder_utils.act import act_average
from ponder_utils.halting import PonderOutput, average, expected_steps
from ponder_utils.pondernet import PonderNet
from ponder_utils.rules import halting_steps
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


SAMPLES, LINE, GRID, NODES = (5, 4), (5, 2, 7), (5, 1, 4, 6), (5, 6, 8)
ANY_NETWORK = {  # n_outputs -> step, and the shape of an input
    "RNN": (lambda n: RNNStep(4, 8, n), SAMPLES),
    "GRU": (lambda n: GRUStep(4, 8, n), SAMPLES),
    "LSTM": (lambda n: RecurrentStep(nn.LSTMCell(4, 8), n), SAMPLES),
    "encoded": (lambda n: EncodedStep(nn.Linear(4, 3), GRUStep(3, 8, n)), SAMPLES),
    "line": (lambda _: LocalStep(2, 8), LINE),
    "grid": (lambda _: Patches(4, 2, 3), GRID),
    "together": (lambda n: NodeStep(8, n, n_heads=2), NODES),
    "alone": (lambda n: NodeStep(8, n, "initial"), NODES),
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
    return model, torch.randn(shape, dtype=torch.float64)


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
            halted_at |= set(steps.flatten().tolist())
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
    torch.testing.assert_close(average(p, output.y_hat), (weights * output.y_hat).sum(0))


@any_network
def test_gradients_against_finite_differences(name):
    model, x = made(name, max_steps=2)
    names, values = zip(*model.named_parameters(), strict=True)

    def run(*values):
        output = functional_call(model, dict(zip(names, values, strict=True)), (x,))
        of_act = act_average(output)
        return *output, of_act.y_hat, of_act.remainder

    assert torch.autograd.gradcheck(run, values, fast_mode=True)
    gradients = torch.autograd.grad(sum(part.sum() for part in run(*values)), values)
    assert all((gradient != 0).any() for gradient in gradients)


@any_network
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_autocast(name, dtype):
    model, x = made(name)
    model, x = model.float(), x.float()
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
    pairs = [(model(x, max_steps=n), other(x))]
    for rule, parameters in (("quantile", {"q": 0.9}), ("most_probable", {}), ("fixed", {"step": n})):
        pairs.append((model.predict(x, rule, max_steps=n, **parameters), other.predict(x, rule, **parameters)))
    for found, wanted in pairs:
        assert all(map(torch.equal, found[:4], wanted[:4]))
    assert model.max_steps == 5


def test_a_step_around_torchs_lstm_is_that_lstm():
    model, x = PonderNet(RecurrentStep(nn.LSTMCell(5, 8)), 4), torch.randn(3, 5)
    state, output = None, model(x)
    for n in range(4):
        state = model.step.cell(x, state)
        torch.testing.assert_close((output.y_hat[n], output.halt_logits[n]), model.step.heads(state[0]))


class Backwards(GRUStep):
    """In the paper's form, with a state turned around."""

    def forward(self, z, h):
        y_hat, h, halt_logit = super().forward(z, h)
        return y_hat, h.flip(1), halt_logit


@pytest.mark.parametrize("kind", [RNNStep, GRUStep, Backwards])
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


x = torch.zeros(3, 4)
model = PonderNet(RNNStep(4, 8), 5)
nodes = PonderNet(NodeStep(8, 1), 3)


class BeginsFromZeros(Step):  # and has no `encode` to say so
    def move(self, z, h):
        return torch.tanh(z + h)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: PonderNet(GRUStep, 5), TypeError, "step .*GRUStep"),
        (lambda: RecurrentStep(nn.LSTM(4, 8)), TypeError, "cell .*LSTM"),  # which reads a whole sequence
        (lambda: model(torch.zeros(3, 5)), ValueError, "x .*input_size = 4.*5"),
        (lambda: model.predict(None), TypeError, r"x .*None"),
        (lambda: model((x, x[:2])), ValueError, r"x .*\[3, 2\]"),
        (lambda: nodes.predict(torch.randn(2, 3, 8), "quantile", keep_state=True), ValueError, r"halt_logit .*2, 3\]"),
        (lambda: PonderNet(lambda x, h: (x[:, 0], h, x), 2)(x), ValueError, r"step .* = 3.*\[3\] and \[3, 4\]"),
        (lambda: PonderNet(lambda x, h: (x[:, 0], x[0], x[:, 1]), 2)(x), ValueError, r"the state .*3.*\[4\]"),
        (lambda: PonderNet(EncodedStep(lambda x: x[:2], model.step), 2).predict(x), ValueError, "encode .*3.*2"),
        (lambda: PonderNet(Step(), 2)(x), NotImplementedError, "move"),
        (lambda: PonderNet(BeginsFromZeros(), 2)(x), TypeError, r"step .*h = None.*encode\(x\) -> z, h.*NoneType"),
        (lambda: model.predict(x, mask=x > 0), ValueError, r"mask .*\[3\].*\[3, 4\]"),
        (lambda: model.predict(x, mask=[True]), TypeError, "mask .*bool tensor"),
        (lambda: PonderNet(nn.LSTMCell(4, 8), 2)(x), TypeError, "step must return 3 .*2 of them"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


@any_network
@pytest.mark.parametrize("rule", ["quantile", "sample", "most_probable", "confidence"])
def test_what_is_not_asked_halts_at_once_and_changes_nothing_for_the_others(name, rule):
    model, x = made(name)
    mask = torch.rand(model(x).halt_logits.shape[1:]) < 0.6
    options = [{"generator": torch.Generator().manual_seed(5), "check_every": 1} for _ in range(2)]
    if rule == "confidence":
        options = [{"classes": False, "check_every": 1}] * 2
    with_mask, without = model.predict(x, rule, mask=mask, **options[0]), model.predict(x, rule, **options[1])
    assert torch.equal(with_mask.steps, without.steps.where(mask, 1))
    torch.testing.assert_close(with_mask.y_hat[mask], without.y_hat[mask])
    if rule != "most_probable":  # which has to see that no later step is more probable
        assert torch.equal(with_mask.computed, with_mask.steps.flatten(1).amax(1) if mask.ndim > 1 else with_mask.steps)


def test_hooks_fire_at_every_step_and_a_step_may_read_its_input():
    class ReadsInput(Step):
        def forward(self, z, h):
            h = z if h is None else h + z
            return h.sum(1) - z.sum(1), h, z[:, 0]

    seen = []
    for step in (ReadsInput(), RNNStep(4, 8)):
        with_hook = PonderNet(step, 4)
        before = with_hook(x + 1)
        step.register_forward_hook(lambda step, _, returned: seen.append(returned[0]))
        torch.testing.assert_close(with_hook(x + 1), before)
        torch.testing.assert_close(torch.stack(seen[-4:]), before.y_hat)
    assert len(seen) == 8


def test_an_exported_network_can_be_saved_and_runs_on_another_batch(tmp_path):
    model, batch = made("GRU")[0].float().eval(), torch.export.Dim("batch")
    exported = torch.export.export(model, (torch.randn(5, 4),), dynamic_shapes=({0: batch},))
    torch.export.save(exported, tmp_path / "model.pt2")
    again, other = torch.export.load(tmp_path / "model.pt2").module(), torch.randn(3, 4)
    assert isinstance(again(other), PonderOutput)
    torch.testing.assert_close(again(other), model(other))


def test_a_state_that_grows_is_refused_where_samples_keep_it_and_else_is_not():
    def grows(x, h):
        h = x[:, None] if h is None else torch.cat([h, x[:, None]], 1)
        return h.sum((1, 2)), h, x[:, 0] - 2

    model = PonderNet(grows, 4)
    assert model.predict(x).steps.tolist() == [4, 4, 4]
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        model.predict(x, keep_state=True)


def test_predict_warns_of_dropout_that_draws():
    model = PonderNet(EncodedStep(nn.Dropout(0.5), RNNStep(4, 8)), 2)
    with pytest.warns(UserWarning, match="eval"):
        model.predict(x)
    model.eval().predict(x)


@pytest.mark.parametrize("entries", [[1, 5, 2], ("one", "two", "three"), np.ones(3), {"lengths": [3, 2, 1]}])
def test_a_list_with_an_entry_for_each_sample_is_refused_since_it_would_not_be_cut(entries):
    model = PonderNet(lambda x, h: (x[0][:, 0], x[0], x[0][:, 1]), 2)
    assert model((x, entries)).y_hat.shape == (2, 3)
    with pytest.raises(ValueError, match=r"x must hold in tensors.*each of 3 samples"):
        model.predict((x, entries))
    assert model.predict((x[:2], entries, None)).y_hat.shape == (2,)


def test_a_state_that_a_step_changes_in_place_is_kept_as_it_was():
    def in_place(x, h):
        h = {"h": 0 * x, "n": 0 * x[:, 0].long()} if h is None else h
        h["h"], h["n"] = h["h"] + x, h["n"] + 1
        return h["h"][:, 0], h, h["n"] - 2.5 - 2 * x[:, 0]

    inputs = torch.tensor([[-1.0, 1], [0, 1], [1, 1]])
    for check_every in (1, None):
        found = PonderNet(in_place, 6).predict(inputs, "threshold", check_every=check_every, keep_state=True)
        assert found.steps.tolist() == found.state["n"].tolist() == [1, 3, 5]


@pytest.mark.parametrize("part", [nn.LSTM(4, 4, 2, dropout=0.1), nn.MultiheadAttention(4, 1, dropout=0.1)])
def test_dropout_within_another_layer_is_seen(part):
    step = GRUStep(4, 8)
    step.part = part
    with pytest.warns(UserWarning, match="eval"):
        PonderNet(step, 2).predict(x)
