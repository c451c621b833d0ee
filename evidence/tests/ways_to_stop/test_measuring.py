"""How the rules of lesson 06 are read from what a network says, and how right it is then."""

import pytest
import torch

from ponder_course.common.lines import LineParityTask
from ponder_course.light_cone.lesson import LocalStep, whole_lines_right
from ponder_course.ways_to_stop.problems import Inputs, UnanswerableTask
from ponder_evidence.ways_to_stop import measuring as stopping
from ponder_utils.act import act_average
from ponder_utils.evaluation import binary_correct
from ponder_utils.halting import PonderOutput, halting_log_probs
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import Step


@pytest.mark.parametrize(
    ("name", "rule", "value"),
    [
        ("fixed", {"rule": "fixed", "step": 4}, 0.5),
        ("confidence", {"rule": stopping.sure, "q": 0.8}, 0.8),
        ("entropy", {"rule": stopping.unsure, "tolerance": 0.5}, 0.5),
        ("unchanged", {"rule": stopping.unchanged, "t": 2}, 2),
        ("either", {"rule": stopping.sure_or_settled, "tolerance": 0.03}, 0.03),
        ("most probable", {"rule": "most_probable"}, 0.0),
        ("quantile", {"rule": "quantile", "q": 0.5}, 0.5),
        ("threshold", {"rule": "threshold", "q": 0.5}, 0.5),
    ],
)
def test_what_is_read_from_all_steps_is_what_predict_does_step_by_step(name, rule, value):
    torch.manual_seed(0)
    model, (x, _) = PonderNet(LocalStep(2, 32, noise=0.1), 9).eval(), LineParityTask(5).batch(30)
    halted = stopping.halted(model(x), name, value)
    prediction = model.predict(x, check_every=1, **rule)
    assert torch.equal(prediction.steps, halted.steps[0])
    torch.testing.assert_close(prediction.y_hat, halted.y_hat[0])


def test_a_draw_is_weighted_exactly_and_a_mean_is_of_probabilities():
    y_hat, a = torch.randn(2, 7, 40)
    output, y = PonderOutput(y_hat, a, halting_log_probs(a)), (torch.arange(40) % 2).float()
    p, right = output.log_p.exp(), (output.y_hat > 0) == (y > 0.5)
    drawn = stopping.halted(output, "sample")
    accuracy, steps = stopping.score(drawn, y, y > -1, binary_correct)
    assert accuracy == pytest.approx((p * right).sum(0).mean().item())
    assert steps == pytest.approx((p * torch.arange(1, 8)[:, None]).sum(0).mean().item())
    mean = stopping.halted(output, "expectation")
    torch.testing.assert_close(mean.y_hat[0].sigmoid(), (p * output.y_hat.sigmoid()).sum(0))
    assert (mean.steps == 7).all()
    average = stopping.halted(output, "average")
    expected = act_average(output)
    assert torch.equal(average.y_hat, expected.y_hat)
    assert torch.equal(average.steps, expected.steps)


def test_lines_without_an_answer_are_not_graded_but_their_steps_count():
    class Guess(Step):
        """Answers what has no answer otherwise, and later."""

        def encode(self, x):
            return x, torch.zeros(len(x))

        def forward(self, x, n):
            known = x[:, 2, 0] == 0
            sure = torch.where(known | (n >= 3), 9.0, 0.1)[:, None]
            flipped = torch.where(known, 1, -1)[:, None]
            return sure * flipped * (2 * LineParityTask.answers(x) - 1), n + 1, torch.zeros(len(x))

    tests = {"valid": Inputs(5, 6, 200), "none": Inputs(5, 6, 9, {"fraction": 1.0})}
    found = stopping.measure(PonderNet(Guess(), 6), UnanswerableTask, tests, ["confidence"], whole_lines_right)
    right, steps = found["valid"]["rules"]["confidence"][3]
    assert found["none"]["rules"]["confidence"][3] == [None, 4]
    x, _ = UnanswerableTask(5).batch(200, torch.Generator().manual_seed(100))
    unknown = (~UnanswerableTask.answerable(x)).float().mean().item()
    assert right == 1
    assert steps == pytest.approx(1 + 3 * unknown)
    assert 0.1 < unknown < 0.5
