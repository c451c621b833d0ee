"""Rules that look at answers, losses without a halting distribution, and ACT around any step: each against its
definition, written the slow way."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import act as slow_act
from torch import nn

from ponder_course.experiments.ways_to_stop_supervision import (
    GainLoss,
    JudgedStep,
    JudgeLoss,
    ProgressiveLoss,
    ProgressiveNet,
)
from ponder_utils import (
    ACTLoss,
    FixedDepthLoss,
    LocalStep,
    PonderNet,
    PonderOutput,
    RNNStep,
    act_average,
    halting_log_probs,
    rules,
    train,
)
from ponder_utils.tasks import LineParityTask

bce = nn.BCEWithLogitsLoss(reduction="none")
cases = given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 9), st.sampled_from([1, 2, 5, None]))


def per_line(y_hat, y):
    return bce(y_hat, y).mean(1)


class Said(nn.Module):
    """A step whose answers stand in its input, [batch, N, ...], one for each step."""

    def start(self, x):
        return x, torch.zeros(len(x), dtype=torch.long)

    def forward(self, z, n):
        return z[torch.arange(len(z)), n], n + 1, torch.zeros(len(z))


def halted(answers, rule, look_every=None):
    """The steps at which `predict` halts, answers [batch, N, ...]."""
    got = PonderNet(Said(), answers.shape[1]).predict(answers, rule, look_every=look_every)
    torch.testing.assert_close(got.y_hat, answers[torch.arange(len(answers)), got.steps - 1], equal_nan=True)
    return got.steps.tolist()


def chances(row, classes):
    """The probabilities of one answer: a list for each place."""
    places = [row.tolist()] if classes else [[0.0, its] for its in row.reshape(-1).tolist()]
    return [[math.exp(a) / sum(map(math.exp, logits)) for a in logits] for logits in places]


def slow(answers, stops, classes):
    """The first step at which stops(all that was said up to there) holds, or the last: one sample at a time."""
    steps = []
    for sample in answers:
        said = [chances(row, classes) for row in sample]
        steps.append(next((n for n in range(1, len(said)) if stops(said[:n])), len(said)))
    return steps


def largest(places):
    return [its.index(max(its)) for its in places]


def same_for(t):
    def stops(said):
        kinds = [largest(places) for places in said]
        return len(kinds) > t and all(its == kinds[-1] for its in kinds[-t - 1 :])

    return stops


def near(most):
    def stops(said):
        if len(said) < 2:
            return False
        pairs = zip(said[-1], said[-2], strict=True)
        return all(sum(p * math.log(p / q) for p, q in zip(*pair, strict=True)) <= most for pair in pairs)

    return stops


def few_nats(most):
    return lambda said: all(-sum(p * math.log(p) for p in its) <= most for its in said[-1])


def sure_or_same(batch_size, device, classes=False):
    makers = partial(rules.confidence, q=0.8, classes=classes), partial(rules.unchanged, t=2, classes=classes)
    return rules.either(batch_size, device, makers)


RULES = {
    "confidence": (partial(rules.confidence, q=0.8), lambda said: all(max(its) >= 0.8 for its in said[-1])),
    "entropy": (partial(rules.entropy, most=0.4), few_nats(0.4)),
    "unchanged 1": (partial(rules.unchanged, t=1), same_for(1)),
    "unchanged 3": (partial(rules.unchanged, t=3), same_for(3)),
    "settled": (partial(rules.settled, most=0.1), near(0.1)),
    "either": (sure_or_same, lambda said: all(max(its) >= 0.8 for its in said[-1]) or same_for(2)(said)),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("shape", [(), (1,), (3,), "classes"])
@cases
def test_a_rule_that_looks_at_answers_equals_its_definition(name, shape, seed, batch, n_steps, look_every):
    generator, classes = torch.Generator().manual_seed(seed), shape == "classes"
    places = (4,) if classes else shape
    first, *moves = 2 * torch.randn(n_steps, batch, *places, generator=generator, dtype=torch.float64)
    answers = torch.stack([first, *(0.3 * move for move in moves)]).cumsum(0).transpose(0, 1)
    rule, stops = RULES[name]
    assert halted(answers, partial(rule, classes=classes), look_every) == slow(answers, stops, classes)


@pytest.mark.parametrize(("rule", "_"), RULES.values(), ids=RULES)
def test_who_is_never_sure_takes_every_step_and_who_has_one_takes_one(rule, _):
    restless = torch.tensor([[0.1, -0.9, 0.8, -0.7, 0.9, -0.8]])
    assert halted(restless, rule) == [6]
    assert halted(restless[:, :1], rule) == [1]
    assert halted(torch.full((1, 6), torch.nan), rule)[0] in range(1, 7)


@pytest.mark.parametrize("scale", [1e4, 3e38])
def test_the_surest_answers_are_finite_to_every_rule(scale):
    sure = scale * torch.tensor([[1.0, 1, 1, 1, 1, 1], [1, -1, -1, -1, -1, -1]])
    assert halted(sure, rules.confidence) == [1, 1]
    assert halted(sure, rules.entropy) == [1, 1]
    assert halted(sure, rules.settled) == [2, 3]
    assert halted(sure, rules.unchanged) == [4, 5]
    half = sure.clamp(-6e4, 6e4).half()
    assert halted(half, rules.settled) == [2, 3]


def test_rules_refuse_what_they_cannot_use():
    device = torch.device("cpu")
    for call, message in (
        (lambda: rules.confidence(1, device, q=1.5), r"q must be a number in \(0, 1\]; got 1.5"),
        (lambda: rules.entropy(1, device, most=-1), r"most must be a number in \[0, inf\); got -1"),
        (lambda: rules.unchanged(1, device, t=0), "t must be an integer >= 1; got 0"),
        (lambda: rules.settled(1, device, most=-1), r"most must be a number in \[0, inf\)"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_who_has_halted_costs_nothing_more():
    answers = torch.tensor([[9.0] * 6, [0.0] * 6])
    got = PonderNet(Said(), 6).predict(answers, rules.confidence, look_every=1)
    assert got.computed.tolist() == [1, 6]


def scripted(seed, n_steps, batch, places=()):
    generator = torch.Generator().manual_seed(seed)
    y_hat = torch.randn(n_steps, batch, *places, generator=generator, dtype=torch.float64, requires_grad=True)
    a = torch.randn(n_steps, batch, generator=generator, dtype=torch.float64, requires_grad=True)
    y = (torch.rand(batch, *places, generator=generator) < 0.5).double()
    return PonderOutput(y_hat, a, halting_log_probs(a)), y


def one_loss(logit, target):
    return -math.log(1 / (1 + math.exp(-logit if target else logit)))


def count(x, state):
    return (0,) if state is None else (state[0] + 1,)


def of(numbers):
    return lambda state: numbers[int(state[0])]


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 9), st.sampled_from([0.01, 0.3, 1.0]))
def test_act_around_a_step_equals_the_definition(seed, batch, n_steps, epsilon):
    output, _ = scripted(seed, n_steps, batch)
    got = act_average(output, epsilon)
    assert got.y_hat.shape == got.n_updates.shape == got.remainder.shape == (1, batch)
    for i in range(batch):
        said, logits = output.y_hat[:, i].tolist(), output.halt_logits[:, i].tolist()
        (told,), _ = slow_act(count, of(said), of(logits), [()], epsilon, n_steps)
        y, n_updates, remainder, _ = told
        assert got.y_hat[0, i].item() == pytest.approx(y, rel=1e-9, abs=1e-12)
        assert got.n_updates[0, i].item() == n_updates
        assert got.remainder[0, i].item() == pytest.approx(remainder, abs=1e-12)


def test_act_around_a_step_has_the_gradient_of_its_definition():
    logits = torch.tensor([[-1.0, 2.0], [0.3, 1.0], [-0.4, 0.0], [1.0, 1.0]], dtype=torch.float64, requires_grad=True)
    y_hat, y = torch.randn(4, 2, 3, dtype=torch.float64, requires_grad=True), torch.ones(1, 2, 3, dtype=torch.float64)

    def total(a, y_hat):
        output = act_average(PonderOutput(y_hat, a, halting_log_probs(a)))
        return ACTLoss(per_line, tau=0.1)(output, y).total

    assert torch.autograd.gradcheck(total, (logits, y_hat))
    output = act_average(PonderOutput(y_hat, logits, halting_log_probs(logits)))
    (gradient,) = torch.autograd.grad(output.remainder.sum(), logits)
    h, before = logits.sigmoid(), torch.arange(1, 5)[:, None] < output.n_updates
    torch.testing.assert_close(gradient, torch.where(before, -h * (1 - h), 0))  # Eq. 14


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("sure", [-80.0, 0.0, 80.0])
def test_act_around_a_step_at_extreme_logits(dtype, sure):
    a = torch.full((5, 3), sure, dtype=dtype)
    output = act_average(PonderOutput(torch.ones(5, 3, dtype=dtype), a, halting_log_probs(a)))
    assert output.n_updates.unique().tolist() == [{-80.0: 5, 0.0: 2, 80.0: 1}[sure]]
    torch.testing.assert_close(output.y_hat.float(), torch.ones(1, 3))


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 9))
def test_losses_of_all_steps_and_of_the_last_are_means_over_steps_and_samples(seed, batch, n_steps):
    output, y = scripted(seed, n_steps, batch)
    each = [[one_loss(*pair) for pair in zip(its, y.tolist(), strict=True)] for its in output.y_hat.tolist()]
    last, every = (FixedDepthLoss(bce, every_step)(output, y).total.item() for every_step in (False, True))
    assert last == pytest.approx(sum(each[-1]) / batch)
    assert every == pytest.approx(sum(map(sum, each)) / batch / n_steps)


def test_a_judge_is_told_whether_the_answer_is_right_by_now():
    output, y = scripted(0, 4, 5)
    each = [
        one_loss(a, (said > 0) == (wanted > 0.5))
        for row, judged in zip(output.y_hat.tolist(), output.halt_logits.tolist(), strict=True)
        for said, a, wanted in zip(row, judged, y.tolist(), strict=True)
    ]
    terms = JudgeLoss(bce)(output, y)
    assert terms.regularization.item() == pytest.approx(sum(each) / 20)
    torch.testing.assert_close(terms.reconstruction, FixedDepthLoss(bce, every_step=True)(output, y).total)
    torch.testing.assert_close(terms.total, terms.reconstruction + 0.5 * terms.regularization)


def test_whether_one_more_step_helps_is_measured_by_the_loss():
    a = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y_hat, y = torch.tensor([-2.0, 3.0, 3.0], dtype=torch.float64, requires_grad=True), [1.0]
    terms = GainLoss(bce)(PonderOutput(y_hat[:, None], a[:, None], halting_log_probs(a[:, None])), torch.tensor(y))
    losses = [one_loss(its, y[0]) for its in y_hat.tolist()]
    targets = [1 / (1 + math.exp(50 * (now - then - 0.005))) for now, then in ((losses[0], losses[1]), losses[1:])]
    assert targets[0] < 1e-9 < 0.5 < targets[1]
    pairs = zip(a.tolist(), targets, strict=False)
    expected = sum(t * one_loss(its, 1) + (1 - t) * one_loss(its, 0) for its, t in pairs) / 2
    assert terms.total.item() == pytest.approx(expected)
    gradients = torch.autograd.grad(terms.total, (a, y_hat), allow_unused=True)
    assert gradients[1] is None
    torch.testing.assert_close(gradients[0][:2], (a[:2].sigmoid() - torch.tensor(targets)).detach() / 2)
    assert gradients[0][2] == 0
    with pytest.raises(ValueError, match="N must be at least 2"):
        GainLoss(bce)(PonderOutput(y_hat[:1, None], a[:1, None], a[:1, None]), torch.tensor(y))


def test_a_judge_of_a_network_that_has_learnt_changes_nothing_but_when_it_halts():
    torch.manual_seed(0)
    step, x = LocalStep(2, 4), LineParityTask(6).batch(8)[0]
    before = PonderNet(step, 7)(x)
    judge = nn.Sequential(nn.Flatten(), nn.Linear(24, 1), nn.Flatten(0))
    model = PonderNet(JudgedStep(step, judge), 7)
    train(model, GainLoss(per_line), lambda g: LineParityTask(6).batch(8, g), 5, lr=0.1, progress=False)
    after = model(x)
    assert torch.equal(before.y_hat, after.y_hat)
    assert not torch.equal(before.halt_logits, after.halt_logits)
    assert not any(its.requires_grad for its in step.parameters())


def test_the_progressive_loss_learns_from_the_last_steps_only():
    """Both answers are those of the plain network; the gradient of the second stops k steps before it."""
    torch.manual_seed(0)
    step, x, y = RNNStep(3, 5), torch.randn(4, 3), torch.ones(4)
    model, seen = ProgressiveNet(step, 6), set()
    gradient = partial(torch.autograd.grad, inputs=[*step.parameters()], materialize_grads=True)
    plain = PonderNet(step, 6)(x)
    with torch.no_grad():
        states = [None]
        for _ in range(6):
            states.append(step(x, states[-1])[1])
    for seed in range(300):
        torch.manual_seed(7919 * seed)
        n = int(torch.randint(6, ()))
        k = int(torch.randint(1, 7 - n, ()))
        seen.add((n, k))
        torch.manual_seed(7919 * seed)
        output = model(x)
        torch.testing.assert_close(output.y_hat, plain.y_hat[[5, n + k - 1]])
        terms = ProgressiveLoss(bce, 0.25)(output, y)
        torch.testing.assert_close(terms.total, 0.75 * terms.reconstruction + 0.25 * terms.regularization)
        h = states[n]
        for _ in range(k):
            y_hat, h, _ = step(x, h)
        for its, wanted in zip(*(gradient(loss) for loss in (terms.regularization, bce(y_hat, y).mean())), strict=True):
            torch.testing.assert_close(its, wanted)
    assert {n for n, _ in seen} == set(range(6))
    assert {k for n, k in seen if n == 0} == set(range(1, 7))
    assert isinstance(model.eval()(x), PonderOutput)
    assert torch.equal(ProgressiveNet(step, 1)(x).y_hat[0], ProgressiveNet(step, 1)(x).y_hat[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss", [FixedDepthLoss(per_line, True), JudgeLoss(per_line, lambda a, b: ((a > 0) == b).all(-1))]
)
def test_a_network_that_is_supervised_at_every_step_stops_where_it_can_know(loss):
    torch.manual_seed(0)
    task = LineParityTask(6)
    model = PonderNet(LocalStep(2, 24), 8)
    train(model, loss, lambda g: task.batch(64, g), 500, lr=5e-3, progress=False)
    x, y = task.batch(500, torch.Generator().manual_seed(1))
    rule = partial(rules.threshold, q=0.9) if isinstance(loss, JudgeLoss) else rules.confidence
    got, need = model.eval().predict(x, rule), task.needed_steps(x).amax(1)
    assert ((got.y_hat > 0) == y).all(1).float().mean() > 0.95
    assert abs((got.steps - need).float().mean()) < 0.5
    assert torch.corrcoef(torch.stack([got.steps, need]).float())[0, 1] > 0.9
