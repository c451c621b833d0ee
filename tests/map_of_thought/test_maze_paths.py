"""Paths are those of a search, and needs are never below what all that could be allows."""

import itertools
from collections import defaultdict

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import search

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


def away(maze, place):
    """How far each open place is from this one: 8 neighbours, through open places."""
    source = torch.zeros_like(maze[0])
    source[place] = 1
    return search(maze[0], source)


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


def trees(n_cells):
    """The open places of every maze of so many cells on a side."""
    cells = list(itertools.product(range(0, 2 * n_cells, 2), repeat=2))
    passages = [place for place in itertools.product(range(2 * n_cells - 1), repeat=2) if sum(place) % 2]
    for chosen in itertools.combinations(passages, len(cells) - 1):
        places = {*cells, *chosen}
        reached = {(0, 0)}
        while new := {near for place in reached for near in next_to(place, places)} - reached:
            reached |= new
        if len(reached) == len(places):
            yield places


@pytest.mark.slow
def test_no_place_is_decided_before_all_small_mazes_that_it_could_stand_in_agree():
    """What a place has heard after n steps: open places and stars up to n - 1 away, relative to itself."""
    answers, known_at_need = defaultdict(set), []
    for n_cells in (2, 3):
        cells = itertools.product(range(0, 2 * n_cells, 2), repeat=2)
        pairs = list(itertools.combinations(cells, 2))
        for places in trees(n_cells):
            x = torch.zeros(len(pairs), 3, 2 * n_cells - 1, 2 * n_cells - 1)
            for r, c in places:
                x[:, 0, r, c] = 1
            for which, (first, second) in enumerate(pairs):
                x[which, 1][first] = x[which, 2][second] = 1
            targets, needed = PathTask.answers(x).tolist(), PathTask.needed_steps(x).tolist()
            for r, c in places:
                far = away(x[0], (r, c))
                heard = [frozenset((i - r, j - c) for (i, j), d in far.items() if d < n) for n in range(9)]
                for stars, y, steps in zip(pairs, targets, needed, strict=True):
                    come = [(far[star], star[0] - r, star[1] - c) for star in stars]
                    for n in range(1, 9):
                        known = (n, heard[n], *(star[1:] for star in come if star[0] < n))
                        answers[known].add(y[r][c])
                        if n == steps[r][c]:
                            known_at_need.append(known)
    assert len(known_at_need) == 4 * 6 * 7 + 192 * 36 * 17
    assert all(len(answers[key]) == 1 for key in known_at_need)
