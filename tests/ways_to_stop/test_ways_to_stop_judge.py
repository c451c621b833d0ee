"""What the judge says is grouped by the places that have not heard their start, as by hand."""

import math

import pytest
import torch

from ponder_course.common.lines import LineParityTask
from ponder_course.research.ways_to_stop import judge
from ponder_course.research.ways_to_stop.judge import MOST_OPEN, run
from ponder_utils.halting import PonderOutput, halting_log_probs

N = 6


class Oracle(torch.nn.Module):
    """Guesses 0 until the news has come, and says yes with probability 1 / (1 + open places)."""

    def forward(self, x):
        need, y = LineParityTask.needed_steps(x), LineParityTask.answers(x)
        steps = torch.arange(1, N + 1)[:, None, None]
        n_open = (need > steps).sum(2).float()
        a = (1 / (1 + n_open) - 1e-9).clamp(max=1 - 1e-6).logit()
        return PonderOutput(10 * (y * (need <= steps)) - 5, a, halting_log_probs(a))


def test_lines_are_grouped_by_their_open_places(monkeypatch):
    monkeypatch.setattr(judge, "learn", lambda *_: Oracle())
    found = run(seed=0, size=5)
    x, y = LineParityTask(5).batch(4000, torch.Generator().manual_seed(101))
    count, right = [0] * (MOST_OPEN + 1), [0] * (MOST_OPEN + 1)
    for resets, answers in zip(x[:, 1].tolist(), y.tolist(), strict=True):
        for n in range(1, N + 1):
            since, is_open = 0, []
            for reset in resets:
                since = 1 if reset else since + 1
                is_open.append(since > n)
            count[sum(is_open)] += 1
            right[sum(is_open)] += not any(a for a, still in zip(answers, is_open, strict=True) if still)
    assert found["count"] == count
    for k, many in enumerate(count):
        if many:
            assert found["right"][k] == pytest.approx(right[k] / many)
            assert found["yes"][k] == pytest.approx(1 / (1 + k), abs=1e-4)
            assert found["log2"][k] == pytest.approx(math.log2(1 / (1 + k)), abs=1e-4)
        else:
            assert found["yes"][k] is found["right"][k] is None
