import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import geometric, halting, kl
from torch import nn

from ponder_utils.act import ACTOutput
from ponder_utils.halting import PonderOutput, geometric_log_prior, halting_log_probs, kl_divergence
from ponder_utils.losses import ACTLoss, FixedDepthLoss, PonderLoss, ReconstructionLoss, RegularizationLoss

per_sample = nn.BCEWithLogitsLoss(reduction="none")


def output(max_steps, batch_size, shape=(), dtype=torch.float32):
    y_hat = torch.randn(max_steps, batch_size, *shape, dtype=dtype, requires_grad=True)
    logits = torch.randn(max_steps, batch_size, dtype=dtype, requires_grad=True)
    return PonderOutput(y_hat, logits, halting_log_probs(logits)), logits


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 6), st.floats(0.05, 0.95), st.floats(0, 1))
def test_loss_equals_the_definition_sample_by_sample(seed, max_steps, batch_size, lambda_p, beta):
    torch.manual_seed(seed)
    out, logits = output(max_steps, batch_size, dtype=torch.float64)
    y = torch.randint(0, 2, (batch_size,)).double()
    reconstruction = regularization = 0.0
    for i in range(batch_size):
        p = halting(logits[:, i].tolist())
        reconstruction += sum(p[n] * per_sample(out.y_hat[n, i], y[i]).item() for n in range(max_steps)) / batch_size
        regularization += kl(p, geometric(lambda_p, max_steps, "remainder")) / batch_size
    terms = PonderLoss(per_sample, lambda_p, beta, repair="remainder")(out, y)
    assert terms.reconstruction.item() == pytest.approx(reconstruction, rel=1e-9)
    assert terms.regularization.item() == pytest.approx(regularization, rel=1e-9, abs=1e-12)
    assert terms.total.item() == pytest.approx((terms.reconstruction + beta * terms.regularization).item())


def test_class_targets_and_wide_outputs():
    out, _ = output(4, 6, (10,))
    y = torch.randint(0, 10, (6,))
    loss = ReconstructionLoss(nn.CrossEntropyLoss(reduction="none"))(out, y)
    by_step = torch.stack([nn.functional.cross_entropy(out.y_hat[n], y, reduction="none") for n in range(4)])
    torch.testing.assert_close(loss, (out.log_p.exp() * by_step).sum(0).mean())


def test_each_sample_learns_a_best_step_of_its_own():
    """d loss / d p_n differs from sample to sample: what a mean taken too early would destroy."""
    out, _ = output(5, 64)
    log_p = out.log_p.detach().requires_grad_()
    ReconstructionLoss(per_sample)(PonderOutput(out.y_hat, out.halt_logits, log_p), torch.zeros(64)).backward()
    to_p = log_p.grad / log_p.detach().exp()  # [N, batch]
    assert (to_p.std(1) > 1e-3).all()


@pytest.mark.parametrize(
    ("criterion", "shape"),
    [
        (nn.MSELoss(), r"\[\]"),
        (nn.MSELoss(reduction="sum"), r"\[\]"),
        (lambda y_hat, y: squared(y_hat, y)[..., None], r"\[4, 1\]"),
        (lambda y_hat, y: squared(y_hat, y)[:2], r"\[2\]"),
    ],
)
def test_a_criterion_without_one_loss_per_answer_is_refused_with_the_reason(criterion, shape):
    message = rf"one loss per answer, shape \[4\] for 2 steps of 2 samples; got shape {shape}.*ponder per input"
    out, _ = output(2, 2)
    for loss in (ReconstructionLoss(criterion), PonderLoss(criterion, 0.2), FixedDepthLoss(criterion, True)):
        with pytest.raises(ValueError, match=message):
            loss(out, torch.zeros(2))
    with pytest.raises(ValueError, match=message):
        ACTLoss(criterion, 0.1)(ACT_OUTPUT, ZEROS)
    if shape == r"\[\]":  # nor is a mean of one answer a loss of that answer
        with pytest.raises(ValueError, match=r"shape \[1\] for 1 steps of 1 samples; got shape \[\]"):
            ReconstructionLoss(criterion)(output(1, 1)[0], torch.zeros(1))


