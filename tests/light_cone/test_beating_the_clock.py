"""What is measured beside the clock, against hand-worked stoppers; and a head to which vetoes must travel."""

import pytest
import torch
from small_light_cone import Clock
from torch import nn

from ponder_course.light_cone.beating_the_clock import votes
from ponder_course.light_cone.local_stoppers import by_hand
from ponder_course.research.light_cone.beating_the_clock import (
    LINES,
    TravellingVote,
    fresh_lines,
    measure,
)
from ponder_utils.local import LocalStep
from ponder_utils.pondernet import PonderNet


class ByHand(nn.Module):
    """The stopper by hand as a step function: sure of its answers, and of its votes."""

    def forward(self, x, h):
        n = 1 if h is None else h + 1
        stopper = by_hand(x, n)
        free = ~stopper.vetoes[-1].any(1)
        return 20.0 * stopper.answers[-1] - 10.0, n, 40.0 * free - 20.0


@pytest.mark.parametrize("lines", LINES)
@pytest.mark.parametrize("places", [4, 9])
def test_by_hand_speaks_and_a_clock_does_not(lines, places):
    x = fresh_lines(lines, places)
    spoken, silent = measure(PonderNet(ByHand(), places), x, places), measure(PonderNet(Clock(), places), x, places)
    for rule in ("threshold", "most probable", "sample"):
        found = spoken["rules"][rule]
        assert found["right"] == found["right_early"] == found["moved"] == 1
        assert found["early"] > 0.05
        assert found["chance_early"] == pytest.approx(0.5, abs=0 if lines == "one segment" else 0.2)
        assert found["steps"] < spoken["need"]
        found = silent["rules"][rule]
        assert (found["early"], found["right"], found["right_early"], found["moved"]) == (0, 1, None, None)
        assert found["steps"] == pytest.approx(silent["need"])
    if lines == "one segment":  # fixed steps tell nothing before L
        assert spoken["by_step"][places - 2] == 0.5


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
