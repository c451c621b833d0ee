"""What the problem sheet of lesson 08 asks to derive, computed in another way; and what its checks refuse."""

import math

import numpy as np
import pytest
import torch
from sheets import solution

from ponder_course.alone_and_together.task import ForestTask
from ponder_utils import expected_steps, geometric_log_prior


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


def test_who_must_be_awake():
    """All ways of seven nodes to sleep in three steps, each with its probability."""
    n = 3
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
    at_a_quarter, half = solution("08_alone_and_together")["awake"]
    for s, wanted in ((0.25, at_a_quarter), (half, 0.5)):
        probability = (1 - s) ** n_awake * s ** (d * n - n_awake)
        assert probability.sum() == pytest.approx(1)
        assert probability[known[d] == d + 1].sum() == pytest.approx(wanted)