@pytest.mark.parametrize("direction", ["p||p_G", "p_G||p"])
def test_gradients_against_finite_differences(direction):
    y = torch.tensor([0.0, 1.0, 1.0], dtype=torch.float64)
    loss = PonderLoss(per_sample, 0.3, 0.5, direction=direction)

    def total(y_hat, logits):
        return loss(PonderOutput(y_hat, logits, halting_log_probs(logits)), y).total

    inputs = [torch.randn(4, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    assert torch.autograd.gradcheck(total, inputs)


def squared(y_hat, y):
    return (y_hat - y).square()


ACT_OUTPUT = ACTOutput(
    y_hat=torch.tensor([[1.0, 2.0], [3.0, 5.0]]),  # [T, batch], like the others
    steps=torch.tensor([[1, 4], [2, 3]]),
    remainder=torch.tensor([[1.0, 0.25], [0.5, 0.125]]),
    state=None,
)
ZEROS = torch.zeros(2, 2)


@pytest.mark.parametrize(
    ("tau", "cost", "expected"),
    [
        (0.1, "ponder", (19.5 + 0.59375, 19.5, 5.9375)),  # sum_t N + R is 4.5 and 7.375
        (0.1, "accumulated", (19.5 - 0.10625, 19.5, -1.0625)),  # sum_t R - 1 is -0.5 and -1.625
        (0.0, "ponder", (19.5, 19.5, 5.9375)),  # squares sum to 1 + 9 and 4 + 25
    ],
)
def test_act_loss_worked_by_hand(tau, cost, expected):
    assert ACTLoss(squared, tau, cost)(ACT_OUTPUT, ZEROS) == pytest.approx(expected)


def test_act_loss_of_the_last_answer_alone_charges_for_all_thought():
    last = ACTLoss(squared, 0.1)(ACT_OUTPUT._replace(y_hat=ACT_OUTPUT.y_hat[-1:]), ZEROS[-1:])
    assert last == pytest.approx((17 + 0.59375, 17, 5.9375))


@pytest.mark.parametrize("n_classes", [4, 6])
def test_act_loss_of_classes_also_where_batch_and_classes_are_as_many_and_of_several_numbers(n_classes):
    y_hat, y = torch.randn(3, 4, n_classes), torch.randint(n_classes, (3, 4))
    act_output = ACTOutput(y_hat, torch.ones(3, 4, dtype=torch.long), torch.ones(3, 4), None)
    by_hand = sum(-y_hat[t, i].log_softmax(0)[y[t, i]] for t in range(3) for i in range(4)) / 4
    criterion = nn.CrossEntropyLoss(reduction="none")
    torch.testing.assert_close(ACTLoss(criterion, 0.1)(act_output, y).reconstruction, by_hand)
    loss, y = ACTLoss(lambda y_hat, y: squared(y_hat, y).sum(1), 0.1), torch.randn_like(y_hat)
    torch.testing.assert_close(loss(act_output, y).reconstruction, squared(y_hat, y).sum() / 4)


@pytest.mark.parametrize("cost", ["ponder", "accumulated"])
def test_act_loss_of_one_sample_is_that_of_its_place_in_the_batch(cost):
    loss = ACTLoss(squared, 0.3, cost)
    alone = [loss(ACTOutput(*(part[:, i : i + 1] for part in ACT_OUTPUT[:3]), None), ZEROS[:, :1]) for i in range(2)]
    torch.testing.assert_close(loss(ACT_OUTPUT, ZEROS).total, (alone[0].total + alone[1].total) / 2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ReconstructionLoss("bce"), TypeError, "criterion must be callable.*'bce'"),
        (lambda: PonderLoss(per_sample, 0.2, -1.0), ValueError, r"beta must be a number in \[0, inf\); got -1.0"),
        (lambda: PonderLoss(per_sample, 0.2, "1"), TypeError, r"beta must be a number in \[0, inf\); got '1' \(str\)"),
        (lambda: PonderLoss(per_sample, 2.0), ValueError, r"prior must be a number in \(0, 1\]; got 2.0"),
        (lambda: PonderLoss(per_sample, None), TypeError, r"prior must be a number in \(0, 1\]; got None"),
        (lambda: RegularizationLoss("geometric"), ValueError, "prior must be one of 'uniform'; got 'geometric'"),
        (lambda: RegularizationLoss(torch.tensor(0.2)), ValueError, r"prior must have one value per step.*got \[\]"),
        (lambda: RegularizationLoss(torch.tensor([0.5, 0.4])), ValueError, "prior must be above 0.* sum to 1.*0.9"),
        (lambda: RegularizationLoss(0.2, direction="kl"), ValueError, "direction must be one of 'p||p_G'"),
        (lambda: RegularizationLoss("uniform", repair="cut"), ValueError, "repair must be one of 'renormalise', 'rem"),
        (lambda: ACTLoss("mse", 0.1), TypeError, "criterion must be callable.*'mse'"),
        (lambda: PonderLoss(nn.BCEWithLogitsLoss, 0.2), TypeError, "criterion must be callable"),
        (lambda: ACTLoss(squared, -0.1), ValueError, r"tau must be a number in \[0, inf\); got -0.1"),
        (lambda: ACTLoss(squared, 0.1, "N"), ValueError, "cost must be one of 'ponder', 'accumulated'; got 'N'"),
        (lambda: FixedDepthLoss(squared, 1), TypeError, "every_step must be True or False; got 1"),
        (lambda: PonderLoss(per_sample, 0.2)(output(3, 4)[0], [1.0] * 4), TypeError, "y must be a Tensor"),
        (lambda: PonderLoss(per_sample, 0.2)(ZEROS, ZEROS), TypeError, "output must be a PonderOutput"),
        (lambda: RegularizationLoss(0.2)(ZEROS), TypeError, "output must be a PonderOutput"),
        (lambda: RegularizationLoss(0.2)(output(3, 2)[0], ZEROS[0] > 0), ValueError, "a mask that is true nowhere"),
        (lambda: ACTLoss(squared, 0.1)(output(2, 2)[0], ZEROS), TypeError, "output must be an? ACTOutput"),
        (lambda: ACTLoss(squared, 0.1)(ACT_OUTPUT, ZEROS[0]), ValueError, r"y must .*\[2, 2, ...\]; got \[2\]"),
        (lambda: PonderLoss(lambda y_hat, y: 1.0, 0.2)(output(3, 2)[0], ZEROS[0]), ValueError, "criterion .* float"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message.replace("||", r"\|\|")):
        call()


@pytest.mark.parametrize("direction", ["p||p_G", "p_G||p"])
def test_what_is_left_out_is_a_renormalised_prior_and_a_weight_of_a_hundredth(direction):
    out, logits = output(5, 3)
    p, prior = [halting(row) for row in logits.double().T.tolist()], geometric(0.3, 5, "renormalise")
    expected = sum(kl(row, prior) if direction == "p||p_G" else kl(prior, row) for row in p) / 3
    terms = PonderLoss(per_sample, 0.3, direction=direction)(out, torch.zeros(3))
    assert terms.regularization.item() == pytest.approx(expected, rel=1e-4)
    assert (terms.total - terms.reconstruction).item() == pytest.approx(0.01 * expected, rel=1e-3)
    if direction == "p||p_G":
        assert PonderLoss(per_sample, 0.3)(out, torch.zeros(3)) == terms


@pytest.mark.parametrize("batch", [(1,), (4,), (10,), ()])
@pytest.mark.parametrize("loss", [PonderLoss(squared, 0.2), ReconstructionLoss(squared)])
def test_targets_of_another_batch_are_refused(batch, loss):
    """With one step, targets [1] would be broadcast against answers [5]."""
    with pytest.raises(ValueError, match=rf"y must have one target per sample, shape \[5, ...\]; got \{list(batch)}"):
        loss(output(1, 5)[0], torch.zeros(batch))


@pytest.mark.parametrize(("answer", "target"), [((), (1,)), ((1,), ()), ((2, 3), (3, 2)), ((1, 3), (3,))])
def test_targets_that_would_be_broadcast_are_refused(answer, target):
    """Without the check a mean over the dimension that broadcasting adds would pass for one loss per sample."""
    out, _ = output(2, 6, answer)
    criterion = lambda y_hat, y: squared(y_hat, y).flatten(1).mean(1)  # noqa: E731
    with pytest.raises(ValueError, match=r"a target y must have the shape of an answer.*got \["):
        ReconstructionLoss(criterion)(out, torch.zeros(6, *target))
    act_output = ACTOutput(out.y_hat, torch.ones(2, 6), torch.ones(2, 6), None)
    with pytest.raises(ValueError, match=r"a target y must have the shape of an answer.*got \["):
        ACTLoss(criterion, 0.1)(act_output, torch.zeros(2, 6, *target))


def test_targets_may_be_of_another_kind_than_answers():
    """Classes of several places, and a criterion that reads mean and variance from one answer."""
    out, _ = output(3, 4, (10, 5), torch.float64)
    loss = ReconstructionLoss(lambda y_hat, y: nn.functional.cross_entropy(y_hat, y, reduction="none").mean(1))
    assert loss(out, torch.randint(10, (4, 5))).isfinite()
    out, _ = output(3, 4, (2,), torch.float64)
    gaussian = ReconstructionLoss(lambda y_hat, y: squared(y_hat[:, 0], y) / y_hat[:, 1].exp() + y_hat[:, 1])
    assert gaussian(out, torch.zeros(4).double()).isfinite()


@pytest.mark.parametrize("prior", [0.3, "uniform"])
@pytest.mark.parametrize("direction", ["p||p_G", "p_G||p"])
def test_n_is_that_of_the_output(prior, direction):
    """One loss for networks of different N, in any order; the prior is built for each."""
    one = RegularizationLoss(prior, direction=direction)
    for max_steps in (5, 1, 20, 5):
        out, _ = output(max_steps, 3, dtype=torch.float64)
        uniform = torch.full((max_steps,), 1 / max_steps, dtype=torch.float64).log()
        log_prior = uniform if prior == "uniform" else geometric_log_prior(prior, max_steps)
        torch.testing.assert_close(one(out), kl_divergence(out.log_p, log_prior, direction).mean())


def test_a_prior_that_is_given_step_by_step():
    p_G = [0.5, 0.1, 0.1, 0.3]
    out, logits = output(4, 3, dtype=torch.float64)
    expected = sum(kl(halting(row), p_G) for row in logits.T.tolist()) / 3
    loss = PonderLoss(per_sample, torch.tensor(p_G, dtype=torch.float64))
    assert loss(out, torch.zeros(3).double()).regularization.item() == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"prior must have shape \[N\] = \[6\], one value per step.*; got \[4\]"):
        loss(output(6, 3)[0], torch.zeros(3))
    assert loss(out, torch.zeros(3).double()).regularization.item() == pytest.approx(expected)


@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from([1e-4, 0.2, 1.0]) | st.floats(0.01, 1))
def test_the_divergence_is_zero_only_at_the_prior_and_has_no_gradient_there(seed, max_steps, lambda_p):
    g = geometric_log_prior(lambda_p, max_steps)
    log_p = g[:, None].expand(-1, 3).clone().requires_grad_()
    regularization = RegularizationLoss(lambda_p)
    at_prior = regularization(PonderOutput(log_p, log_p, log_p))
    assert at_prior.item() == pytest.approx(0, abs=1e-12)
    (gradient,) = torch.autograd.grad(at_prior, log_p)
    torch.testing.assert_close(gradient, log_p.exp().detach() / 3)  # along a distribution the sum of the p_n stays 1
    torch.manual_seed(seed)
    out, _ = output(max_steps, 3, dtype=torch.float64)
    assert regularization(out).item() >= -1e-12


