import pytest
import torch
from small import WithDropout

from examples import (
    kv_cache,
    less_memory,
    lstm,
    scorecard,
    torchvision_block,
    transformer,
    tune,
    your_own,
)
from examples.less_memory import CheckpointedNet
from ponder_utils import PonderNet


@pytest.mark.parametrize(
    ("example", "at_least"),
    [
        pytest.param(transformer, 0.95, marks=pytest.mark.slow),
        pytest.param(torchvision_block, 0.93, marks=pytest.mark.slow),
        pytest.param(scorecard, 0.95, marks=pytest.mark.slow),
        pytest.param(kv_cache, 0.95, marks=pytest.mark.slow),
        pytest.param(tune, 4, marks=pytest.mark.slow),  # more steps on the hardest inputs, and not a fraction
        (lstm, 0.95),
        (your_own, 0.95),
        pytest.param(less_memory, 4, marks=pytest.mark.slow),  # times less, and not a fraction of right answers
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_example_learns_its_task_or_shows_what_is_saved(example, at_least):
    assert example.main() >= at_least


@pytest.mark.parametrize("segment", [1, 3, 7, 20])
def test_recomputing_steps_changes_neither_answer_nor_gradient(segment):
    torch.manual_seed(0)
    plain = PonderNet(WithDropout(5, 8), 7)
    again = CheckpointedNet(plain.step, 7, segment)
    x, gradients = torch.randn(6, 5), []
    for model in (plain, again):
        torch.manual_seed(1)
        y_hat, _, log_p = model(x)
        gradients.append(torch.autograd.grad((log_p.exp() * y_hat).sum(), list(plain.parameters())))
    for one, two in zip(*gradients, strict=True):
        torch.testing.assert_close(one, two)
    torch.testing.assert_close(plain.eval()(x), again.eval()(x))
    assert torch.equal(plain.predict(x, "quantile").steps, again.predict(x, "quantile").steps)
