"""Evidence 09: what the networks learn from, what is measured of them, and that each kind runs."""

import math

import pytest
import torch
from torch import nn
from torch.nn.functional import one_hot

from ponder_course.research.adding_a_column import act_characters, act_evidence, act_tasks
from ponder_course.research.adding_a_column.act_tasks import Problem
from ponder_utils.act import ACT, ACTOutput

LOGIC, ADDITION, SORT = Problem("logic", 3, 4), Problem("addition", 3, 3), Problem("sort", 4, 4)
PROBLEMS = [LOGIC, ADDITION, SORT]


def right_answers(problem, y):
    """The logits of a network that is right: anything where nothing is asked."""
    if problem.task == "logic":
        return torch.where(y > 0.5, 9.0, -9.0)
    return 9.0 * one_hot(y.clamp(min=0), problem.sizes[2]).flatten(2).float()


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.task)
def test_losses_and_errors_are_those_of_a_loop(problem):
    x, y = problem.draw(problem.levels, torch.Generator().manual_seed(3), 20, 3)
    y_hat = 2 * torch.randn(*y.shape[:2], problem.sizes[1] * problem.sizes[2]).squeeze(2)
    half = torch.rand(y.shape[:2]) < 0.5
    y_hat[half] = right_answers(problem, y)[half]
    wrong, asked = problem.judge(y_hat, y)
    losses = problem.criterion(y_hat.flatten(0, 1), y.flatten(0, 1)).view(y.shape[:2])
    for t in range(len(x)):
        for row in range(20):
            target = y[t, row].reshape(-1).tolist()
            assert asked[t, row] == (target[0] >= 0)
            if target[0] < 0:
                assert losses[t, row] == wrong[t, row] == 0
                continue
            loss, is_wrong = 0.0, False
            for place, wanted in enumerate(target):
                if problem.task == "logic":
                    logits = [0.0, y_hat[t, row].item()]
                else:
                    logits = y_hat[t, row].view(len(target), -1)[place].tolist()
                loss += math.log(sum(map(math.exp, logits))) - logits[int(wanted)]
                is_wrong |= logits.index(max(logits)) != wanted
            assert losses[t, row].item() == pytest.approx(loss, abs=1e-4)
            assert wrong[t, row] == is_wrong


class Scripted(ACT):
    """Takes as many steps as the time step is hard, and is wrong at the hardest level."""

    def __init__(self, problem):
        super().__init__(nn.RNNCell(problem.sizes[0] + 1, 1))
        self.problem = problem

    def forward(self, x, state=None):
        hard = self.problem.at(self.problem.levels).difficulty(x)
        y = torch.zeros(x.shape[:2]) if self.problem.task == "logic" else None
        task = self.problem.at(self.problem.levels)
        if self.problem.task == "sort":
            n = len(x) // 2
            y = torch.cat([torch.full((n, x.shape[1]), -1), x[:n, :, 0].argsort(0)])
        else:
            y = task.answers(x)
        y_hat = right_answers(self.problem, y)
        y_hat[hard == self.problem.levels] *= -1
        return ACTOutput(y_hat, hard, torch.zeros_like(hard), None)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.task)
def test_what_is_measured_of_a_scripted_network_is_what_it_does(problem):
    found = act_tasks.measure(Scripted(problem), problem, 900)
    first = 2 if problem is SORT else 1
    assert found["error"] == [0.0] * (problem.levels - first) + [1.0]
    assert found["steps"] == [float(d) for d in range(first, problem.levels + 1)]
    assert found["follows"] == pytest.approx(1.0)
    if problem is SORT:
        assert found["sequence_error"] == pytest.approx(1 / 3)
        assert found["steps_by_time"] == [4.0] * 8
    else:
        asked = 3 if problem is LOGIC else 2
        assert found["sequence_error"] == pytest.approx(1 - (1 - 1 / problem.levels) ** asked, abs=0.06)
        assert found["mean_steps"] == pytest.approx((1 + problem.levels) / 2, abs=0.1)


def test_a_short_run_of_characters_has_bits_and_a_trace():
    (setting,) = act_evidence.EXPERIMENTS["characters"].short
    found = act_characters.run(**setting)
    trace = found["trace"]
    assert len(trace["read"]) == len(trace["steps"]) == len(trace["entropy"])
    assert 4 < found["bits"] < 8
    assert found["after"].keys() == act_characters.AFTER.keys()
    y_hat = torch.tensor([[0.0] * 8, [90.0] + [0.0] * 7, [0.0, 0.0] + [-90.0] * 6])
    assert act_characters.entropies(y_hat).tolist() == pytest.approx([3, 0, 1], abs=1e-5)
