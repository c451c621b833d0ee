"""Evidence 09: what the networks learn from."""

import math

import pytest
import torch
from torch.nn.functional import one_hot

from ponder_course.research.adding_a_column.act_tasks import Problem

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
