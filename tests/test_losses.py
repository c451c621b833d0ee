import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import geometric, halting, kl
from torch import nn

from ponder_utils.act import ACT, ACTOutput
from ponder_utils.cells import RNNCell
from ponder_utils.halting import halting_log_probs
from ponder_utils.losses import ACTLoss, PonderLoss, ReconstructionLoss, RegularizationLoss
from ponder_utils.pondernet import PonderNet, PonderOutput
from ponder_utils.steps import GRUStep

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
    terms = PonderLoss(per_sample, lambda_p, max_steps, beta, repair="remainder")(out, y)
    assert terms.reconstruction.item() == pytest.approx(reconstruction, rel=1e-6)
    assert terms.regularization.item() == pytest.approx(regularization, rel=1e-4, abs=1e-5)
    assert terms.total.item() == pytest.approx((terms.reconstruction + beta * terms.regularization).item())


def test_class_targets_and_wide_outputs():
    out, _ = output(4, 6, (10,))
    y = torch.randint(0, 10, (6,))
    loss = ReconstructionLoss(nn.CrossEntropyLoss(reduction="none"))(out, y)
    by_step = torch.stack([nn.functional.cross_entropy(out.y_hat[n], y, reduction="none") for n in range(4)])
    torch.testing.assert_close(loss, (out.log_p.exp() * by_step).sum(0).mean())


def test_each_sample_is_told_its_own_best_step():
    """d loss / d p_n differs from sample to sample: what a mean taken too early would destroy."""
    out, _ = output(5, 64)
    log_p = out.log_p.detach().requires_grad_()
    ReconstructionLoss(per_sample)(PonderOutput(out.y_hat, out.halt_logits, log_p), torch.zeros(64)).backward()
    to_p = log_p.grad / log_p.detach().exp()  # [N, batch]
    assert (to_p.std(1) > 1e-3).all()


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize(("max_steps", "batch_size"), [(5, 8), (1, 1)])
def test_a_reduced_criterion_is_refused_with_the_reason(reduction, max_steps, batch_size):
    out, _ = output(max_steps, batch_size)
    with pytest.raises(
        ValueError, match=r"criterion must return one loss per sample.*got shape \[\].*ponder per input"
    ):
        ReconstructionLoss(nn.BCEWithLogitsLoss(reduction=reduction))(out, torch.zeros(batch_size))


def test_a_criterion_with_too_many_dimensions_is_refused():
    out, _ = output(3, 4, (2,))
    with pytest.raises(ValueError, match=r"got shape \[12, 2\].*reduce all dimensions but the first"):
        ReconstructionLoss(per_sample)(out, torch.zeros(4, 2))


