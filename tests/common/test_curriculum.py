"""A task that grows harder: when it does, what is drawn, and that a run that was killed goes on at its level."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.common.curriculum import Curriculum
from ponder_utils.checkpoints import load_checkpoint
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
    model, left = PonderNet(RNNStep(6, 32), 6), iter(range(killed_after))

    def draw_or_die(K, generator):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return draw(K, generator)

    curriculum = Curriculum(draw_or_die, accuracy, 6, raise_at=0.7)
    loss = PonderLoss(nn.BCEWithLogitsLoss(reduction="none"), 0.3)
    try:
        rows = train(
            model,
            loss,
            curriculum,
            300,
            lr=7e-3,
            evaluate=curriculum.evaluate,
            monitor="K",
            log_every=20,
            checkpoint_every=50,
            checkpoint_dir=folder,
            progress=False,
        )
    except KeyboardInterrupt:
        return None
    return rows, torch.cat([weight.detach().flatten() for weight in model.parameters()])


@pytest.mark.parametrize("killed_after", [10, 120, 290])
def test_resumed_equals_uninterrupted(tmp_path, killed_after):
    rows, weights = training(tmp_path / "whole")
    assert training(tmp_path / "killed", killed_after) is None
    again, resumed = training(tmp_path / "killed")
    assert again == rows
    assert torch.equal(resumed, weights)
    assert rows[-1]["K"] > rows[0]["K"] == 1  # it did rise
    assert load_checkpoint(tmp_path / "whole/last.pt")["batches"]["K"] >= rows[-1]["K"]


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"last": 0}, ValueError, r"last must be an integer >= 1; got 0"),
        ({"first": 7}, ValueError, r"first must be an integer in \[1, 6\]; got 7"),
        ({"first": 1.5}, TypeError, r"first must be an integer in \[1, 6\]; got 1.5"),
        ({"raise_at": 0}, ValueError, r"raise_at must be a number in \(0, 1\]; got 0"),
        ({"raise_at": 1.1}, ValueError, r"raise_at must be a number in \(0, 1\]; got 1.1"),
        ({"n_batches": 0}, ValueError, r"n_batches must be an integer >= 1; got 0"),
    ],
)
def test_wrong_arguments_are_named(changed, error, message):
    with pytest.raises(error, match=message):
        Curriculum(draw, accuracy, **{"last": 6, **changed})
