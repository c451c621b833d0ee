"""What the lessons on lines measure, against the slow way: one line, one step, one Python float at a time."""

import math
from statistics import correlation, fmean, median_low

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reference import halting, lambdas, most_probable_step, quantile_step, threshold_step
from torch import nn

from ponder_course.common.lines import AdditionTask, LineParityTask
from ponder_course.common.local import LocalStep
from ponder_course.common.store import plain
from ponder_course.light_cone import experiment as lines
from ponder_course.light_cone.experiment import gain, measure, same_for_all
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


def untrained(task):
    return LocalStep(2, 6, noise=0.5)


def slowly(step, task, N, n_lines):
    """All that `measure` is to find, but for its names."""
    x, y = task.batch(n_lines, torch.Generator().manual_seed(0))
    stopped = {
        "most probable": lambda logits, p: most_probable_step(p),
        **{f"quantile {q}": lambda logits, p, q=q: quantile_step(p, q) for q in (0.5, 0.9, 0.99)},
        **{f"threshold {q}": lambda logits, p, q=q: threshold_step(logits, q) for q in (0.05, 0.1, 0.2)},
    }
    found = {rule: [] for rule in ("sample", *stopped)}  # (right, steps, before) of each line
    by_step, needs, taken, guessed = [[] for _ in range(N)], [], [], {0: [], 1: []}
    waiting, ready = [], []
    for line in range(n_lines):
        with torch.no_grad():
            y_hat, halt_logits, _ = PonderNet(step, N).eval()(x[line : line + 1])
        targets, logits = y[line].tolist(), halt_logits[:, 0].double().tolist()
        p, (lambda_n, _) = halting(logits), lambdas(logits)
        right = []
        for n in range(N):
            answers = [float(a > 0) for a in y_hat[n, 0].tolist()]
            right.append(float(answers == targets))
            by_step[n].append(right[n])
        need = max(task.needed_steps(x[line : line + 1])[0].tolist())
        needs.append(need)
        taken.append(math.fsum(n * p[n - 1] for n in range(1, N + 1)))
        for guess, longest in guessed.items():
            if isinstance(task, AdditionTask):
                longest.append(max(task.needed_steps(x[line : line + 1], guess)[0].tolist()))
        for n in range(1, N):
            (waiting if n < need else ready).append(lambda_n[n - 1])
        expected = math.fsum(a * b for a, b in zip(p, right, strict=True))
        found["sample"].append((expected, taken[-1], math.fsum(p[n - 1] for n in range(1, N + 1) if n < need)))
        for rule, stop in stopped.items():
            n = stop(logits, p)
            found[rule].append((right[n - 1], n, float(n < need)))
    corr = {"all": correlation(taken, needs)}
    if isinstance(task, AdditionTask):
        corr |= {"carries": correlation(taken, guessed[0]), "no carries": correlation(taken, guessed[1])}
    same_need = [[n for n, need in zip(taken, needs, strict=True) if need == k] for k in range(1, max(needs) + 1)]
    return {
        "rules": {
            rule: dict(zip(("right", "steps", "before"), map(fmean, zip(*by_line, strict=True)), strict=True))
            for rule, by_line in found.items()
        },
        "by_step": [fmean(of_lines) for of_lines in by_step],
        "by_need": [fmean(of_lines) if of_lines else None for of_lines in same_need],
        "corr": corr,
        "need": fmean(needs),
        "waiting": fmean(waiting),
        "ready": fmean(ready),
    }


