"""Halting rules against their definitions, and `predict` against reading a rule off all N steps."""

from functools import partial

import pytest
import reference
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import draws, predicted

from ponder_utils import rules
from ponder_utils.halting import PonderOutput, halting_log_probs
from ponder_utils.rules import RULES, halting_steps

ON_ANSWERS = ("confidence", "entropy", "unchanged", "settled", "either")
SHAPES = ((), (1,), (3,), "classes")
seeds, batches, depths = st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 12)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def required(rule, step=1):
    """The parameters that a rule cannot do without."""
    return {"step": step} if rule == "fixed" else {}


def output_of(y_hat, halt_logits):
    return PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits))


def an_output(seed, batch, n_steps, shape=(), dtype=torch.float64):
    """Random halting logits, and answers that move less from step to step."""
    places = (4,) if shape == "classes" else shape
    moves = 2 * torch.randn(n_steps, batch, *places, generator=seeded(seed), dtype=torch.float64)
    moves[1:] *= 0.3
    return output_of(moves.cumsum(0).to(dtype), draws(seed, n_steps, batch, scale=2).to(dtype))


def first_steps(output, n):
    """What a rule sees after n < N steps: the last of them takes no remainder."""
    return PonderOutput(*(part[:n] for part in output))


def probs(y_hat, classes):
    """The probabilities of one sample's answers, as `reference.first_step` reads them: [step][place][class]."""
    if classes:
        return [[step] for step in y_hat.softmax(-1).tolist()]
    yes = y_hat.sigmoid().reshape(len(y_hat), -1).tolist()
    no = (-y_hat).sigmoid().reshape(len(y_hat), -1).tolist()
    return [list(zip(*places, strict=True)) for places in zip(no, yes, strict=True)]


def sure_or_unchanged(answers):
    return reference.confident(0.8)(answers) or reference.unchanged_for(2)(answers)


def either_of(classes):
    return (partial(rules.confidence, q=0.8, classes=classes), partial(rules.unchanged, t=2, classes=classes))


DEFINITIONS = {
    "confidence": ({"q": 0.8}, reference.confident(0.8)),
    "entropy": ({"tolerance": 0.4}, reference.of_low_entropy(0.4)),
    "unchanged": ({"t": 3}, reference.unchanged_for(3)),
    "settled": ({"tolerance": 0.1}, reference.settled_to(0.1)),
    "either": ({}, sure_or_unchanged),
}


@pytest.mark.parametrize("rule", ON_ANSWERS)
@settings(max_examples=40)
@given(seeds, batches, st.integers(1, 9), st.sampled_from(SHAPES))
def test_a_rule_on_answers_equals_its_definition(rule, seed, batch, n_steps, shape):
    output, classes = an_output(seed, batch, n_steps, shape), shape == "classes"
    parameters, stops = DEFINITIONS[rule]
    parameters = {"rules": either_of(classes)} if rule == "either" else {**parameters, "classes": classes}
    slow = [reference.first_step(probs(output.y_hat[:, i], classes), stops) for i in range(batch)]
    assert halting_steps(output, rule, **parameters).tolist() == slow


@given(seeds, batches, depths)
def test_a_rule_on_halting_equals_its_definition(seed, batch, n_steps):
    output = an_output(seed, batch, n_steps)
    logits = output.halt_logits.T.tolist()
    p = [reference.halting(row) for row in logits]
    v = torch.rand(batch, generator=seeded(seed))
    for q in (0.1, 0.5, 0.9):
        assert halting_steps(output, "quantile", q=q).tolist() == [reference.quantile_step(row, q) for row in p]
        assert halting_steps(output, "threshold", q=q).tolist() == [reference.threshold_step(a, q) for a in logits]
    assert halting_steps(output, "most_probable").tolist() == [reference.most_probable_step(row) for row in p]
    slow = [reference.sample_step(row, u) for row, u in zip(p, v.tolist(), strict=True)]
    assert halting_steps(output, "sample", v=v).tolist() == slow
    assert halting_steps(output, "sample", generator=seeded(seed)).tolist() == slow
    for step in range(1, n_steps + 1):
        assert (halting_steps(output, "fixed", step=step) == step).all()


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=40)
@given(
    seeds, st.integers(0, 4), depths, st.sampled_from([1, 2, 7, None]), st.sampled_from(SHAPES), st.sampled_from([1, 6])
)
def test_predict_gives_what_the_rule_takes_from_all_steps(rule, seed, batch, n_steps, check_every, shape, n_places):
    """To the last bit, however often it checks; and each place halts where it would as a sample of its own."""
    alone = an_output(seed, batch * n_places, n_steps, shape, torch.float32)
    output = PonderOutput(*(part.unflatten(1, (batch, 2, 3)) if n_places == 6 else part for part in alone))
    parameters = required(rule, 1 + seed % n_steps)
    if shape and rule in ON_ANSWERS:
        classes = shape == "classes"
        parameters = {"rules": either_of(classes)} if rule == "either" else {"classes": classes}
    steps = halting_steps(alone, rule, generator=seeded(seed), **parameters)
    got = predicted(output, rule, generator=seeded(seed), check_every=check_every, **parameters)
    rows = torch.arange(batch * n_places)
    assert torch.equal(got.steps.flatten(), steps)
    assert torch.equal(got.y_hat.flatten(0, got.steps.ndim - 1), alone.y_hat[steps - 1, rows])
    assert torch.equal(got.p_halt.flatten(), alone.log_p[steps - 1, rows].exp())
    assert (got.computed >= got.steps.view(batch, n_places).amax(1)).all()
    assert (got.computed <= n_steps).all()
    if check_every == 1 and rule != "most_probable":  # a sample leaves the batch when its last place has halted
        assert torch.equal(got.computed, got.steps.view(batch, n_places).amax(1))


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=20)
@given(seeds, depths)
def test_no_rule_looks_ahead(rule, seed, n_steps):
    """What it answers after n steps, it answers after all of them."""
    output = an_output(seed, 5, n_steps)
    v = torch.rand(5, generator=seeded(seed))
    parameters = {"sample": {"v": v}, "fixed": {"step": 3}}.get(rule, {})
    final = RULES[rule](output, **parameters)
    for n in range(1, n_steps):
        so_far = RULES[rule](first_steps(output, n), **parameters)
        assert so_far.dtype == torch.int64
        assert (so_far <= n).all()
        assert torch.equal(so_far[so_far > 0], final[so_far > 0])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@settings(max_examples=15)
