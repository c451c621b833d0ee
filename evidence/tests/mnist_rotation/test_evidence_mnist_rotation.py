"""What the evidence of lesson 04 measures beside the lesson."""

import pytest
import torch

from ponder_evidence.mnist_rotation import experiment
from ponder_utils import PonderOutput


class Answers(torch.nn.Module):
    """Answers and stops as it is told, whatever the images."""

    def __init__(self, output):
        super().__init__()
        self.output = output

    def forward(self, x):
        return self.output


def test_steps_of_right_and_of_wrong_answers_weigh_each_image_by_how_likely_it_is_so():
    p = torch.tensor([[0.25, 0.5], [0.75, 0.5]])  # [N, batch]
    answers = torch.tensor([[1, 1], [0, 1]])  # the first image is right at step 1, the second always
    y_hat = torch.nn.functional.one_hot(answers, 2).float()
    model = Answers(PonderOutput(y_hat, torch.zeros(2, 2), p.log()))
    right, wrong = experiment.right_and_wrong_steps(model, torch.zeros(2, 1), torch.tensor([1, 1]))
    assert right == pytest.approx((0.25 * 1.75 + 1 * 1.5) / 1.25)
    assert wrong == pytest.approx(1.75)


def test_the_loss_of_the_batch_averages_each_step_before_it_is_weighed():
    p, logits = torch.tensor([[0.2, 0.6], [0.8, 0.4]]), torch.randn(2, 2, 3)  # [N, batch], [N, batch, classes]
    y = torch.tensor([0, 2])
    terms = experiment.batch_mean_loss(0.4, 0.0, "p||p_G")(PonderOutput(logits, torch.zeros(2, 2), p.log()), y)
    slow = 0.0
    for n in range(2):
        step = sum(-logits[n, i].log_softmax(0)[y[i]].item() for i in range(2)) / 2
        slow += sum(p[n].tolist()) / 2 * step
    assert terms.total.item() == pytest.approx(slow, rel=1e-5)


def test_papers_runs_are_evaluated_once_an_epoch():
    for network, epoch in (("CNN", 100), ("conv", 200)):
        assert experiment.schedule_of("paper", network, 8600, n_train=12800)["log_every"] == epoch