@pytest.mark.parametrize("direction", ["p||p_G", "p_G||p"])
def test_gradients_against_finite_differences(direction):
    y = torch.tensor([0.0, 1.0, 1.0], dtype=torch.float64)
    loss = PonderLoss(per_sample, 0.3, 4, 0.5, direction=direction)
    loss.regularization.log_prior = loss.regularization.log_prior.double()

    def total(y_hat, logits):
        return loss(PonderOutput(y_hat, logits, halting_log_probs(logits)), y).total

    inputs = [torch.randn(4, 3, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    assert torch.autograd.gradcheck(total, inputs)


def squared(y_hat, y):
    return (y_hat - y).square()


THOUGHT = ACTOutput(
    y_hat=torch.tensor([[1.0, 2.0], [3.0, 5.0]]),  # [T, batch], like the others
    n_updates=torch.tensor([[1, 4], [2, 3]]),
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
    assert ACTLoss(squared, tau, cost)(THOUGHT, ZEROS) == pytest.approx(expected)


def test_act_loss_of_the_last_answer_alone_charges_for_all_thought():
    last = ACTLoss(squared, 0.1)(THOUGHT._replace(y_hat=THOUGHT.y_hat[-1:]), ZEROS[-1:])
    assert last == pytest.approx((17 + 0.59375, 17, 5.9375))


@pytest.mark.parametrize("n_classes", [4, 6])
def test_act_loss_of_classes_also_where_batch_and_classes_are_as_many(n_classes):
    y_hat, y = torch.randn(3, 4, n_classes), torch.randint(n_classes, (3, 4))
    thought = ACTOutput(y_hat, torch.ones(3, 4, dtype=torch.long), torch.ones(3, 4), None)
    by_hand = sum(-y_hat[t, i].log_softmax(0)[y[t, i]] for t in range(3) for i in range(4)) / 4
    criterion = nn.CrossEntropyLoss(reduction="none")
    torch.testing.assert_close(ACTLoss(criterion, 0.1)(thought, y).reconstruction, by_hand)


def test_act_loss_refuses_targets_that_would_be_repeated_over_time():
    with pytest.raises(ValueError, match=r"y must have shape \[T, batch, ...\], here \[2, 2, ...\].*got \[2\]"):
        ACTLoss(squared, 0.1)(THOUGHT, ZEROS[0])


@pytest.mark.parametrize("cost", ["ponder", "accumulated"])
def test_act_loss_of_one_sample_is_that_of_its_place_in_the_batch(cost):
    loss = ACTLoss(squared, 0.3, cost)
    alone = [loss(ACTOutput(*(part[:, i : i + 1] for part in THOUGHT[:3]), None), ZEROS[:, :1]) for i in range(2)]
    torch.testing.assert_close(loss(THOUGHT, ZEROS).total, (alone[0].total + alone[1].total) / 2)


@pytest.mark.parametrize(
    ("criterion", "shape"),
    [
        (nn.MSELoss(), r"\[\]"),
        (nn.MSELoss(reduction="sum"), r"\[\]"),
        (lambda y_hat, y: squared(y_hat, y)[..., None], r"\[4, 1\]"),
        (lambda y_hat, y: squared(y_hat, y)[:2], r"\[2\]"),
    ],
)
def test_act_loss_refuses_a_criterion_without_one_loss_per_sample(criterion, shape):
    with pytest.raises(ValueError, match=rf'criterion must return one loss per row.*got shape {shape}.*"none"'):
        ACTLoss(criterion, 0.1)(THOUGHT, ZEROS)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ReconstructionLoss("bce"), TypeError, "criterion must be callable.*'bce'"),
        (lambda: PonderLoss(per_sample, 0.2, 5, -1.0), ValueError, r"beta must be a number in \[0, inf\); got -1.0"),
        (lambda: PonderLoss(per_sample, 2.0, 5), ValueError, r"lambda_p must be a number in \(0, 1\]; got 2.0"),
        (lambda: RegularizationLoss(0.2, 0), ValueError, "max_steps must be an integer >= 1; got 0"),
        (lambda: RegularizationLoss(0.2, 5, direction="kl"), ValueError, "direction must be one of 'p||p_G'"),
        (lambda: RegularizationLoss(0.2, 4)(output(5, 3)[0]), ValueError, r"log_prior must have shape \[N\] = \[5\]"),
        (lambda: ACTLoss("mse", 0.1), TypeError, "criterion must be callable.*'mse'"),
        (lambda: ACTLoss(squared, -0.1), ValueError, r"tau must be a number in \[0, inf\); got -0.1"),
        (lambda: ACTLoss(squared, 0.1, "N"), ValueError, "cost must be one of 'ponder', 'accumulated'; got 'N'"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message.replace("||", r"\|\|")):
        call()


def test_print_shows_the_settings():
    shown = repr(
        PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), prior=0.2, max_steps=20, beta=0.03, direction="p_G||p")
    )
    for setting in ("p_G=[0.202, 0.162, 0.129, ...]", "max_steps=20", "beta=0.03", "direction='p_G||p'"):
        assert setting in shown
    assert "tau=0.001, cost='ponder'" in repr(ACTLoss(nn.BCEWithLogitsLoss(reduction="none"), tau=1e-3))
    assert "max_steps=7" in repr(PonderNet(GRUStep(4, 8), 7))
    assert "epsilon=0.01, max_updates=9" in repr(ACT(RNNCell(5, 8), max_updates=9))


@pytest.mark.parametrize("direction", ["p||p_G", "p_G||p"])
def test_what_is_left_out_is_a_renormalised_prior_and_a_weight_of_a_hundredth(direction):
    out, logits = output(5, 3)
    p, prior = [halting(row) for row in logits.double().T.tolist()], geometric(0.3, 5, "renormalise")
    expected = sum(kl(row, prior) if direction == "p||p_G" else kl(prior, row) for row in p) / 3
    terms = PonderLoss(per_sample, 0.3, 5, direction=direction)(out, torch.zeros(3))
    assert terms.regularization.item() == pytest.approx(expected, rel=1e-4)
    assert (terms.total - terms.reconstruction).item() == pytest.approx(0.01 * expected, rel=1e-3)
    if direction == "p||p_G":
        assert PonderLoss(per_sample, 0.3, 5)(out, torch.zeros(3)) == terms


def test_a_loss_moves_with_its_buffers_and_saves_none_of_them():
    loss = PonderLoss(per_sample, 0.2, 5)
    assert {name for name, _ in loss.named_buffers()} >= {"beta", "regularization.log_prior"}
    assert {buffer.dtype for buffer in loss.buffers()} == {torch.float32}  # not every device has a float64
    assert not loss.state_dict()


def test_act_loss_of_answers_of_several_numbers():
    y_hat, y = torch.randn(3, 4, 2), torch.randn(3, 4, 2)
    thought = ACTOutput(y_hat, torch.ones(3, 4, dtype=torch.long), torch.ones(3, 4), None)
    loss = ACTLoss(lambda y_hat, y: squared(y_hat, y).sum(1), 0.1)
    torch.testing.assert_close(loss(thought, y).reconstruction, squared(y_hat, y).sum() / 4)


def test_a_refused_criterion_is_told_how_many_losses_are_wanted():
    with pytest.raises(ValueError, match=r"per sample, shape \[40\] for 5 steps of 8 samples; got shape \[\]"):
        ReconstructionLoss(nn.MSELoss())(output(5, 8)[0], torch.zeros(8))
    thought = ACTOutput(torch.zeros(3, 2), torch.ones(3, 2), torch.ones(3, 2), None)
    with pytest.raises(ValueError, match=r"per row, shape \[6\] for 3 time steps of 2 samples; got shape \[\]"):
        ACTLoss(nn.MSELoss(), 0.1)(thought, torch.zeros(3, 2))


def test_a_wrong_number_of_steps_is_named_by_the_whole_loss_too():
    with pytest.raises(ValueError, match="max_steps must be an integer >= 1; got 0"):
        PonderLoss(per_sample, 0.2, 0)
