"""Halting rules and what `predict` does with them: where a wrong turn would not show in the mean."""

import itertools

import pytest
import torch
from test_pondernet import STEPS, draws, scripted

from ponder_utils import rules
from ponder_utils.halting import halting_log_probs
from ponder_utils.pondernet import LONG_STRIDE, MANY_ROWS, RULES, PonderNet
from ponder_utils.steps import RNNStep


@pytest.mark.parametrize("step", STEPS)
def test_the_distribution_is_that_of_the_logits_that_are_returned(step):
    _, halt_logits, log_p = PonderNet(step(6, 16), 7)(torch.randn(20, 6))
    assert halt_logits.shape == (7, 20)
    assert torch.equal(log_p, halting_log_probs(halt_logits))


@pytest.mark.parametrize("rule", ["sample", "quantile", "threshold", "most_probable"])
def test_the_default_dtype_moves_no_halting_step(rule):
    """In bfloat16 a uniform number is one of 256, and a threshold is off by up to a 256th."""
    logits = draws(0, 20_000, 6, scale=1)

    def steps():
        return scripted(logits, rule, q=0.3, generator=torch.Generator().manual_seed(0))[0].steps

    expected = steps()
    torch.set_default_dtype(torch.bfloat16)
    try:
        assert torch.equal(steps(), expected)
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("rule", RULES)
def test_new_tensors_are_made_where_the_input_is_and_not_on_the_default_device(rule):
    logits = draws(0, 30, 7)
    with torch.device("meta"):
        got, _ = scripted(logits, rule, step=4)
    assert all(part.device == logits.device for part in got)


def test_of_equal_steps_that_two_looks_saw_the_first_gives_the_answer():
    rows, log_p, goes_on = torch.arange(1), torch.tensor([[-2.0]]), torch.tensor([[-0.5]])
    rule = rules.most_probable(1, rows.device)
    assert [rule(rows, log_p, goes_on, log_p)[0].item() for _ in range(2)] == [
        0,
        1,
    ]  # the second takes none of its 1 step


def test_the_quantile_is_the_median_unless_told_otherwise():
    logits = draws(0, 200, 9)
    default, median = scripted(logits, "quantile")[0], scripted(logits, "quantile", q=0.5)[0]
    assert torch.equal(default.steps, median.steps)
    rows, log_survival = torch.arange(2), torch.tensor([[0.51, 0.49]]).log()
    _, goes_on = rules.quantile(2, rows.device)(rows, log_survival, log_survival, log_survival)
    assert goes_on.tolist() == [True, False]


def test_the_threshold_is_one_half_unless_told_otherwise():
    logits = draws(0, 200, 9)
    default, half = scripted(logits, "threshold")[0], scripted(logits, "threshold", q=0.5)[0]
    assert torch.equal(default.steps, half.steps)
    rows, lambda_n = torch.arange(2), torch.tensor([[0.49, 0.51]])
    take, goes_on = rules.threshold(2, rows.device)(rows, lambda_n.log(), (1 - lambda_n).log(), lambda_n)
    assert take.tolist() == [1, 0]
    assert goes_on.tolist() == [True, False]


def test_a_threshold_asks_for_lambda_n_whatever_has_survived():
    """Earlier steps have all but used up what there was to halt with: no quantile would wait for step 5."""
    logits = torch.tensor([[1.0, 1.0, 1.0, 1.0, 3.0, 9.0, 9.0], [1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0]])
    for look_every in (1, 2, 7, None):
        got, _ = scripted(logits, "threshold", q=0.9, look_every=look_every)
        assert got.steps.tolist() == [5, 7]
    torch.testing.assert_close(got.p_halt, halting_log_probs(logits.T).exp()[[4, 6], [0, 1]])


@pytest.mark.parametrize("look_every", [1, 3, None])
def test_thresholds_between_logits_that_float32_cannot_sum_up(look_every):
    """Four times -1e4 or +1e4: sigmoid and survival are 0 or 1, and which is which is plain."""
    signs = torch.tensor(list(itertools.product((-1.0, 1.0), repeat=4)))
    first = [next((n for n, sign in enumerate(row[:-1], start=1) if sign > 0), 4) for row in signs.tolist()]
    for q in (1e-30, 0.1, 0.5, 0.999999):
        got, _ = scripted(1e4 * signs, "threshold", q=q, look_every=look_every)
        assert got.steps.tolist() == first
        assert torch.equal(got.p_halt, torch.ones(16))
    got, _ = scripted(1e4 * signs, "threshold", q=1.0, look_every=look_every)
    assert (got.steps == 4).all()
    assert torch.equal(got.p_halt, (signs[:, :-1] < 0).all(1).float())


def test_at_a_threshold_of_1_only_certainty_halts_before_the_last_step():
    logits = torch.tensor(
        [[5.0, 60.0, 5.0], [0.0, torch.inf, 0.0], [torch.inf, -torch.inf, 0.0], [-torch.inf, 9.0, 0.0]]
    )
    for look_every in (1, 2, None):
        got, _ = scripted(logits, "threshold", q=1.0, look_every=look_every)
        assert got.steps.tolist() == [3, 2, 1, 3]
        assert not got.p_halt.isnan().any()


@pytest.mark.parametrize(("extra", "computed"), [(0, LONG_STRIDE), (1, 1)])
def test_rows_are_many_only_above_the_limit(extra, computed, monkeypatch):
    monkeypatch.setattr("ponder_utils.pondernet.SHORT_STRIDE", 1)
    got, _ = scripted(torch.full((MANY_ROWS + extra, 12), 50.0), "quantile")  # halts at step 1
    assert (got.computed == computed).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_prediction_has_no_gradient(rule):
    model, x = PonderNet(RNNStep(4, 8), 5), torch.randn(6, 4)
    assert model(x).y_hat.requires_grad
    assert not any(part.requires_grad for part in model.predict(x, rule, step=3))


@pytest.mark.parametrize("rule", ["sample", "quantile", "threshold", "most_probable", "fixed"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_logits_in_half_precision_are_lifted_before_they_are_summed(rule, dtype):
    logits = draws(0, 500, 40).sub(5).to(dtype)
    half, lifted = (
        scripted(x, rule, step=40, look_every=40, generator=torch.Generator().manual_seed(0))[0]
        for x in (logits, logits.float())
    )
    assert torch.equal(half.steps, lifted.steps)
    assert torch.equal(half.p_halt, lifted.p_halt)


@pytest.mark.parametrize("call", [PonderNet.forward, PonderNet.predict])
@pytest.mark.parametrize(
    ("y_hat", "halt_logit", "came"),
    [([1], [3], r"\[1\] and \[3\]"), ([3], [1], r"\[3\] and \[1\]"), ([3], [3, 1], r"\[3\] and \[3, 1\]")],
)
def test_a_step_must_answer_and_halt_once_for_each_sample(call, y_hat, halt_logit, came):
    model = PonderNet(lambda x, h: (torch.zeros(y_hat), h, torch.zeros(halt_logit)), 2)
    with pytest.raises(ValueError, match=f"halt_logit of shape .*, batch = 3; got {came}"):
        call(model, torch.zeros(3, 4))


def test_a_sampling_rule_without_a_generator_draws_by_torchs_own_seed():
    rows, log_survival = torch.arange(1000), torch.linspace(-3, -0.01, 1000)[None]

    def goes_on(seed):
        torch.manual_seed(seed)
        return rules.sample(1000, rows.device)(rows, log_survival, log_survival, log_survival)[1]

    assert torch.equal(goes_on(1), goes_on(1))
    assert not torch.equal(goes_on(1), goes_on(2))