def test_beta_is_a_number_that_may_be_changed_and_nothing_is_saved():
    loss = PonderLoss(per_sample, 0.2, 1)
    assert type(loss.beta) is float
    out, _ = output(5, 3)
    before = loss(out, torch.zeros(3))
    loss.beta = 0.5
    after = loss(out, torch.zeros(3))
    assert after.regularization == before.regularization
    torch.testing.assert_close(before.total - after.total, 0.5 * before.regularization)
    assert not loss.state_dict()
    assert not list(loss.buffers())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_what_a_loss_keeps_moves_with_it_and_only_the_weights_of_a_criterion_are_saved(dtype):
    prior = torch.tensor([0.5, 0.25, 0.25], dtype=dtype)
    loss = PonderLoss(nn.BCEWithLogitsLoss(reduction="none", pos_weight=torch.tensor(2.0)), prior)
    assert {name for name, _ in loss.named_buffers()} == {
        "reconstruction.criterion.pos_weight",
        "regularization.log_prior",
    }
    assert [*loss.state_dict()] == ["reconstruction.criterion.pos_weight"]
    log_prior = loss.regularization.log_prior
    assert log_prior.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    torch.testing.assert_close(log_prior.exp(), prior.to(log_prior.dtype))
    prior[:] = 0.0  # it has been copied
    assert log_prior.isfinite().all()
    assert loss.to("meta").regularization.log_prior.is_meta


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("prior", [0.2, "uniform", torch.full((5,), 0.2)])
def test_a_loss_follows_its_network_to_the_device(prior):
    out, _ = output(5, 3)
    there = PonderOutput(*(part.cuda() for part in out))
    loss = PonderLoss(per_sample, prior)
    torch.testing.assert_close(loss(there, torch.zeros(3).cuda()).total.cpu(), loss(out, torch.zeros(3)).total)