def flat(value, name=""):
    """Every number in nested dicts and lists, by its name."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        return {name: value}
    return {key: number for part, inner in value.items() for key, number in flat(inner, f"{name}/{part}").items()}


MEASURED = {
    "parity": LineParityTask(5),
    "parity, one rate": LineParityTask(5, 0.2),
    "addition": AdditionTask(4),
    "long carries": AdditionTask(6, None),
}


@pytest.mark.parametrize("task", MEASURED.values(), ids=MEASURED)
@pytest.mark.parametrize("step", [Patient, untrained])
@pytest.mark.parametrize("N", [4, 9])
def test_what_is_measured_is_what_one_finds_line_by_line(task, step, N):
    step = step(task)
    got = measure(PonderNet(step, 3), task, N, 50)
    ours, slow = flat(got), flat(slowly(step, task, N, 50))
    assert ours.keys() == slow.keys()
    for name, value in slow.items():
        assert ours[name] == (None if value is None else pytest.approx(value, rel=1e-4, abs=1e-5)), name
    assert got == plain(got)  # a store holds it


class Undecided(Patient):
    """Its units add up to 1 before any of them is 0.5."""

    def forward(self, x, h):
        y_hat, h, halt_logit = super().forward(x, h)
        return y_hat, h, halt_logit / 4 - 0.5


def test_what_is_measured_of_act_is_what_one_finds_line_by_line():
    task, N, n_lines = LineParityTask(5), 4, 60
    step = Undecided(task)
    x, y = lines.fresh(task, n_lines)
    found, waiting = [], []  # (need, steps, right, right if stopped at a unit of 0.5) of each line
    for line in range(n_lines):
        with torch.no_grad():
            y_hat, halt_logits, _ = PonderNet(step, N).eval()(x[line : line + 1])
        need = max(task.needed_steps(x[line : line + 1])[0].tolist())
        units, right = halt_logits[:, 0].double().sigmoid().tolist(), []
        n = next((n for n in range(1, N) if math.fsum(units[:n]) >= 0.99), N)
        p = [*units[: n - 1], 1 - math.fsum(units[: n - 1])]
        alone = next((n for n in range(1, N) if units[n - 1] >= 0.5), N)
        averages = (torch.tensor(p)[:, None] * y_hat[:n, 0]).sum(0)
        for answers in (averages, y_hat[alone - 1, 0]):
            right.append(bool(((answers > 0) == (y[line] > 0.5)).all()))
        found.append((need, n, *right))
        waiting += units[: need - 1]
    by_need = [[row for row in found if row[0] == need] for need in range(1, 6)]
    got = lines.measure_act(PonderNet(step, 3), task, N, n_lines)
    assert got["lines_by_need"] == [len(rows) for rows in by_need]
    assert got["right_by_need"] == [sum(row[2] for row in rows) for rows in by_need]
    assert got["by_need"] == pytest.approx([fmean(row[1] for row in rows) for rows in by_need])
    assert got["right"] == pytest.approx(fmean(row[2] for row in found))
    assert got["right if stopped at a unit of 0.5"] == pytest.approx(fmean(row[3] for row in found))
    assert got["unit while waiting"] == pytest.approx(median_low(waiting), rel=1e-4)
    assert len({got["right"], got["right if stopped at a unit of 0.5"], 0.0, 1.0}) == 4


def test_the_gain_of_halting_by_hand():
    """Against 2.25 steps for everyone: three of four lines take 2, and one takes 3."""
    test = {"rules": {"some": {"right": 0.9, "steps": 2.25}}, "by_step": [0.1, 0.4, 0.8, 1.0]}
    assert gain(test, "some") == pytest.approx(0.9 - (0.4 + 0.4 + 0.4 + 0.8) / 4)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0, 1))
def test_the_same_for_all_lies_on_a_straight_line_between_two_numbers_of_steps(by_step, fraction):
    steps = 1 + fraction * (len(by_step) - 1)
    low = int(steps)  # so many of ten take one step more
    more = steps - low
    expected = by_step[low - 1] if more == 0 else (1 - more) * by_step[low - 1] + more * by_step[low]
    assert same_for_all(by_step, steps) == pytest.approx(expected, abs=1e-9)
    assert same_for_all(by_step, len(by_step) + 1.5) == by_step[-1]


def test_lateness_is_what_the_steps_are_above_the_need():
    test = {"need": 7.5, "rules": {"sample": {"steps": 9.0}, "fixed": {"steps": 7.0}}}
    assert lines.lateness(test) == 1.5
    assert lines.lateness(test, "fixed") == -0.5


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
