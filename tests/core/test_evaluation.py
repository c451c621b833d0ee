import contextlib

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, TensorDataset

from ponder_course.common.measures import best_halting
from ponder_course.map_of_thought.task import MazeTask
from ponder_utils.attention import TransformerStep
from ponder_utils.evaluation import binary_correct, class_correct, evaluate
from ponder_utils.halting import expected_steps
from ponder_utils.pondernet import PonderNet
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import GRUStep, RNNStep, Step
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


@pytest.mark.parametrize("shape", [(5, 1), (1,), (4,), (1, 5)])
def test_targets_of_another_shape_are_refused_also_where_they_would_broadcast(shape):
    """With as many samples as steps."""
    model, x = PonderNet(RNNStep(4, 8), 5), torch.randn(5, 4)
    with pytest.raises(ValueError, match=r"y must .*\[5.*\]; got"):
        evaluate(model, x, torch.ones(shape))
    assert evaluate(model, x, torch.ones(5)).steps > 0


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


class Fails(GRUStep):
    def read(self, h):
        if not self.training:
            raise RuntimeError("broken")
        return super().read(h)


@pytest.mark.parametrize("frozen", [True, False])
@pytest.mark.parametrize("step", [GRUStep, Fails])
def test_every_part_evaluates_and_is_left_in_its_mode(frozen, step):
    model = PonderNet(step(8, 16), 5)
    model.step.cell.train(not frozen)
    for training in (True, False):
        with pytest.raises(RuntimeError) if step is Fails else contextlib.nullcontext():
            evaluate(model, *ParityTask(8).batch(4))
        assert model.training == model.step.training == training
        assert model.step.cell.training == (training and not frozen)
        model.eval()


def test_answers_of_several_numbers():
    """Every number is judged by a target of its own; `correct` says what is right of them together."""
    model, x = PonderNet(RNNStep(4, 8, n_outputs=3), 5), torch.randn(6, 4)
    y = (model(x).y_hat[1] > 0).float()
    score = evaluate(model, x, y, lambda y_hat, y: binary_correct(y_hat, y).all(-1))
    assert score.accuracy_by_step[1] == 1
    with pytest.raises(ValueError, match=r"correct must return .*\[5, 6\]; got \[5, 6, 3\]"):
        evaluate(model, x, y)


class Wrong(Step):
    """Answers wrongly wherever it is asked: at the open places of a maze, whose targets are 0 or 1."""

    def encode(self, x):
        return MazeTask.answers(x), None

    def forward(self, y, h):
        return torch.where(y == 0, 5.0, -5.0), None, torch.zeros_like(y)


def test_places_that_are_not_asked_count_for_nothing():
    model = PonderNet(Wrong(), 2)
    x, y = MazeTask(5).batch(20, torch.Generator().manual_seed(0))
    score = evaluate(model, x, y, mask=y >= 0)
    assert score == (0.0, 1.5, [0.0, 0.0], [0.5, 0.5])
    with pytest.raises(ValueError, match=r"y must be in \[0, 1\]; got -1.*mask"):
        evaluate(model, x, y)


@pytest.mark.parametrize("target", [-1, -100, 3])
def test_targets_that_are_no_class_are_refused(target):
    model, x, y = PonderNet(RNNStep(4, 8, 3), 2), torch.randn(5, 4), torch.tensor([0, 1, 2, 1, target])
    with pytest.raises(ValueError, match=r"y must be in \[0, 2\]"):
        evaluate(model, x, y, class_correct)
    assert not class_correct(torch.randn(5, 3), y)[-1]
    assert not binary_correct(torch.tensor([9.0, -9.0]), torch.tensor(float(target))).any()


def test_an_answer_that_is_no_number_is_never_right():
    y_hat = torch.tensor([torch.nan, torch.nan, -1.0, torch.inf])
    assert binary_correct(y_hat, torch.tensor([0.0, 1.0, 0.0, 1.0])).tolist() == [False, False, True, True]
    of_classes = torch.tensor([[0.0, torch.nan, 2.0], [0.0, 1.0, 2.0], [torch.nan] * 3])
    assert class_correct(of_classes, torch.tensor([1, 2, 0])).tolist() == [False, True, False]
    model, x = PonderNet(lambda x, h: (torch.full_like(x, torch.nan), h, x[:, 0]), 3), torch.randn(8, 2)
    assert evaluate(model, x, torch.zeros(8, 2), lambda y_hat, y: ~(y_hat > 0).any(-1)).accuracy == 0


