"""Mazes unlike those of training, and another rule to halt there."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.map_of_thought.task import MazeTask
from ponder_evidence.map_of_thought import where_it_ends


@given(st.integers(0, 10**6))
def test_mazes_unlike_those_of_training_are_what_their_names_say(seed):
    trees = MazeTask(5).batch(4, torch.Generator().manual_seed(seed))[0][:, 0]
    generator = torch.Generator().manual_seed(seed)
    opened = where_it_ends.open_walls(trees, 3, generator)
    assert ((opened - trees).flatten(1).sum(1) == 3).all()
    rooms = where_it_ends.with_rooms(trees, 1, 4, generator)
    assert (rooms >= trees).all()
    assert (nn.functional.avg_pool2d(rooms, 4, stride=1).flatten(1).amax(1) == 1).all()
    wider = where_it_ends.wider(trees)
    assert all(torch.equal(wider[:, i::2, j::2], trees) for i in (0, 1) for j in (0, 1))
