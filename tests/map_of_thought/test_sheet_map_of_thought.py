"""What the problem sheet of lesson 07 asks to derive, computed in another way; and what its checks refuse."""

import math

import numpy as np
import pytest
import torch
from sheets import solution
from torch.nn.functional import max_pool2d

from ponder_course.map_of_thought.task import MazeTask
from ponder_utils import geometric_log_prior


def test_work_in_corridors_and_rooms():
    """Over all corridors of 20 places; over long corridors and large rooms, nearly the limits."""
    corridor, room = (solution("07_map_of_thought")[name] for name in ("corridor", "room"))
    for m, tolerance in ((20, None), (2000, 1e-3)):
        needs = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) + 1  # [stars, places]
        if tolerance is None:
            assert (needs.mean(), needs.max(1).mean()) == pytest.approx(corridor[:2])
        else:
            assert (needs.mean(1) / needs.max(1)).mean() == pytest.approx(corridor[2], abs=tolerance)
    grid = (np.arange(400) + 0.5) / 400
    apart = np.abs(np.subtract.outer(grid, grid))  # in one dimension
    below = np.searchsorted(np.sort(apart.ravel()), grid, side="right") / apart.size
    assert 1 - (below**2).mean() == pytest.approx(room[0], abs=2e-3)
    assert np.maximum.outer(apart.max(1), apart.max(1)).mean() == pytest.approx(room[1], abs=2e-3)


@pytest.mark.parametrize("loops", [0.0, 0.3])
def test_places_that_rest_still_serve_the_others(loops):
    """The solution's step function: the colours heard of, in states that stay as they are from the need on."""
    x, y = MazeTask(6, loops=loops).batch(50, torch.Generator().manual_seed(1))
    is_open, need = x[:, :1], MazeTask.needed_steps(x)
    state, heard = torch.zeros_like(x[:, 1:]), torch.zeros_like(x[:, 1:])
    for n in range(1, need[is_open[:, 0] > 0].max() + 1):
        heard = is_open * torch.maximum(x[:, 1:], max_pool2d(state, 3, stride=1, padding=1))
        assert not heard[(need > n)[:, None].expand_as(heard)].any()  # in vain until then
        state = torch.where((need >= n)[:, None], heard, state)
        known = (need == n) & (is_open[:, 0] > 0)
        blue, purple = state.unbind(1)
        assert ((blue + purple)[known] > 0).all()
        assert torch.equal(torch.where(blue == purple, -1.0, purple)[known], y[known])


def test_what_waiting_costs():
    cost, r = solution("07_map_of_thought")["price"]
    prior = geometric_log_prior(0.8, 8)
    assert 0.03 * (prior[0] - prior[4]).item() == pytest.approx(cost)
    assert -(r * math.log(r) + (1 - r) * math.log(1 - r)) == pytest.approx(cost)
