"""Every place of a sample may halt by itself: as if each were a sample of its own, but it goes on to pass news."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from ponder_utils import rules
from ponder_utils.halting import PonderOutput
from ponder_utils.losses import PonderLoss, ReconstructionLoss
from ponder_utils.pondernet import PonderNet

BCE = nn.BCEWithLogitsLoss(reduction="none")
RULES = {
    "quantile": {"q": 0.6},
    "threshold": {"q": 0.4},
    "most_probable": {},
    "fixed": {"step": 2},
    "confidence": {"q": 0.8},
    "entropy": {"tolerance": 0.5},
    "unchanged": {"t": 2},
    "settled": {"tolerance": 0.05},
}
sizes = given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.integers(1, 8))


class Written:
    """Answers and halts at each place as written: y_hat, a [N, batch, *places]. x says which sample it is."""

    def __init__(self, y_hat, a):
        self.y_hat, self.a = y_hat, a
        self.rows = []

    def __call__(self, x, h):
        n = 0 if h is None else int(h[0])
        self.rows.append(len(x))
        return self.y_hat[n, x], torch.full_like(x, n + 1), self.a[n, x]


def written(seed, batch, height, width, n_steps, answer=()):
    generator = torch.Generator().manual_seed(seed)
    a = 3 * torch.randn(n_steps, batch, height, width, generator=generator)
    return Written(torch.randn(*a.shape, *answer, generator=generator), a)


@settings(max_examples=25)
@sizes
def test_each_place_halts_where_it_would_as_a_sample_of_its_own(seed, batch, height, width, n_steps):
    step, x = written(seed, batch, height, width, n_steps), torch.arange(batch)
    output = PonderNet(step, n_steps)(x)
    alone = PonderOutput(*(part.flatten(1) for part in output))
    for rule, parameters in RULES.items():
        if rule != "fixed" or n_steps >= 2:
            wanted = rules.halting_steps(alone, rule, **parameters)
            for check_every in (1, None, n_steps):
                found = PonderNet(step, n_steps).predict(x, rule, check_every=check_every, **parameters)
                assert torch.equal(found.steps.flatten(), wanted)
                assert torch.equal(found.y_hat.flatten(), alone.y_hat[wanted - 1, torch.arange(len(wanted))])
                p = alone.log_p.exp()[wanted - 1, torch.arange(len(wanted))]
                torch.testing.assert_close(found.p_halt.flatten(), p)
                assert (found.computed >= found.steps.flatten(1).amax(1)).all()


def test_a_sample_leaves_the_batch_when_its_last_place_has_halted():
    a = torch.full((6, 3, 1, 2), -9.0)
    a[1, 0] = 9.0  # both places of the first sample halt at step 2
    a[0, 1, 0, 0] = a[3, 1, 0, 1] = 9.0  # those of the second at 1 and 4
    step = Written(torch.arange(36.0).view(6, 3, 1, 2), a)
    found = PonderNet(step, 6).predict(torch.arange(3), "threshold", check_every=1)
    assert found.steps.tolist() == [[[2, 2]], [[1, 4]], [[6, 6]]]
    assert found.computed.tolist() == [2, 4, 6]
    assert step.rows == [3, 3, 2, 2, 1, 1]
    assert found.y_hat.tolist() == [[[6.0, 7.0]], [[2.0, 21.0]], [[34.0, 35.0]]]


def test_places_are_drawn_each_for_itself_and_again_with_the_same_seed():
    step, x = written(0, 400, 2, 3, 4), torch.arange(400)
    step.a[:] = step.a[:, :1]  # all samples alike
    model = PonderNet(step, 4)
    first, again = (model.predict(x, generator=torch.Generator().manual_seed(3)).steps for _ in range(2))
    assert torch.equal(first, again)
    frequencies = torch.stack([(first == n).float().mean(0) for n in range(1, 5)])
    torch.testing.assert_close(frequencies, model(x).log_p.exp()[:, 0], atol=0.1, rtol=0)
    assert (first[:, 0, 0] != first[:, 1, 2]).any()
    v = torch.full((400, 2, 3), 0.5)
    median = model.predict(x, "sample", v=v)
    assert torch.equal(median.steps, model.predict(x, "quantile", q=0.5).steps)
    with pytest.raises(ValueError, match=r"v .*\[400, 2, 3\].*\[400\]"):
        model.predict(x, "sample", v=v[:, 0, 0])


@pytest.mark.parametrize("loss", [PonderLoss(BCE, 0.3), ReconstructionLoss(lambda y_hat, y: BCE(y_hat, y).mean(1))])
def test_a_loss_refuses_places_that_are_no_samples(loss):
    output = PonderNet(written(0, 2, 1, 2, 4), 4)(torch.arange(2))
    with pytest.raises(ValueError, match=r"output .*\[4, 2, 1, 2\].*mask"):
        loss(output, torch.zeros(2, 1, 2))
