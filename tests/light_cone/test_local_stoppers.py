"""Stopping by local rules: nothing outruns the light cone, and all answers are right."""

from itertools import product

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ponder_course.common.lines import LineParityTask
from ponder_course.light_cone.local_stoppers import by_hand, segments


def every_line(resets):
    """All bits under the same resets: x [2^places, 2, places]."""
    bits = torch.tensor(list(product((0.0, 1.0), repeat=len(resets))))
    return torch.stack([bits, torch.tensor(resets, dtype=torch.float32).expand_as(bits)], dim=1)


def patterns(max_places):
    later = st.lists(st.integers(0, 1), max_size=max_places - 1)
    return later.map(lambda resets: [1, *resets])


@given(patterns(12))
def test_segments_go_from_a_reset_to_the_place_before_the_next(resets):
    start, end = segments(every_line(resets)[:1])
    for i in range(len(resets)):
        first = max(j for j in range(i + 1) if resets[j])
        last = min([j - 1 for j in range(i + 1, len(resets)) if resets[j]], default=len(resets) - 1)
        assert (start[0, i], end[0, i]) == (first, last)


@settings(max_examples=40)
@given(patterns(9))
def test_by_hand_is_right_whatever_the_bits_and_no_later_than_the_clock(resets):
    x = every_line(resets)
    stopper = by_hand(x, len(resets))
    answers = stopper.answers[stopper.steps - 1, torch.arange(len(x))]
    assert torch.equal(answers, LineParityTask.answers(x) > 0.5)
    assert (stopper.steps <= LineParityTask.needed_steps(x).amax(1)).all()


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
