"""Mazes unlike those of training, and another rule to halt there."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.map_of_thought.task import MazeTask, distances
from ponder_evidence.map_of_thought import other_mazes, posts, where_it_ends


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


@given(st.integers(0, 10**6), st.booleans())
def test_trees_of_another_kind_join_all_cells_by_one_way(seed, from_the_newest):
    is_open = other_mazes.grown(5, from_the_newest, torch.Generator().manual_seed(seed))
    assert (is_open[::2, ::2] == 1).all()
    assert (is_open[other_mazes.posts(9)] == 0).all()
    assert is_open[other_mazes.passages(9)].sum() == 5 * 5 - 1
    source = torch.zeros_like(is_open)
    source[0, 0] = 1
    assert (distances(is_open[None], source[None])[0][is_open == 1] < 81).all()


def test_mazes_of_one_kind_differ_from_trees_in_what_their_name_says():
    mazes = other_mazes.drawn(2)
    is_open = {name: x[:, 0] for name, x in mazes.items()}
    for name, n_opened in {"one post opened": 1, "three posts opened": 3, "thirty passages opened": 30}.items():
        opened = is_open[name] - is_open["trees"]
        where = other_mazes.passages(39) if "passages" in name else other_mazes.posts(39)
        assert opened.sum((1, 2)).tolist() == [n_opened, n_opened]
        assert (opened[:, ~where] == 0).all()
    for x in mazes.values():
        assert (x[:, 1:].sum((2, 3)) > 0).all()


@given(st.integers(0, 10**6), st.sampled_from(posts.AROUND))
def test_one_post_is_opened_where_so_many_passages_are_open_and_trees_off_the_grid_have_no_loops(seed, around):
    generator = torch.Generator().manual_seed(seed)
    (tree,) = MazeTask(10).batch(1, generator)[0][:, 0]
    assert (posts.open_around(tree) < 4).all()
    if (posts.open_around(tree) == around).any():
        (opened,) = posts.post_opened(tree[None], around, generator)
        ((row, column),) = (opened > tree).nonzero().tolist()
        beside = tree[row - 1, column] + tree[row + 1, column] + tree[row, column - 1] + tree[row, column + 1]
        assert (row % 2, column % 2, beside) == (1, 1, around)
    off = posts.off_the_grid(9, generator)
    touching = nn.functional.conv2d(off[None, None], torch.ones(1, 1, 3, 3), padding=1)[0, 0] - 1
    assert touching[off == 1].sum() == 2 * (off.sum() - 1)
