import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import geometric, halting, kl
from torch import nn

from ponder_utils.act import ACTOutput
from ponder_utils.halting import DIRECTIONS, PonderOutput, halting_log_probs
from ponder_utils.losses import ACTLoss, FixedDepthLoss, PonderLoss, ReconstructionLoss, RegularizationLoss

per_sample = nn.BCEWithLogitsLoss(reduction="none")


def output(max_steps, batch_size, shape=(), dtype=torch.float32):
    y_hat = torch.randn(max_steps, batch_size, *shape, dtype=dtype, requires_grad=True)
    logits = torch.randn(max_steps, batch_size, dtype=dtype, requires_grad=True)
    return PonderOutput(y_hat, logits, halting_log_probs(logits)), logits


priors = st.floats(0.05, 0.95) | st.sampled_from(["uniform", "step by step"])
DIRECTION = st.sampled_from(DIRECTIONS)


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 6), priors, DIRECTION)
def test_loss_equals_the_definition_sample_by_sample(seed, max_steps, batch_size, prior, direction):
    torch.manual_seed(seed)
    out, logits = output(max_steps, batch_size, dtype=torch.float64)
    y, beta = torch.randint(0, 2, (batch_size,)).double(), torch.rand(()).item()
    if prior == "uniform":
        p_G = [1 / max_steps] * max_steps
    elif prior == "step by step":
        prior = torch.rand(max_steps, dtype=torch.float64).add(0.1)
        prior /= prior.sum()
        p_G = prior.tolist()
    else:
        p_G = geometric(prior, max_steps)
    reconstruction = regularization = 0.0
    for i in range(batch_size):
        p = halting(logits[:, i].tolist())
        reconstruction += sum(p[n] * per_sample(out.y_hat[n, i], y[i]).item() for n in range(max_steps)) / batch_size
        regularization += (kl(p, p_G) if direction == "p||p_G" else kl(p_G, p)) / batch_size
    terms = PonderLoss(per_sample, prior, beta, direction=direction)(out, y)
    assert terms.reconstruction.item() == pytest.approx(reconstruction, rel=1e-9)
    assert terms.regularization.item() == pytest.approx(regularization, rel=1e-9, abs=1e-12)
    assert terms.total.item() == pytest.approx(reconstruction + beta * regularization)
    assert PonderLoss(per_sample, 0.3)(out, y) == PonderLoss(per_sample, 0.3, 0.01)(out, y)


def squared(y_hat, y):
    return (y_hat - y).square()


ACT_OUTPUT = ACTOutput(
    y_hat=torch.tensor([[1.0, 2.0], [3.0, 5.0]]),  # [T, batch], like the others
    steps=torch.tensor([[1, 4], [2, 3]]),
    remainder=torch.tensor([[1.0, 0.25], [0.5, 0.125]]),
    state=None,
)
ZEROS = torch.zeros(2, 2)
AT_SAMPLES, AT_PLACES = (PonderOutput(*[torch.zeros(shape)] * 3) for shape in ((3, 4), (3, 2, 2)))


@pytest.mark.parametrize(
    ("tau", "expected"),
    [
        (0.1, (19.5 + 0.59375, 19.5, 5.9375)),  # sum_t N + R is 4.5 and 7.375
        (0.0, (19.5, 19.5, 5.9375)),  # squares sum to 1 + 9 and 4 + 25
    ],
)
def test_act_loss_worked_by_hand(tau, expected):
    assert ACTLoss(squared, tau)(ACT_OUTPUT, ZEROS) == pytest.approx(expected)
    of_last = ACTLoss(squared, tau)(ACT_OUTPUT._replace(y_hat=ACT_OUTPUT.y_hat[-1:]), ZEROS[-1:])
    assert of_last == pytest.approx((expected[0] - 2.5, 17, expected[2]))  # and charges for all thought


