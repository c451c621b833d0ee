"""Walls and stars at random are where the test of lesson 07's networks says, and the runs measure what they name."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

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
