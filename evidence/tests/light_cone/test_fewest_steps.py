"""The bound for all local rules that stop lines before the clock."""

from hypothesis import given, settings
from test_local_stoppers import every_line, patterns

from ponder_course.light_cone.local_stoppers import by_hand
from ponder_evidence.light_cone.local_stoppers import fewest_steps


@settings(max_examples=40)
@given(patterns(9))
def test_rules_by_hand_do_not_beat_the_bound(resets):
    x = every_line(resets)
    assert by_hand(x, len(resets)).steps.double().mean() >= fewest_steps(x[:1])[0]


def test_the_bound_by_hand():
    def bound(*resets):
        return fewest_steps(every_line(list(resets))[:1]).item()

    assert bound(1) == bound(1, 1, 1) == 1
    assert bound(1, 0) == 1.5  # the other half needs both steps
    assert bound(1, 0, 0) == 1 + 3 / 4 + 1 / 4  # step 1: 1/4; step 2: one half more
    assert bound(1, 0, 1, 0) == 1.75  # both end places bet at step 1
    # Step 1: 2^-7; step 2: 1/4 more; step 3: one half more; step 4: all.
    assert bound(1, 0, 0, 0, 0, 0, 0, 0) == 1 + (1 - 2**-7) + (3 / 4 - 2**-7) + (1 / 4 - 2**-7)
