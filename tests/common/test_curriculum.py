"""A task that grows harder: when it does, what is drawn, and that a run that was killed goes on at its level."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.common.curriculum import Curriculum
from ponder_utils.evaluation import evaluate
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import RNNStep
from ponder_utils.tasks import ParityTask
from ponder_utils.training import train

ANY = nn.Linear(1, 1)


def draw(K, generator):
    return ParityTask(6, 1, K).batch(64, generator)


def accuracy(model, x, y):
    return evaluate(model, x, y).accuracy


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


def training(folder, killed_after=10**9):
    """The rows and weights of a run, or None if it was killed after so many batches."""
    torch.manual_seed(0)
    model, left = PonderNet(RNNStep(6, 16), 4), iter(range(killed_after))

    def draw_or_die(K, generator):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return draw(K, generator)

    curriculum = Curriculum(draw_or_die, accuracy, 6, raise_at=0.55, n_batches=2)
    loss = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), 0.3)
    options = {"evaluate": curriculum.evaluate, "monitor": "K", "log_every": 10, "checkpoint_every": 25}
    try:
        rows = train(model, loss, curriculum, 60, lr=7e-3, checkpoint_dir=folder, progress=False, **options)
    except KeyboardInterrupt:
        return None
    return rows, torch.cat([weight.detach().flatten() for weight in model.parameters()])


def test_resumed_equals_uninterrupted(tmp_path):
    rows, weights = training(tmp_path / "whole")
    assert training(tmp_path / "killed", 44) is None
    again, resumed = training(tmp_path / "killed")
    assert again == rows
    assert torch.equal(resumed, weights)
    assert rows[-1]["K"] > rows[0]["K"] == 1  # it did rise


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"last": 0}, ValueError, "last .* 0"),
        ({"first": 7}, ValueError, "first .* 7"),
        ({"first": 1.5}, TypeError, r"first .* 1\.5"),
        ({"raise_at": 0}, ValueError, "raise_at .* 0"),
        ({"raise_at": 1.1}, ValueError, r"raise_at .* 1\.1"),
        ({"n_batches": 0}, ValueError, "n_batches .* 0"),
    ],
)
def test_wrong_arguments_are_named(changed, error, message):
    with pytest.raises(error, match=message):
        Curriculum(draw, accuracy, **{"last": 6, **changed})
