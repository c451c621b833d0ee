"""Mazes are trees, and their distances are those of a search that a student would write."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import search

from ponder_course.map_of_thought.task import MazeTask


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 4))
def test_mazes_are_trees_whose_targets_and_needs_are_those_of_a_search(seed, n_cells, max_stars):
    x, y = MazeTask(n_cells, max_stars).batch(2, torch.Generator().manual_seed(seed))
    need = MazeTask.needed_steps(x)
    side = 2 * n_cells - 1
    assert x.shape == (2, 3, side, side)
    assert y.shape == need.shape == (2, side, side)
    for maze, target, steps in zip(x, y, need, strict=True):
        is_open, stars = maze[0], maze[1:].sum(0)
        assert (is_open[::2, ::2] == 1).all()
        assert is_open[1::2, 1::2].sum() == 0
        assert is_open.sum() == 2 * n_cells**2 - 1  # cells, and one passage fewer: with all reached, a tree
        assert len(search(is_open, stars)) == is_open.sum()
        assert 1 <= stars.sum() == stars[::2, ::2].sum() <= max_stars
        assert stars.max() == 1
        first, second = search(maze[0], maze[1]), search(maze[0], maze[2])
        for place in torch.cartesian_prod(torch.arange(side), torch.arange(side)).tolist():
            to_first, to_second = (found.get(tuple(place), 10**6) for found in (first, second))
            wanted = -1 if to_first == to_second else int(to_second < to_first)
            assert target[tuple(place)] == wanted
            nearest = min(to_first, to_second)
            assert steps[tuple(place)] == (nearest + 1 if nearest < 10**6 else side**2 + 1)


def test_loops_are_open_passages_that_are_no_part_of_the_tree():
    trees, _ = MazeTask(5).batch(200, torch.Generator().manual_seed(3))
    all_open, _ = MazeTask(5, loops=1).batch(2, torch.Generator().manual_seed(3))
    half, _ = MazeTask(5, loops=0.5).batch(200, torch.Generator().manual_seed(3))
    assert (trees[:, 0].flatten(1).sum(1) == 25 + 24).all()
    assert (all_open[:, 0].flatten(1).sum(1) == 25 + 40).all()
    assert abs(half[:, 0].flatten(1).sum(1).mean() - (25 + 24 + 16 / 2)) < 0.5
