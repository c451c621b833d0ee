import pytest
import torch
from small import WithDropout

from examples import less_memory, lstm, scorecard, torchvision_block, transformer, universal_transformer, your_own
from examples.less_memory import CheckpointedNet
from ponder_utils import PonderNet
from ponder_utils.halting import PonderOutput, halting_log_probs


@pytest.mark.parametrize(
    ("example", "at_least"),
    [
        pytest.param(transformer, 0.95, marks=pytest.mark.slow),
        pytest.param(universal_transformer, 0.95, marks=pytest.mark.slow),
        pytest.param(torchvision_block, 0.93, marks=pytest.mark.slow),
        pytest.param(scorecard, 0.95, marks=pytest.mark.slow),
        (lstm, 0.95),
        (your_own, 0.95),
        pytest.param(less_memory, 4, marks=pytest.mark.slow),  # times less, and not a fraction of right answers
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_example_learns_its_task_or_shows_what_is_saved(example, at_least):
    assert example.main() >= at_least


def test_twice_sure_takes_the_second_of_two_sure_answers():
    y_hat = torch.tensor([[9.0, 9.0, 0.0], [-9.0, 0.0, 9.0], [0.0, 9.0, 0.0], [0.0, -9.0, 9.0]])  # [steps, batch]
    halt_logits = torch.zeros_like(y_hat)
    output = PonderOutput(y_hat, halt_logits, halting_log_probs(halt_logits))
    assert your_own.twice_sure(output).tolist() == [2, 4, 0]
    first = PonderOutput(*(part[:1] for part in output))
    assert your_own.twice_sure(first).tolist() == [0, 0, 0]


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
