"""HRM's two Qs and TRM's head: targets, training and measurements against the slow way, a line and a step at a time."""

import math
from statistics import fmean, median_low

import numpy as np
import pytest
import torch
from torch import nn

from ponder_course.common.store import plain
from ponder_course.judges import experiment, lesson
from ponder_course.judges.experiment import MeanLine, Thought, learn, measure
from ponder_course.judges.lesson import JudgedLine, hrm_loss, trm_loss, wants_to_halt
from ponder_course.judges.measured import leads_around
from ponder_course.judges.task import SumTask


@pytest.mark.parametrize("n_values", [2, 5])
def test_a_place_is_asked_for_the_sum_since_the_last_reset(n_values):
    x, y = SumTask(7, n_values=n_values).batch(30, torch.Generator().manual_seed(1))
    assert set(x[:, 0].unique().tolist()) == set(range(n_values))
    assert (x[:, 1, 0] == 1).all()
    for line, targets in zip(x.int().tolist(), y.tolist(), strict=True):
        total = 0
        for value, reset, target in zip(*line, targets, strict=True):
            total = value if reset else total + value
            assert target == total % n_values


def test_q_is_the_probability_that_all_places_are_right_and_nobody_halts_at_first():
    torch.manual_seed(0)
    step, h = JudgedLine(3, n_q=2), torch.randn(4, 32, 6)
    assert (step.q_logits(h).sigmoid() - 0.5**6).abs().max() < 1e-7
    nn.init.normal_(step.judge.weight)
    at_places = step.judge(h).double()  # [batch, n_q, places]
    for line in range(4):
        for which in range(2):
            q = math.prod(1 / (1 + math.exp(-v)) for v in at_places[line, which].tolist())
            assert step.q_logits(h)[which, line].sigmoid().item() == pytest.approx(q, rel=1e-4)


def test_trm_halts_above_one_half_and_hrm_where_going_on_is_worth_less():
    q = torch.tensor([[0.4, 0.6, 0.9], [0.3, 0.7, 0.9]])
    assert wants_to_halt(q[:1].logit()).tolist() == [False, True, True]
    assert wants_to_halt(q.logit()).tolist() == [True, False, False]


@pytest.mark.parametrize("head", [JudgedLine, MeanLine])
def test_the_losses_are_those_that_are_computed_line_by_line(head):
    torch.manual_seed(0)
    (x, y), step = SumTask(2, n_values=3).batch(40), head(3, n_q=2).double().eval()
    nn.init.normal_(step.judge.weight, std=0.3)
    z, h = step.encode(x.double())
    h, at_N = step.move(z, torch.randn_like(h)), torch.tensor([False, True] * 20)
    log_p, (q, on) = step.answer(h).log_softmax(1), step.q_logits(h).sigmoid().tolist()
    y[:20] = log_p[:20].argmax(1)  # half of the lines are right
    right = (log_p.argmax(1) == y).all(1).tolist()
    next_q, next_on = step.q_logits(step.move(z, h)).sigmoid().tolist()
    answers = -log_p.gather(1, y[:, None]).mean().item()

    def cross_entropy(p, targets):
        return fmean(-t * math.log(a) - (1 - t) * math.log(1 - a) for a, t in zip(p, targets, strict=True))

    assert trm_loss(step, h, y)[0].item() == pytest.approx(answers + 0.5 * cross_entropy(q, map(float, right)))
    best = [a if last else max(a, b) for a, b, last in zip(next_q, next_on, at_N, strict=True)]
    targets = [max(0.9 * value - 0.05, 0) for value in best]
    hrm = hrm_loss(step, h, y, z, at_N, gamma=0.9, price=0.05)[0] - trm_loss(step, h, y)[0]
    assert hrm.item() == pytest.approx(0.5 * cross_entropy(on, targets))


RECIPE = {"size": 5, "N": 3, "batch": 4, "updates": 7, "lr": 1e-2}


