"""A task that grows harder: when it does, what is drawn, and what a run that goes on finds again."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_evidence.curriculum import Curriculum
from ponder_utils.tasks import ParityTask

ANY = nn.Linear(1, 1)


def draw(K, generator):
    return ParityTask(6, 1, K).batch(64, generator)


@given(st.lists(st.floats(0, 1)), st.integers(1, 5), st.floats(0.1, 1))
def test_the_level_rises_by_one_where_enough_is_right_and_never_falls(accuracies, last, raise_at):
    left = iter(accuracies)
    curriculum = Curriculum(draw, lambda *_: next(left), last, raise_at=raise_at, n_batches=1)
    levels = [curriculum.evaluate(ANY)["K"] for _ in accuracies] + [curriculum.K]
    assert levels[0] == 1
    for before, after, accuracy in zip(levels, levels[1:], accuracies, strict=False):
        assert after == min(last, before + (accuracy >= raise_at))


def test_a_judgement_is_the_mean_over_its_batches():
    left = iter([1.0, 0.0, 1.0, 1.0])
    assert Curriculum(draw, lambda *_: next(left), 6, n_batches=4).evaluate(ANY) == {"K": 1, "accuracy": 0.75}


def test_it_draws_and_judges_at_its_level_on_other_inputs_each_time():
    seen = []
    curriculum = Curriculum(draw, lambda _, x, __: seen.append(x) or 0.0, 6, first=3, n_batches=2)
    x, _ = curriculum(torch.Generator().manual_seed(0))
    assert int((x != 0).sum(1).max()) == 3
    curriculum.evaluate(ANY)
    curriculum.evaluate(ANY)
    assert len({x.numpy().tobytes() for x in seen}) == 4
    assert [int((x != 0).sum(1).max()) for x in seen] == [3] * 4


def test_a_run_that_goes_on_draws_and_judges_at_the_level_it_had_reached():
    def judged(model, x, y):
        seen.append(x)
        return 1.0

    seen = []
    whole = Curriculum(draw, judged, 6, n_batches=1)
    whole.evaluate(ANY)
    again = Curriculum(draw, judged, 6, n_batches=1)
    again.load_state_dict(whole.state_dict())
    assert whole.evaluate(ANY) == again.evaluate(ANY) == {"K": 2, "accuracy": 1.0}
    assert torch.equal(seen[1], seen[2])
