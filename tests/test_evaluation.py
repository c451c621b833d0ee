import contextlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.experiments.light_cone import best_halting
from ponder_utils.evaluation import binary_correct, class_correct, evaluate
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import GRUStep, RNNStep
from ponder_utils.tasks import ParityTask


def test_accuracy_is_the_expectation_of_sampled_halting():
    model = PonderNet(RNNStep(8, 32), 10)
    x, y = ParityTask(8).batch(20_000, torch.Generator().manual_seed(0))
    score = evaluate(model, x, y)
    got = model.predict(x, "sample", generator=torch.Generator().manual_seed(1))
    assert ((got.y_hat > 0) == (y > 0.5)).float().mean().item() == pytest.approx(score.accuracy, abs=0.015)
    assert got.steps.float().mean().item() == pytest.approx(score.steps, abs=0.05)
    for step in (1, 7):
        right = (model.predict(x, "fixed", step=step).y_hat > 0) == (y > 0.5)
        assert right.float().mean().item() == pytest.approx(score.accuracy_by_step[step - 1], abs=1e-5)
    assert torch.bincount(got.steps, minlength=11)[1:].div(20_000).tolist() == pytest.approx(score.p, abs=0.02)


def test_classes():
    model, x = PonderNet(RNNStep(4, 8, n_outputs=3), 5), torch.randn(50, 4)
    y = model(x).y_hat[2].argmax(-1)
    y[:5] = (y[:5] + 1) % 3
    score = evaluate(model, x, y, class_correct)
    assert score.accuracy_by_step[2] == pytest.approx(0.9)


def test_dropout_is_off_while_scoring_and_on_again_after():
    class Dropped(GRUStep):
        def read(self, h):
            return super().read(nn.functional.dropout(h, 0.5, self.training))

    model = PonderNet(Dropped(8, 16), 5)
    x, y = ParityTask(8).batch(64)
    assert evaluate(model, x, y) == evaluate(model, x, y)
    assert model.training


@pytest.mark.parametrize("n", [3, 5, 1])
def test_targets_of_another_shape_are_refused_also_where_they_would_broadcast(n):
    """Also with as many samples as steps."""
    model = PonderNet(RNNStep(4, 8), n)
    x, y = torch.randn(n, 4), torch.randint(2, (n, 1)).float()
    with pytest.raises(ValueError, match=rf"correct must return .*\[{n}, {n}\]; got .* and targets \[{n}, 1\]"):
        evaluate(model, x, y)
    evaluate(model, x, y[:, 0])


def test_targets_of_fewer_samples_are_refused():
    """One target broadcasts over all answers, and scores them by it."""
    model, x = PonderNet(RNNStep(4, 8), 5), torch.randn(50, 4)
    for y in (torch.ones(1), torch.ones(49), torch.ones(5)):
        with pytest.raises(ValueError, match=rf"y must have one target per sample, \[50, ...\]; got \[{len(y)}\]"):
            evaluate(model, x, y)


def test_inputs_of_several_parts_and_a_model_without_parameters():
    def step(x, h):
        tokens, offset = x
        h = offset if h is None else h + 1
        return tokens[:, 0] - h, h, tokens[:, 1]

    model = PonderNet(step, 4)
    assert not list(model.parameters())
    x = torch.tensor([[0.5, 0.0], [2.5, 0.0]]), torch.zeros(2)
    score = evaluate(model, x, torch.ones(2))
    assert score.accuracy_by_step == [1, 0.5, 0.5, 0]
    assert score.p == [0.5, 0.25, 0.125, 0.125]
    assert score.accuracy == 0.5 + 0.5 * 0.25 + 0.5 * 0.125
    assert score.steps == 1.875
    assert model.predict(x, "quantile", q=0.7).steps.tolist() == [2, 2]
    assert model.expectation(x).y_hat.tolist() == [0.5 - 0.875, 2.5 - 0.875]


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 8))
def test_the_best_halting_is_that_of_trying_every_step(seed, batch, n_steps):
    probs = torch.rand(n_steps, batch, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    steps, accuracy = best_halting(probs, n_points=5)
    for price, mean_steps, mean_prob in zip([10 ** (-k * 3 / 4) for k in range(5)], steps, accuracy, strict=True):
        values = [[p - price * n for n, p in enumerate(row, start=1)] for row in probs.T.tolist()]
        best = [row.index(max(row)) for row in values]
        assert mean_steps == pytest.approx(sum(best) / batch + 1)
        assert mean_prob == pytest.approx(sum(probs[n, i].item() for i, n in enumerate(best)) / batch)
    assert steps == sorted(steps)
    assert accuracy == sorted(accuracy)


def test_answers_of_several_numbers():
    """Every place of an answer is judged by a target of its own; right is what is right at every place."""
    model, x = PonderNet(RNNStep(4, 8, n_outputs=3), 5), torch.randn(6, 4)
    y = (model(x).y_hat[1] > 0).float()
    score = evaluate(model, x, y, lambda y_hat, y: binary_correct(y_hat, y).all(-1))
    assert score.accuracy_by_step[1] == 1


class Fails(GRUStep):
    def read(self, h):
        if not self.training:
            raise RuntimeError("broken")
        return super().read(h)


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("step", [GRUStep, Fails])
def test_every_part_is_left_in_its_mode(frozen, step):
    model = PonderNet(step(8, 16), 5)
    model.step.cell.train(not frozen)
    with contextlib.suppress(RuntimeError):
        evaluate(model, *ParityTask(8).batch(4))
    assert model.training
    assert model.step.training
    assert model.step.cell.training != frozen
    model.eval()
    with contextlib.suppress(RuntimeError):
        evaluate(model, *ParityTask(8).batch(4))
    assert not any(part.training for part in model.modules())


def test_a_correct_of_another_shape_is_refused():
    model = PonderNet(RNNStep(4, 8, n_outputs=3), 5)
    with pytest.raises(
        ValueError, match=r"correct must return one value per step and sample, \[5, 2\]; got \[5, 2, 3\]"
    ):
        evaluate(model, torch.zeros(2, 4), torch.zeros(2, 3))