def fresh_at(monkeypatch, judge):
    """Which lines begin anew at each update, if the first of four wants to halt at once and the others never."""
    found, move = [], JudgedLine.move

    def watched(self, z, h):
        if torch.is_grad_enabled():  # not for HRM's target
            assert not h.requires_grad
            found.append((h == 0).flatten(1).all(1).tolist())
        return move(self, z, h)

    monkeypatch.setattr(JudgedLine, "move", watched)
    halts = torch.tensor([True, False, False, False])
    monkeypatch.setattr(lesson, "who_leaves", lambda q, n, N: halts | (n == N))
    step = learn(judge, 3, 1.0, 0.0, 0, RECIPE, "product", refill=True)
    assert not step.training
    return found


def test_who_explores_may_not_halt_yet_and_all_leave_after_n_steps():
    torch.manual_seed(0)
    wants = torch.ones(1, 20000)
    for n, kept in {1: 0.1, 7: 0.1 * 13 / 19, 19: 0.1 / 19, 20: 0}.items():
        leaves = lesson.who_leaves(wants, torch.full((20000,), n), 20)
        assert (~leaves).float().mean().item() == pytest.approx(kept, abs=0.007)
    assert not lesson.who_leaves(-wants, torch.full((20000,), 7), 20).any()


@pytest.mark.parametrize("judge", ["TRM", "HRM"])
def test_who_halts_makes_room_for_a_fresh_line_and_all_do_after_n_steps(judge, monkeypatch):
    found = fresh_at(monkeypatch, judge)
    assert [lines[0] for lines in found] == [True] * 7
    assert [lines[1:] for lines in found] == [[n % 3 == 0] * 3 for n in range(7)]


@pytest.mark.parametrize("n_q", [1, 2])
def test_what_is_measured_is_what_one_finds_line_by_line(n_q, monkeypatch):
    x, y = SumTask(6, n_values=3).batch(80, torch.Generator().manual_seed(101))
    thought = Thought(torch.rand(8, 80) < 0.7, torch.randn(8, n_q, 80) - 1)  # by chance
    monkeypatch.setattr(experiment, "think", lambda *_: thought)
    got = measure(None, x, y, 8)
    assert got == plain(got)  # a store holds it
    yes, ahead, rows = [[] for _ in range(5)], [], []
    for line, needs in enumerate(SumTask.needed_steps(x).tolist()):
        need, right, halts = max(needs), thought.right[:, line].tolist(), []
        for n, logits in enumerate(thought.q_logits[:, :, line].tolist(), start=1):
            halts.append(logits[0] > (logits[1] if n_q == 2 else 0) or n == 8)
            q = [1 / (1 + math.exp(-logit)) for logit in logits]
            n_open = sum(n < each for each in needs)
            if n_open <= 4:
                yes[n_open].append(q[0])
            if n >= need and n_q == 2:
                ahead.append(q[0] - q[1])
        steps = halts.index(True) + 1
        rows.append((steps, need, right[steps - 1], right[need - 1], right[-1]))
    early = [row for row in rows if row[0] < row[1]]
    for name, column in {"steps": 0, "needed": 1, "right": 2, "at_need": 3, "at_N": 4}.items():
        assert got[name] == pytest.approx(fmean(row[column] for row in rows)), name
    assert got["early"] == pytest.approx(len(early) / 80)
    assert got["on_time"] == pytest.approx(fmean(row[0] == row[1] for row in rows))
    assert got["right_early"] == pytest.approx(fmean(row[2] for row in early))
    assert got["yes"] == pytest.approx([fmean(each) for each in yes], rel=1e-4)
    assert got["ahead"] == (pytest.approx(median_low(ahead), abs=1e-6) if n_q == 2 else None)


def test_around_the_need_lines_are_aligned():
    needed = torch.tensor([3, 5])
    q = torch.rand(8, 2, 2, generator=torch.Generator().manual_seed(0))
    found = leads_around(Thought(q[:, 0] > 0, q.logit()), needed, before=3, after=4)
    assert [*found] == [-3, -2, -1, 0, 1, 2, 3, 4]
    for away, share in found.items():
        lines = [(need + away - 1, line) for line, need in enumerate(needed.tolist()) if 1 <= need + away <= 8]
        assert share == np.mean([(q[n, 0, line] > q[n, 1, line]).item() for n, line in lines])