LOSSES = [PonderLoss(per_sample, 0.3), ReconstructionLoss(per_sample), FixedDepthLoss(per_sample, every_step=True)]


@pytest.mark.parametrize("loss", [*LOSSES, FixedDepthLoss(per_sample, every_step=False)])
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))
def test_a_mask_leaves_only_what_is_asked(loss, seed, max_steps, batch_size, places):
    """Whatever stands elsewhere, NaN too, in answers, halting logits and targets."""
    torch.manual_seed(seed)
    for shape in ((), (places,)):
        a = torch.randn(max_steps, batch_size, *shape, dtype=torch.float64)
        y_hat, y = torch.randn_like(a), torch.randint(0, 2, a.shape[1:]).double()
        mask = torch.rand(y.shape) < 0.5
        mask.view(-1)[0] = True
        chosen = PonderOutput(y_hat[:, mask], a[:, mask], halting_log_probs(a[:, mask]))
        a[:, ~mask], y_hat[:, ~mask], y[~mask] = torch.nan, torch.inf, torch.nan
        out = PonderOutput(y_hat, a, halting_log_probs(a))
        found, wanted = loss(out, y, mask), loss(chosen, y[mask])
        for one, other in zip(*([t] if torch.is_tensor(t) else t for t in (found, wanted)), strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_mask_that_is_no_mask_is_refused_and_so_is_an_empty_one(loss):
    out, _ = output(3, 4)
    y = torch.zeros(4)
    for mask in (torch.tensor([0, 1, 1, 0]), torch.ones(4), [True] * 4):
        with pytest.raises(TypeError, match="mask must be a bool"):
            loss(out, y, mask)
    with pytest.raises(ValueError, match=r"mask must have shape \[4\]"):
        loss(out, y, torch.ones(4, 1, dtype=torch.bool))
    with pytest.raises(ValueError, match="y must have one target"):
        loss(out, y[:3], torch.ones(4, dtype=torch.bool))
    with pytest.raises(ValueError, match="true nowhere"):
        loss(out, y, torch.zeros(4, dtype=torch.bool))
    with pytest.raises(ValueError, match="empty batch"):
        loss(output(3, 0)[0], torch.zeros(0))
