"""HRM's two Qs and TRM's head: targets, training and measurements against the slow way, a line and a step at a time."""

import math
from itertools import pairwise
from statistics import fmean, median_low

import pytest
import torch
from torch import nn

from ponder_course.common.lines import LineParityTask
from ponder_course.common.store import plain
from ponder_course.judges import experiment
from ponder_course.judges.experiment import JudgedLine, learn, measure, value_of_going_on, wish_to_halt
from ponder_course.judges.task import SumTask, lines_right
from ponder_course.ways_to_stop.problems import Inputs
from ponder_evidence.judges import experiment as stored_runs


def drawn(n_values, n_lines=30, places=7):
    return SumTask(places, n_values=n_values).batch(n_lines, torch.Generator().manual_seed(1))


@pytest.mark.parametrize("n_values", [2, 5])
def test_a_place_is_asked_for_the_sum_since_the_last_reset(n_values):
    x, y = drawn(n_values)
    assert set(x[:, 0].unique().tolist()) == set(range(n_values))
    assert (x[:, 1, 0] == 1).all()
    for line, targets in zip(x.int().tolist(), y.tolist(), strict=True):
        total = 0
        for value, reset, target in zip(*line, targets, strict=True):
            total = value if reset else total + value
            assert target == total % n_values
    if n_values == 2:
        assert torch.equal(y, LineParityTask.answers(x).long())


@pytest.mark.parametrize(("n_values", "error"), [(1, ValueError), (2.5, TypeError)])
def test_a_sum_of_fewer_than_two_values_is_refused(n_values, error):
    with pytest.raises(error, match="n_values"):
        SumTask(4, n_values=n_values)


def test_a_line_is_right_where_all_of_its_places_are():
    y_hat = torch.randn(4, 9, 2, 3, generator=torch.Generator().manual_seed(0))
    y = torch.randint(3, (9, 2), generator=torch.Generator().manual_seed(1))
    found = lines_right(y_hat, y)
    for n, lines in enumerate(y_hat.tolist()):
        for line, places in enumerate(lines):
            answers = [place.index(max(place)) for place in places]
            assert found[n, line] == (answers == y[line].tolist())
    assert 0 < found.float().mean() < 1


def test_q_is_the_probability_that_all_places_are_right_and_nobody_halts_at_first():
    torch.manual_seed(0)
    step, h = JudgedLine(3, n_q=2), torch.randn(4, experiment.CHANNELS, 6)
    assert (step.q_logits(h).sigmoid() - 0.5**6).abs().max() < 1e-7
    nn.init.normal_(step.judge.weight)
    at_places = step.judge(h).double()  # [batch, n_q, places]
    for line in range(4):
        for which in range(2):
            q = math.prod(1 / (1 + math.exp(-v)) for v in at_places[line, which].tolist())
            assert step.q_logits(h)[which, line].sigmoid().item() == pytest.approx(q, rel=1e-4)
    with torch.no_grad():
        step.judge.bias.fill_(1e3)
    logits = step.q_logits(h)
    assert logits.isfinite().all()
    (gradient,) = torch.autograd.grad(logits.sum(), step.judge.bias)
    assert gradient.isfinite().all()


def test_a_q_of_the_mean_is_one_linear_layer_on_the_mean_of_all_states_and_nobody_halts_at_first():
    torch.manual_seed(0)
    step, h = JudgedLine(3, n_q=2, head="mean"), torch.randn(4, experiment.CHANNELS, 6)
    assert (step.q_logits(h) == -5).all()
    nn.init.normal_(step.judge.weight)
    by_hand = h.mean(2) @ step.judge.weight[:, :, 0].T + step.judge.bias
    torch.testing.assert_close(step.q_logits(h), by_hand.T)
    with pytest.raises(ValueError, match="head"):
        JudgedLine(3, n_q=1, head="token")


def test_trm_halts_above_one_half_and_hrm_where_going_on_is_worth_less():
    q = torch.tensor([[0.4, 0.6, 0.9], [0.3, 0.7, 0.9]])
    assert (wish_to_halt(q[:1].logit()) > 0).tolist() == [False, True, True]
    assert (wish_to_halt(q.logit()) > 0).tolist() == [True, False, False]


def test_going_on_is_worth_what_the_next_step_is_worth_or_at_the_end_its_halting():
    q, is_last = torch.tensor([[0.2, 0.8, 0.2, 0.001], [0.5, 0.1, 0.5, 0.0]]), torch.tensor([False, False, True, False])
    torch.testing.assert_close(value_of_going_on(q.logit(), is_last, 1.0, 0.0), torch.tensor([0.5, 0.8, 0.2, 0.001]))
    found = value_of_going_on(q.logit(), is_last, 0.9, 0.05)
    torch.testing.assert_close(found, torch.tensor([0.4, 0.67, 0.13, 0.0]))


RECIPE = {"size": 5, "N": 3, "batch": 4, "updates": 7, "lr": 1e-2, "clip": 1.0}