def test_places_are_scored_one_by_one():
    a = torch.randn(4, 6, 3)
    step = Scripted(torch.randn(4, 6, 3), a)
    model, x = PonderNet(step, 4), torch.arange(6)
    y, mask = torch.randint(0, 2, (6, 3)).float(), torch.rand(6, 3) < 0.6
    mask[0, 0] = True
    score, p = evaluate(model, x, y, mask=mask), model(x).log_p.exp()
    right = ((step.y_hat > 0) == (y > 0.5)).float()
    assert score.accuracy == pytest.approx((p * right).sum(0)[mask].mean().item(), abs=1e-6)
    assert score.accuracy_by_step == pytest.approx([r[mask].mean().item() for r in right], abs=1e-6)
    assert score.p == pytest.approx([part[mask].mean().item() for part in p], abs=1e-6)
    assert score.steps == pytest.approx(expected_steps(model(x).log_p)[mask].mean().item(), abs=1e-5)


class Scripted:
    def __init__(self, y_hat, a):
        self.y_hat, self.a = y_hat, a

    def __call__(self, x, h):
        n = 0 if h is None else int(h[0])
        return self.y_hat[n, x], torch.full_like(x, n + 1), self.a[n, x]


def numbers(score):
    return [score.accuracy, score.steps, *score.accuracy_by_step, *score.p]


def test_a_loader_is_scored_as_its_batches_in_one():
    model, (x, y) = PonderNet(GRUStep(8, 16), 5), ParityTask(8).batch(50)
    mask = torch.rand(50) < 0.5
    loader = DataLoader(TensorDataset(x, y), batch_size=16)  # the last batch has two samples
    assert numbers(evaluate(model, loader)) == pytest.approx(numbers(evaluate(model, x, y)))
    of_some = evaluate(model, DataLoader(TensorDataset(x, y, mask), batch_size=16))
    assert numbers(of_some) == pytest.approx(numbers(evaluate(model, x, y, mask=mask)))
    tokens = TensorDataset(torch.randn(10, 4, 8), torch.arange(4).expand(10, 4) > 2, torch.zeros(10, 4))
    pairs = [((one, padding), target, ~padding) for one, padding, target in tokens]
    assert 0 <= evaluate(PonderNet(TransformerStep(8), 3), DataLoader(pairs, 4)).accuracy <= 1


def test_a_sequence_is_scored_at_every_time_step_that_is_asked():
    model, x = PonderSequence(GRUStep(4, 8), 3).eval(), torch.randn(5, 6, 3)
    y, mask = torch.randint(0, 2, (5, 6)).float(), torch.arange(5)[:, None] < torch.tensor([5, 1, 2, 3, 4, 5])
    torch.manual_seed(0)
    score = evaluate(model, x, y.where(mask, -1).flatten(), mask=mask.flatten())
    torch.manual_seed(0)
    output = model(x).at(mask.flatten())
    right = ((output.y_hat > 0) == (y[mask] > 0.5)).float()
    assert score.accuracy == pytest.approx((output.log_p.exp() * right).sum(0).mean().item(), abs=1e-6)


def test_nothing_to_score_is_refused():
    model, x = PonderNet(RNNStep(4, 8), 3), torch.randn(5, 4)
    for arguments in ((x[:0], torch.zeros(0)), ([],), (x, torch.zeros(5), binary_correct, torch.zeros(5) > 1)):
        with pytest.raises(ValueError, match="needs an answer"):
            evaluate(model, *arguments)
    with pytest.raises(ValueError, match="mask goes with y"):
        evaluate(model, [(x, torch.zeros(5))], mask=torch.ones(5, dtype=torch.bool))


def test_an_argument_of_another_kind_is_named():
    model, x, y = PonderNet(RNNStep(4, 8), 6), torch.randn(6, 4), torch.ones(6)
    for arguments, name in {
        (x, tuple(y.tolist())): "y",
        (x, y, y > 0): "correct",
        ((x, y),): "x",
        (x, y, class_correct): "y",  # also where there are as many steps as samples
        (x, y * torch.nan): "y",
    }.items():
        with pytest.raises((TypeError, ValueError), match=rf"\b{name} must"):
            evaluate(model, *arguments)