@given(st.lists(st.sampled_from([-6e4, -100.0, -1.0, 0.0, 1.0, 100.0, 6e4]), min_size=1, max_size=12))
def test_extreme_numbers_in_any_precision(rule, dtype, numbers):
    values = torch.tensor(numbers, dtype=dtype)[:, None]
    output = output_of(values.flip(0), values)
    steps = halting_steps(output, rule, generator=seeded(), **required(rule))
    assert 1 <= steps.item() <= len(numbers)
    got = predicted(output, rule, generator=seeded(), check_every=2, **required(rule))
    assert torch.equal(got.steps, steps)
    assert got.y_hat.dtype == dtype
    assert got.p_halt.dtype == output.log_p.dtype
    assert got.p_halt.isfinite().all()


@pytest.mark.parametrize("masked", [-torch.inf, -1e30])
def test_an_impossible_class_keeps_no_rule_from_stopping(masked):
    """A class is masked by a logit of -inf: the entropy of the others is finite, and so is their movement."""
    y_hat = torch.tensor([[1.0, 0.0, masked], [8.0, 0.0, masked], [8.0, 0.0, masked], [0.0, masked, 8.0]])[:, None]
    output = output_of(y_hat, torch.zeros(4, 1))
    assert halting_steps(output, "entropy", classes=True).item() == 2
    assert halting_steps(output, "settled", classes=True).item() == 3
    assert halting_steps(output, "confidence", classes=True).item() == 2
    assert halting_steps(output, "unchanged", t=1, classes=True).item() == 2
    changed = output_of(y_hat.flip(0)[:2], torch.zeros(2, 1))  # what was impossible is now likely: the largest movement
    assert rules.settled(changed, classes=True).item() == 0


def test_of_equal_steps_the_first_gives_the_answer():
    logits, log_p = torch.tensor([-9.0, -9.0, 9.0])[:, None], torch.tensor([-2.0, -2.0, -2.5])[:, None]
    assert rules.most_probable(first_steps(PonderOutput(logits, logits, log_p), 2)).item() == 0
    assert rules.most_probable(PonderOutput(logits, logits, log_p)).item() == 1


@pytest.mark.parametrize(
    ("rule", "parameters", "error", "message"),
    [
        ("quantile", {"generator": 0}, TypeError, "generator .*0"),
        ("fixed", {}, TypeError, "step .*None"),
        ("quantile", {"q": 0.0}, ValueError, r"q .*\(0, 1\].*0\.0"),
        ("threshold", {"q": 1.5}, ValueError, r"q .*\(0, 1\].*1\.5"),
        ("confidence", {"q": 0.0, "classes": False}, ValueError, r"q .*\(0, 1\].*0\.0"),
        ("settled", {"tolerance": -1.0, "classes": False}, ValueError, r"tolerance .*-1\.0"),
        ("either", {"rules": (rules.quantile for _ in range(1))}, ValueError, "rules .*generator"),
        ("unchanged", {"classes": True}, ValueError, r"y_hat .*\[5, 3\]"),
        ("sample", {"v": torch.tensor(0.5)}, ValueError, r"v .*\[3\].*\[\]"),
        (lambda output: output.log_p[0], {}, ValueError, r"rule .*\[3\].*float64 \[3\]"),
        (lambda output: torch.tensor([0, -1, 2]), {}, ValueError, "rule .*5.*-1 to 2"),
    ],
)
def test_wrong_arguments_are_named(rule, parameters, error, message):
    output = an_output(0, 3, 5)
    for call in (halting_steps, predicted):
        with pytest.raises(error, match=message):
            call(output, rule, **parameters)


@pytest.mark.parametrize("check_every", [1, 2, None])
def test_any_function_is_a_rule_whose_tensors_leave_with_their_samples_and_a_table_is_refused(check_every):
    output, prices, budgets = output_of(torch.zeros(12, 30), torch.zeros(12, 30)), [0.1, 5.0] * 6, torch.arange(1.0, 31)

    def spent(output, prices, budgets):
        n = len(output.y_hat)
        paid = torch.as_tensor(prices)[:n].cumsum(0)[:, None] >= budgets["of"][0]
        return torch.where(paid.any(0), paid.byte().argmax(0) + 1, 0)

    steps = predicted(output, spent, check_every=check_every, prices=prices, budgets={"of": [budgets]}).steps
    assert steps.tolist() == [2] * 5 + [4] * 5 + [6] * 5 + [8] * 5 + [10] * 5 + [12] * 5
    with pytest.raises(ValueError, match=r"prices .*\[30\].*\[12\]"):
        predicted(output, spent, prices=(0, [torch.tensor(prices)]), budgets={"of": [budgets]})