def test_act_loss_of_classes_also_where_batch_and_classes_are_as_many():
    y_hat, y = torch.randn(3, 4, 4), torch.randint(4, (3, 4))
    act_output = ACTOutput(y_hat, torch.ones(3, 4, dtype=torch.long), torch.ones(3, 4), None)
    by_hand = sum(-y_hat[t, i].log_softmax(0)[y[t, i]] for t in range(3) for i in range(4)) / 4
    criterion = nn.CrossEntropyLoss(reduction="none")
    torch.testing.assert_close(ACTLoss(criterion, 0.1)(act_output, y).reconstruction, by_hand)


@pytest.mark.parametrize(("answer", "target"), [((), (1,)), ((1,), ()), ((2, 3), (3, 2)), ((1, 3), (3,))])
def test_targets_that_would_be_broadcast_are_refused(answer, target):
    """Without the check a mean over the dimension that broadcasting adds would pass for one loss per sample."""
    out, _ = output(2, 6, answer)
    criterion = lambda y_hat, y: squared(y_hat, y).flatten(1).mean(1)  # noqa: E731
    with pytest.raises(ValueError, match="a target y "):
        ReconstructionLoss(criterion)(out, torch.zeros(6, *target))
    act_output = ACTOutput(out.y_hat, torch.ones(2, 6), torch.ones(2, 6), None)
    with pytest.raises(ValueError, match="a target y "):
        ACTLoss(criterion, 0.1)(act_output, torch.zeros(2, 6, *target))


LOSSES = [PonderLoss(per_sample, 0.3), FixedDepthLoss(per_sample, every_step=True)]


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
        torch.testing.assert_close(torch.stack(found), torch.stack(wanted))


ONES = torch.ones(1, 4)


@pytest.mark.parametrize(
    ("loss", "out", "time"),
    [(loss, AT_SAMPLES, ()) for loss in LOSSES] + [(ACTLoss(per_sample, 0.1), ACTOutput(ONES, ONES, ONES, None), (1,))],
)
def test_masks_and_targets_that_do_not_fit_are_refused(loss, out, time):
    y, all_of_them = torch.zeros(*time, 4), torch.ones(*time, 4, dtype=torch.bool)
    with pytest.raises(TypeError, match=r"mask .*bool"):
        loss(out, y, all_of_them.long())
    with pytest.raises(ValueError, match=r"mask .*4, 1\]"):
        loss(out, y, all_of_them[..., None])
    for mask in (None, all_of_them):
        with pytest.raises(ValueError, match=r"y .*4, \.\.\.\]; got \[.*1\]"):
            loss(out, torch.zeros(*time, 1), mask)
    with pytest.raises(TypeError, match=r"y .*list"):
        loss(out, [1.0] * 4)
    with pytest.raises(ValueError, match="true nowhere"):
        loss(out, y, ~all_of_them)
    with pytest.raises(TypeError, match=r"output .*tensor"):
        loss(y, y)


@pytest.mark.parametrize(
    ("criterion", "came"),
    [
        (nn.MSELoss(), r"\[\]"),
        (lambda y_hat, y: squared(y_hat, y)[..., None], r"\[4, 1\]"),
        (lambda y_hat, y: 1.0, "float"),
    ],
)
def test_a_criterion_without_one_loss_per_answer_is_refused(criterion, came):
    out, _ = output(2, 2)
    with pytest.raises(ValueError, match=rf"criterion .*\[4\].*{came}"):
        ReconstructionLoss(criterion)(out, torch.zeros(2))
    with pytest.raises(ValueError, match=rf"criterion .*\[4\].*{came}"):
        ACTLoss(criterion, 0.1)(ACT_OUTPUT, ZEROS)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: PonderLoss(per_sample, 0.2, -1.0), ValueError, "beta .*-1.0"),
        (lambda: RegularizationLoss(torch.tensor(0.2)), ValueError, r"prior .*\[\]"),
        (lambda: RegularizationLoss(ZEROS[0] + 0.5)(output(6, 3)[0]), ValueError, r"prior .*\[6\].*\[2\]"),
        (lambda: ReconstructionLoss(per_sample)(AT_PLACES, ZEROS), ValueError, r"output .*mask .*\[3, 2, 2\]"),
        (lambda: PonderLoss(per_sample, 0.2)(output(6, 3)[0], torch.tensor([0, 1, 1])), ValueError, "float32 .*int64"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
