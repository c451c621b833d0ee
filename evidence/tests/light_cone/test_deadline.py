"""When places are right for good, against one place and one step at a time."""

import math
from statistics import fmean, linear_regression

import pytest
import torch
from torch import nn

from ponder_course.common.lines import LineParityTask
from ponder_evidence.light_cone.deadline import measure
from ponder_utils.pondernet import PonderNet

N = 9


class Late(nn.Module):
    """Right at a place from about twice its need on, later where a line has many bits, and now and then before.

    At the largest need it is right only where a line has two bits.
    """

    def forward(self, x, h):
        n = 1 if h is None else h + 1
        need, bits = LineParityTask.needed_steps(x), x[:, 0].sum(1)[:, None]
        right = (n >= 2 * need - 1 + bits // 3) | ((n == 2) & (bits == 1))
        right &= (need < 6) | (bits == 2)
        y_hat = (LineParityTask.answers(x) * 2 - 1) * torch.where(right, 1.0, -1.0)
        return y_hat, n, torch.zeros(len(x))


def from_then_on(right):
    """The step from which a place is right and stays so."""
    for n in range(1, len(right) + 1):
        if all(right[n - 1 :]):
            return n
    return len(right) + 1


def test_what_is_measured_is_what_one_finds_place_by_place():
    task, n_lines = LineParityTask(6), 60
    found = measure(PonderNet(Late(), 2), task, N, n_lines)
    x, y = task.batch(n_lines, torch.Generator().manual_seed(0))
    by_need = {L: [] for L in range(1, 7)}
    places, lines = [], [[] for _ in range(N)]
    for line in range(n_lines):
        y_hat = PonderNet(Late(), N)(x[line : line + 1]).y_hat[:, 0]
        right = [[(a > 0) == (b > 0.5) for a, b in zip(step, y[line].tolist(), strict=True)] for step in y_hat.tolist()]
        for place, need in enumerate(task.needed_steps(x[line : line + 1])[0].tolist()):
            by_need[need].append(from_then_on([step[place] for step in right]))
        places += right[-1]
        for n, step in enumerate(right):
            lines[n].append(all(step))
    since = [sorted(steps)[math.ceil(0.9 * (len(steps) - 1))] for steps in by_need.values()]
    assert since[0] < since[1] < since[-1] == N + 1
    assert found["since"] == since
    assert found["slope"] == pytest.approx(linear_regression(range(1, 7), since).slope)
    assert found["places_right"] == pytest.approx(fmean(places))
    assert found["by_step"] == pytest.approx([fmean(step) for step in lines])
    assert found["lines_right"] == pytest.approx(found["by_step"][-1])
