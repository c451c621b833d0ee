"""What the lessons on lines measure, against the slow way: one line, one step, one Python float at a time."""

import math
from statistics import correlation, fmean

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import halting, most_probable_step, quantile_step, threshold_step
from torch import nn

from ponder_course.act_background.scripted import halt
from ponder_course.common.lines import AdditionTask, LineParityTask
from ponder_course.light_cone import experiment as lines
from ponder_course.light_cone.experiment import same_for_all
from ponder_course.light_cone.lesson import LocalStep
from ponder_utils.pondernet import PonderNet


class Patient(nn.Module):
    """Right at a place once its news can have come, but on some lines; votes for halting at about that time, or not."""

    def __init__(self, task):
        super().__init__()
        self.task, self.sure = task, nn.Parameter(torch.ones(()))

    def forward(self, x, h):
        h = torch.zeros(len(x)) if h is None else h
        h, need = h + 1, self.task.needed_steps(x)
        right = (need <= h[:, None]) & ((x[:, 0].sum(1) % 5 != 0) | (h > 6))[:, None]
        y_hat = self.sure * (torch.where(right, self.task.answers(x), x[:, 1]) * 2 - 1)
        halt_logit = 1.3 * (h - need.amax(1)) + 0.37 * x[:, 0].sum(1) - 1.71 * x[:, 0, 0] - 1.01
        return y_hat, h, halt_logit


RULES = {
    "most probable": lambda logits, p: most_probable_step(p),
    "quantile 0.9": lambda logits, p: quantile_step(p, 0.9),
    "threshold 0.2": lambda logits, p: threshold_step(logits, 0.2),
}


@pytest.mark.parametrize("task", [LineParityTask(5), LineParityTask(5, 0.2), AdditionTask(4), AdditionTask(6, None)])
@pytest.mark.parametrize("N", [4, 9])
def test_what_is_measured_is_what_one_finds_line_by_line(task, N):
    step, n_lines = Patient(task), 50
    got = lines.measure(PonderNet(step, 3), task, N, n_lines)
    x, y = task.batch(n_lines, torch.Generator().manual_seed(0))
    found = {rule: [] for rule in ("sample", *RULES)}  # (right, steps, before) of each line
    by_step, needs, taken = [[] for _ in range(N)], [], []
    for line in range(n_lines):
        with torch.no_grad():
            y_hat, halt_logits, _ = PonderNet(step, N).eval()(x[line : line + 1])
        logits = halt_logits[:, 0].double().tolist()
        p, need = halting(logits), max(task.needed_steps(x[line : line + 1])[0].tolist())
        right = [float(((answers > 0) == (y[line] > 0.5)).all()) for answers in y_hat[:, 0]]
        needs.append(need)
        taken.append(math.fsum(n * p[n - 1] for n in range(1, N + 1)))
        for n in range(N):
            by_step[n].append(right[n])
        expected = math.fsum(a * b for a, b in zip(p, right, strict=True))
        found["sample"].append((expected, taken[-1], math.fsum(p[: need - 1])))
        for rule, stop in RULES.items():
            n = stop(logits, p)
            found[rule].append((right[n - 1], n, float(n < need)))
    for rule, by_line in found.items():
        means = [fmean(values) for values in zip(*by_line, strict=True)]
        measured = [got["rules"][rule][what] for what in ("right", "steps", "before")]
        assert measured == pytest.approx(means, rel=1e-4, abs=1e-5)
    assert got["by_step"] == pytest.approx([fmean(of_lines) for of_lines in by_step])
    same_need = [[n for n, need in zip(taken, needs, strict=True) if need == k] for k in range(1, max(needs) + 1)]
    assert got["by_need"] == [pytest.approx(fmean(steps), rel=1e-4) if steps else None for steps in same_need]
    assert got["corr"]["all"] == pytest.approx(correlation(taken, needs), abs=1e-4)
    assert got["need"] == pytest.approx(fmean(needs))
    if isinstance(task, AdditionTask):
        for kind, guess in (("carries", 0), ("no carries", 1)):
            guessed = task.needed_steps(x, guess=guess).amax(1).tolist()
            assert got["corr"][kind] == pytest.approx(correlation(taken, guessed), abs=1e-4)


def test_what_is_measured_of_act_is_what_one_finds_line_by_line():
    task, N, n_lines = LineParityTask(5), 4, 60
    step = Patient(task)
    x, y = lines.fresh(task, n_lines)
    by_need = {need: [] for need in range(1, 6)}  # (steps, right) of each line
    waiting = []  # halting units of steps before the need
    for line in range(n_lines):
        with torch.no_grad():
            y_hat, halt_logits, _ = PonderNet(step, N).eval()(x[line : line + 1])
        p = halt(halt_logits[:, 0].double().sigmoid().tolist(), 0.01)
        average = (torch.tensor(p)[:, None] * y_hat[: len(p), 0]).sum(0)
        need = max(task.needed_steps(x[line : line + 1])[0].tolist())
        by_need[need].append((len(p), float(((average > 0) == (y[line] > 0.5)).all())))
        waiting += halt_logits[: need - 1, 0].sigmoid().tolist()
    got = lines.measure_act(PonderNet(step, 3), task, N, n_lines)
    assert got["lines_by_need"] == [len(rows) for rows in by_need.values()]
    assert got["right_by_need"] == [sum(right for _, right in rows) for rows in by_need.values()]
    assert got["by_need"] == pytest.approx([fmean(n for n, _ in rows) for rows in by_need.values()])
    assert got["unit while waiting"] == pytest.approx(torch.tensor(waiting).median().item())


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0, 1))
def test_the_same_for_all_lies_on_a_straight_line_between_two_numbers_of_steps(by_step, fraction):
    steps = 1 + fraction * (len(by_step) - 1)
    low = int(steps)  # so many of ten take one step more
    more = steps - low
    expected = by_step[low - 1] if more == 0 else (1 - more) * by_step[low - 1] + more * by_step[low]
    assert same_for_all(by_step, steps) == pytest.approx(expected, abs=1e-9)
    assert same_for_all(by_step, len(by_step) + 1.5) == by_step[-1]


def test_flipping_a_bit_is_compared_with_each_line_as_it_was():
    torch.manual_seed(0)
    model, (x, _) = PonderNet(LocalStep(2, 6), 4).eval(), LineParityTask(8).batch(5)
    before, differs = x.clone(), lines.changed(model, x, 2)
    assert torch.equal(x, before)
    y_hat, expected = model(x).y_hat, torch.zeros(4, 8, dtype=torch.bool)
    x[:, 0, 2] = (x[:, 0, 2] + 1) % 2
    for line, after in zip(y_hat.unbind(1), model(x).y_hat.unbind(1), strict=True):
        expected |= line != after
    assert torch.equal(differs, expected)
