"""Walls and stars at random are where the test of lesson 07's networks says, and the runs measure what they name."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ponder_course.map_of_thought.task import MazeTask
from ponder_course.research.map_of_thought import experiment as stored_runs
from ponder_course.research.map_of_thought import rubble


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([0.0, 0.5, 0.95, 1.0]))
def test_stars_lie_on_open_places(seed, max_stars, density):
    generator = torch.Generator().manual_seed(seed)
    is_open = rubble.rubble(8, 4, density, generator)
    x = rubble.stars_anywhere(is_open, max_stars, generator)
    stars = x[:, 1:].sum(1)
    assert torch.equal(x[:, 0], is_open)
    assert (stars <= is_open).all()
    counts, places = stars.flatten(1).sum(1), is_open.flatten(1).sum(1)
    assert (counts <= max_stars).all()
    assert (counts >= places.clamp(max=1)).all()


def test_every_network_sees_the_same_mazes_and_each_can_be_crossed_in_time(monkeypatch):
    monkeypatch.setitem(stored_runs.TESTS, "20", (MazeTask(20), 170, 3))
    first, again = rubble.drawn(3), rubble.drawn(3)
    for name, x in first.items():
        assert torch.equal(x, again[name])
        assert x.shape == (3, 3, rubble.SIDE, rubble.SIDE)
        asked = MazeTask.answers(x) >= 0
        assert MazeTask.needed_steps(x)[asked].max() < rubble.N.get(name, rubble.CAP)
    pillars = 1 - first["pillars, stars anywhere"][:, 0]
    assert pillars[:, 1::2, 1::2].all()
    assert pillars.sum() == pillars[:, 1::2, 1::2].numel()


def test_a_run_measures_every_test(monkeypatch):
    monkeypatch.setattr(rubble, "drawn", lambda n_mazes: {"trees": MazeTask(4).batch(n_mazes)[0]})
    (setting,) = rubble.EXPERIMENTS["rubble"].short
    found = rubble.run(**setting)["trees"]
    assert list(found) == list(rubble.KEPT)
    assert 0 <= found["mazes"] <= found["places"] <= 1
