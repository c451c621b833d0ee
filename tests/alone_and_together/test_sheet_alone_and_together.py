"""What the problem sheet of lesson 08 asks to derive, computed in another way; and what its checks refuse."""

import math

import numpy as np
import pytest
import torch
from sheets import solution

from ponder_course.alone_and_together.task import ForestTask
from ponder_utils import expected_steps, geometric_log_prior


def arrows_known(n_steps, shows, reads_all):
    """How many arrows the last node of a chain of 90 knows after each step: by sets of arrows, each a pair of names.

    shows: "start", "now", or "before", a step ago. Each node reads the farthest that it can name, or all of them.
    """
    start = [{(node, max(0, node - 1))} for node in range(90)]
    now, before, found = start, start, []
    for _ in range(n_steps):
        shown = {"initial": start, "current": now, "before": before}[shows]
        after = []
        for arrows in now:
            names = {name for arrow in arrows for name in arrow}
            asked = names if reads_all else {min(names)}
            after.append(arrows.union(*(shown[name] for name in asked)))
        now, before = after, now
        found.append(len(now[89]))
    return found


@pytest.mark.parametrize("reads_all", [False, True])
def test_reading_many_nodes_saves_no_step_and_old_news_are_fibonaccis(reads_all):
    assert arrows_known(6, "current", reads_all) == [2, 4, 8, 16, 32, 64]
    assert arrows_known(6, "initial", reads_all) == [2, 3, 4, 5, 6, 7]
    assert arrows_known(8, "before", reads_all) == [2, 3, 5, 8, 13, 21, 34, 55]


def test_steps_with_old_news():
    steps, times = solution("08_alone_and_together")["old_news"]
    known = [1, 2]
    while len(known) < 80:
        known.append(known[-1] + known[-2])
    assert next(n for n, K in enumerate(known) if K >= 1001) == steps
    assert math.log(2) / math.log(known[-1] / known[-2]) == pytest.approx(times)


def test_halting_one_step_before_the_need_and_the_steps_of_the_ideal_network():
    right, *expected = solution("08_alone_and_together")["one_step"]
    chain = torch.arange(32).sub(1).clamp(min=0)[None]
    pointers = [chain]
    for _ in range(5):
        pointers.append(pointers[-1].gather(1, pointers[-1]))
    named = torch.stack(pointers)[:, 0]  # after n steps, the farthest ancestor that each node can name
    need = ForestTask.needed_steps(chain, "current")[0]
    early = (need - 1).clamp(min=1)
    assert (named[early, torch.arange(32)] == 0).nonzero().flatten().tolist() == [0, 1, 2, 4, 8, 16]
    assert right == 6
    at_three = named[need.clamp(max=3), torch.arange(32)]  # who takes depth 8 for the last
    assert (at_three == 0).sum() == 9
    log_prior = geometric_log_prior(0.8, 90).double()
    n = torch.arange(1, 91)[:, None]
    for memory, wanted in zip(("current", "initial"), expected, strict=True):
        need = ForestTask.needed_steps(chain, memory)[0]
        log_p = torch.where(n >= need, log_prior[:, None], -math.inf).log_softmax(0)
        assert expected_steps(log_p).mean().item() == pytest.approx(wanted, abs=1e-5)
        p = log_p.exp()
        hazard = p / p.flip(0).cumsum(0).flip(0)
        torch.testing.assert_close(hazard[:60], torch.where(n >= need, 0.8, 0.0)[:60].double(), atol=1e-5, rtol=0)


def test_three_published_averages():
    answers = solution("08_alone_and_together")
    generator = torch.Generator().manual_seed(0)
    for w in (torch.tensor([0.4, 0.4, 0.2]), torch.rand(5, generator=generator).softmax(0)):
        T = torch.randn(len(w), 4, generator=generator)
        first, since = torch.zeros(4), torch.zeros(4)
        start = torch.ones(4)  # what the second formula leaves of where it begins
        for w_n, T_n in zip(w, T, strict=True):
            first = w_n * T_n + first * 1 - w_n
            since = w_n * T_n + (1 - w_n) * since
            start = (1 - w_n) * start
        torch.testing.assert_close(first, w @ T - 1)
        weights = torch.stack([w[n] * (1 - w[n + 1 :]).prod() for n in range(len(w))])
        torch.testing.assert_close(since, weights @ T)
        torch.testing.assert_close(start, (1 - weights.sum()).expand(4))
    assert torch.tensor([0.4, 0.4, 0.2]) @ torch.tensor([1.0, 2.0, 5.0]) - 1 == pytest.approx(answers["first_release"])
    by_unit_states = []
    for state in range(4):  # the last is where it begins
        o = float(state == 3)
        for n, w_n in enumerate((0.4, 0.4, 0.2)):
            o = w_n * (n == state) + (1 - w_n) * o
        by_unit_states.append(o)
    assert by_unit_states == pytest.approx(answers["since_then"])
    for is_copied, wanted in zip((False, True), answers["accumulated"], strict=True):
        a, b, o = 1.0, 1.0, 0.0
        for n, w_n in enumerate((0.4, 0.4, 0.2), 1):
            a, b = a if is_copied and n > 1 else a + b, a + b
            o += w_n * b
        assert o == pytest.approx(wanted)


@pytest.mark.parametrize(("n", "s"), [(1, 0.25), (2, 0.25), (2, 0.6), (3, 0.25), (3, 1 - 0.5 ** (1 / 7))])
def test_who_must_be_awake(n, s):
    """All ways to sleep: 2^(d n) of them, each with its probability."""
    d = 2**n - 1
    ways = np.arange(2 ** (d * n), dtype=np.int32)
    awake = [(ways >> bit) & 1 == 1 for bit in range(d * n)]
    known = [np.ones(len(ways), np.int8) for _ in range(d + 1)]  # arrows, of the node at each depth
    for step in range(n):
        after = [known[0]]
        for depth in range(1, d + 1):
            asked = np.maximum(depth - known[depth], 0)
            shown = np.choose(asked, known)
            heard = np.minimum(known[depth] + shown, depth + 1)
            after.append(np.where(awake[step * d + depth - 1], heard, known[depth]).astype(np.int8))
        known = after
    n_awake = sum(part.astype(np.int8) for part in awake)
    probability = (1 - s) ** n_awake * s ** (d * n - n_awake)
    assert probability.sum() == pytest.approx(1)
    assert probability[known[d] == d + 1].sum() == pytest.approx((1 - s) ** d)
    if n == 3:
        at_a_quarter, half = solution("08_alone_and_together")["awake"]
        assert (1 - s) ** d == pytest.approx(at_a_quarter if s == 0.25 else 0.5)
        assert s in (0.25, pytest.approx(half))
