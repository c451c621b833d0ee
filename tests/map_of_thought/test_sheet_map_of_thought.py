"""What the problem sheet of lesson 07 asks to derive, computed in another way; and what its checks refuse."""

import pytest
import torch
from torch.nn.functional import max_pool2d

from ponder_course.map_of_thought.task import MazeTask


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