def fresh_at(monkeypatch, judge, explore, refill=True):
    """Which lines begin anew at each update, if the first of four wants to halt at once and the others never."""
    found, move = [], JudgedLine.move

    def watched(self, z, h):
        if torch.is_grad_enabled():  # not for HRM's target
            assert not h.requires_grad
            found.append((h == 0).flatten(1).all(1).tolist())
        return move(self, z, h)

    monkeypatch.setattr(JudgedLine, "move", watched)
    monkeypatch.setattr(experiment, "wish_to_halt", lambda q: torch.tensor([1.0, -1.0, -1.0, -1.0]))
    monkeypatch.setattr(experiment, "EXPLORE", explore)
    step = learn(judge, 3, 1.0, 0.0, 0, RECIPE, "product", refill)
    assert not step.training
    return found


@pytest.mark.parametrize("judge", ["TRM", "HRM"])
def test_who_halts_makes_room_for_a_fresh_line_and_all_do_after_n_steps(judge, monkeypatch):
    found = fresh_at(monkeypatch, judge, explore=0.0)
    assert [lines[0] for lines in found] == [True] * 7
    assert [lines[1:] for lines in found] == [[n % 3 == 0] * 3 for n in range(7)]


def test_without_refilling_all_lines_take_n_steps(monkeypatch):
    found = fresh_at(monkeypatch, "TRM", explore=0.0, refill=False)
    assert found == [[n % 3 == 0] * 4 for n in range(7)]


def test_who_must_explore_takes_two_steps_at_least(monkeypatch):
    found = [lines[0] for lines in fresh_at(monkeypatch, "TRM", explore=1.0)]
    assert (True, True) not in {*pairwise(found)}
    assert sum(found) > 1


class Scripted:
    """Right at a place from its need on; halts as its bits say: in time, late, or where the first two bits are 1 early.

    Its answers are lost after step 5 where the third value is 1.
    """

    def __init__(self, n_q, n_values=3):
        self.n_q, self.n_values = n_q, n_values

    def encode(self, x):
        return x, (x, 0)

    def move(self, x, h):
        return x, h[1] + 1

    def answer(self, h):
        x, n = h
        task = SumTask(x.shape[2], n_values=self.n_values)
        wrong = (task.needed_steps(x) > n) | ((n > 5) & (x[:, 0, 2:3] == 1))
        return nn.functional.one_hot((task.answers(x) + wrong) % self.n_values, self.n_values).mT.float()

    def q_logits(self, h):
        x, n = h
        need = LineParityTask.needed_steps(x).amax(1)
        late = x[:, 0, 0] - 2 * (x[:, 0, :2].sum(1) == 2)
        halt = 1.3 * (n - need - late) + 0.1
        return torch.stack([halt, 0 * halt])[: self.n_q]


@pytest.mark.parametrize("n_q", [1, 2])
def test_what_is_measured_is_what_one_finds_line_by_line(n_q):
    step = Scripted(n_q)
    x, y = SumTask(6, n_values=3).batch(80, torch.Generator().manual_seed(101))
    got = measure(step, x, y, 8)
    assert got == plain(got)  # a store holds it
    yes, ahead, rows = [[] for _ in range(5)], [], []
    for line in range(80):
        one, needs = x[line : line + 1], LineParityTask.needed_steps(x[line : line + 1])[0].tolist()
        need, right, halts = max(needs), [], []
        for n in range(1, 9):
            right.append(step.answer((one, n)).argmax(1)[0].tolist() == y[line].tolist())
            logits = step.q_logits((one, n))[:, 0].tolist()
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
    assert 0 < fmean(row[2] for row in rows) < 1
    assert got["steps"] == pytest.approx(fmean(row[0] for row in rows))
    assert got["needed"] == pytest.approx(fmean(row[1] for row in rows))
    assert got["early"] == pytest.approx(len(early) / 80)
    assert got["on_time"] == pytest.approx(fmean(row[0] == row[1] for row in rows))
    for name, column in {"right": 2, "at_need": 3, "at_N": 4}.items():
        assert got[name] == pytest.approx(fmean(row[column] for row in rows)), name
    assert got["right_early"] == pytest.approx(fmean(row[2] for row in early))
    assert got["yes"] == pytest.approx([fmean(each) for each in yes], rel=1e-4)
    assert got["ahead"] == (pytest.approx(median_low(ahead), abs=1e-6) if n_q == 2 else None)


SHORT = [setting for kind in stored_runs.EXPERIMENTS.values() for setting in kind.short]


@pytest.mark.parametrize("setting", SHORT[::3], ids=lambda setting: f"{setting['judge']} {setting['n_values']}")
def test_a_run_is_made_and_equals_itself(setting, monkeypatch):
    monkeypatch.setattr(stored_runs, "TESTS", {"small": Inputs(6, 8, 80)})
    once, again = (stored_runs.run(**setting)["tests"] for _ in range(2))
    assert once == again == plain(once)
