"""Paths are those of a walk through the tree."""

import itertools

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ponder_course.research.map_of_thought.paths import PathTask

mazes = given(st.integers(0, 10**6), st.integers(2, 6))
ALONG = ((-1, 0), (1, 0), (0, -1), (0, 1))


def drawn(seed, n_cells, n_mazes=2):
    return PathTask(n_cells).batch(n_mazes, torch.Generator().manual_seed(seed))


def open_places(maze):
    return {tuple(place) for place in maze[0].nonzero().tolist()}


def stars_of(maze):
    return [tuple(star.nonzero()[0].tolist()) for star in maze[1:]]


def next_to(place, places):
    return [near for i, j in ALONG if (near := (place[0] + i, place[1] + j)) in places]


def branch(places, start, first):
    """All places that are reached from start through its neighbour first."""
    found, waiting = {start, first}, [first]
    while waiting:
        new = [near for near in next_to(waiting.pop(), places) if near not in found]
        found.update(new)
        waiting += new
    return found - {start}


def path(places, start, goal):
    """The path by walking into the branch that holds the goal."""
    found = [start]
    while found[-1] != goal:
        found += [near for near in next_to(found[-1], places) if goal in branch(places, found[-1], near)]
    return set(found)


@settings(deadline=None)
@mazes
def test_targets_are_the_path_of_a_walk_through_the_tree(seed, n_cells):
    x, y = drawn(seed, n_cells)
    assert torch.equal(x, drawn(seed, n_cells)[0])
    assert (x[:, 1:].sum((2, 3)) == x[:, 1:, ::2, ::2].sum((2, 3))).all()
    assert (x[:, 0].sum((1, 2)) == 2 * n_cells**2 - 1).all()
    for maze, target in zip(x, y, strict=True):
        first, second = stars_of(maze)
        on_path = path(open_places(maze), first, second)
        for place in itertools.product(range(2 * n_cells - 1), repeat=2):
            assert target[place] == (-1 if maze[0][place] == 0 else float(place in on_path))
