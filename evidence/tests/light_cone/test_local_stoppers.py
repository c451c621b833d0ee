"""Stopping by local rules: nothing outruns the light cone, all answers are right, and they do not beat the bound."""

from itertools import product

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ponder_course.common.lines import LineParityTask
from ponder_evidence.light_cone.local_stoppers import by_hand, fewest_steps


def every_line(resets):
    """All bits under the same resets: x [2^places, 2, places]."""
    bits = torch.tensor(list(product((0.0, 1.0), repeat=len(resets))))
    return torch.stack([bits, torch.tensor(resets, dtype=torch.float32).expand_as(bits)], dim=1)


def patterns(max_places):
    later = st.lists(st.integers(0, 1), max_size=max_places - 1)
    return later.map(lambda resets: [1, *resets])


@settings(max_examples=40)
@given(patterns(9))
def test_by_hand_is_right_whatever_the_bits_and_no_faster_than_the_bound(resets):
    x = every_line(resets)
    stopper = by_hand(x, len(resets))
    answers = stopper.answers[stopper.steps - 1, torch.arange(len(x))]
    assert torch.equal(answers, LineParityTask.answers(x) > 0.5)
    assert (stopper.steps <= LineParityTask.needed_steps(x).amax(1)).all()
    assert stopper.steps.double().mean() >= fewest_steps(x[:1])[0]


@given(st.integers(0, 2**32 - 1), st.integers(0, 19), st.booleans(), st.floats(0, 0.5))
def test_outside_the_light_cone_nothing_changes_any_answer_or_vote(seed, place, a_reset, rate):
    x, _ = LineParityTask(20, rate).batch(5, torch.Generator().manual_seed(seed))
    turned = x.clone()
    channel, place = (1, max(place, 1)) if a_reset else (0, place)
    turned[:, channel, place] = 1 - turned[:, channel, place]
    here, there = by_hand(x, 20), by_hand(turned, 20)
    n = torch.arange(1, 21)[:, None]
    outside = (torch.arange(20) - place).abs() > n - 1  # [N, places]
    for name in ("answers", "vetoes"):
        differs = (getattr(here, name) != getattr(there, name)).any(1)
        assert not differs[outside].any()
    assert (here.answers != there.answers).any()  # inside it does


def test_the_bound_by_hand():
    def bound(*resets):
        return fewest_steps(every_line(list(resets))[:1]).item()

    assert bound(1) == bound(1, 1, 1) == 1
    assert bound(1, 0) == 1.5  # the other half needs both steps
    assert bound(1, 0, 0) == 1 + 3 / 4 + 1 / 4  # step 1: 1/4; step 2: one half more
    assert bound(1, 0, 1, 0) == 1.75  # both end places bet at step 1
    # Step 1: 2^-7; step 2: 1/4 more; step 3: one half more; step 4: all.
    assert bound(1, 0, 0, 0, 0, 0, 0, 0) == 1 + (1 - 2**-7) + (3 / 4 - 2**-7) + (1 / 4 - 2**-7)
