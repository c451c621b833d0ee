"""A head to which vetoes must travel, against the votes of each place."""

import torch

from ponder_course.light_cone.beating_the_clock import votes
from ponder_course.light_cone.lesson import LocalStep
from ponder_evidence.light_cone.beating_the_clock import (
    TravellingVote,
    fresh_lines,
)
from ponder_utils.pondernet import PonderNet


def test_a_vote_is_shared_at_once_or_it_travels_by_a_place_a_step():
    torch.manual_seed(0)
    step, x, N = TravellingVote(2, 6).eval(), fresh_lines("lesson 05", 9)[:12], 14
    shared = LocalStep(2, 6).eval()
    shared.load_state_dict(step.state_dict())
    with torch.no_grad():
        travelling, at_once = (PonderNet(each, N).eval()(x).halt_logits for each in (step, shared))
    at_places = votes(shared, x, N)  # [N, lines, places]
    assert torch.equal(at_once, at_places.amin(2))
    for n in range(N):
        arrived = [at_places[n - away, :, 8 - away] for away in range(9) if away <= n]
        assert torch.equal(travelling[n], torch.stack(arrived).amin(0))
