import pytest
import torch
from scripted import Answers
from torch.utils.data import DataLoader, TensorDataset

from ponder_utils.evaluation import binary_correct, class_correct, evaluate
from ponder_utils.halting import average, expected_steps
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import GRUStep, RNNStep
from ponder_utils.tasks import ParityTask


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
    output = model(x)
    assert average(output.log_p.exp(), output.y_hat).tolist() == [0.5 - 0.875, 2.5 - 0.875]


@pytest.mark.parametrize("training", [True, False])
def test_every_part_evaluates_and_is_left_in_its_mode_whatever_happens(training):
    def fails(y_hat, y):
        assert not any(part.training for part in model.modules())
        raise RuntimeError

    model = PonderNet(GRUStep(8, 16), 5)
    model.train(training).step.cell.eval()  # as a frozen part is
    with pytest.raises(RuntimeError):
        evaluate(model, *ParityTask(8).batch(4), fails)
    assert model.training == model.step.training == training
    assert not model.step.cell.training


@pytest.mark.parametrize("target", [-1, -100, 3, 1.5])
def test_targets_that_are_no_class_are_refused(target):
    model, x, y = PonderNet(RNNStep(4, 8, 3), 2), torch.randn(5, 4), torch.tensor([0, 1, 2, 1, target])
    with pytest.raises(ValueError, match=rf"y must .*\[0, 2\].*{target}"):
        evaluate(model, x, y, class_correct)
    assert not class_correct(torch.randn(5, 3), y)[-1]
    assert not binary_correct(torch.tensor([9.0, -9.0]), torch.tensor(float(target))).any()


def test_an_answer_that_is_no_number_is_never_right_and_a_logit_of_0_answers_0():
    y_hat = torch.tensor([torch.nan, torch.nan, -1.0, torch.inf, 0.0, 0.0])
    y = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    assert binary_correct(y_hat, y).tolist() == [False, False, True, True, True, False]
    of_classes = torch.tensor([[0.0, torch.nan, 2.0], [0.0, 1.0, 2.0]])
    assert class_correct(of_classes, torch.tensor([1, 2])).tolist() == [False, True]
    model, x = PonderNet(lambda x, h: (torch.full_like(x, torch.nan), h, x[:, 0]), 3), torch.randn(8, 2)
    assert evaluate(model, x, torch.zeros(8, 2), lambda y_hat, y: ~(y_hat > 0).any(-1)).accuracy == 0


@pytest.mark.parametrize("classes", [False, True])
def test_places_are_scored_one_by_one_where_they_are_asked(classes):
    y_hat = torch.randn(4, 6, 3, 5) if classes else torch.randn(4, 6, 3)
    model, x = PonderNet(Answers(), 4), (y_hat.transpose(0, 1), torch.randn(6, 4, 3))
    y, mask = torch.randint(0, 2, (6, 3)), torch.rand(6, 3) < 0.6
    mask[0, 0] = True
    correct = class_correct if classes else binary_correct
    p = model(x).log_p.exp()
    right = (y_hat.argmax(-1) == y if classes else (y_hat > 0) == (y > 0)).float()
    score = evaluate(model, x, y.where(mask, -1), correct, mask)
    assert score.accuracy == pytest.approx((p * right).sum(0)[mask].mean().item(), abs=1e-6)
    assert score.accuracy_by_step == pytest.approx([r[mask].mean().item() for r in right], abs=1e-6)
    assert score.p == pytest.approx([part[mask].mean().item() for part in p], abs=1e-6)
    assert score.steps == pytest.approx(expected_steps(model(x).log_p)[mask].mean().item(), abs=1e-5)
    mask[0, 0] = False
    with pytest.raises(ValueError, match=r"y must .*-1"):
        evaluate(model, x, y.where(mask, -1), correct)


def numbers(score):
    return [score.accuracy, score.steps, *score.accuracy_by_step, *score.p]


def test_a_loader_is_scored_as_its_batches_in_one():
    model, (x, y) = PonderNet(GRUStep(8, 16), 5), ParityTask(8).batch(50)
    mask = torch.rand(50) < 0.5
    loader = DataLoader(TensorDataset(x, y), batch_size=16)  # the last batch has two samples
    assert numbers(evaluate(model, loader)) == pytest.approx(numbers(evaluate(model, x, y)))
    of_some = evaluate(model, DataLoader(TensorDataset(x, y, mask), batch_size=16))
    assert numbers(of_some) == pytest.approx(numbers(evaluate(model, x, y, mask=mask)))
    with pytest.raises(ValueError, match=r"x must give batches \(x, y\) or .*; got dict"):
        evaluate(model, DataLoader([{"x": x[0], "y": y[0]}], 1))
    padding = torch.arange(4) > 2  # of tokens, which a loader makes a list of
    pairs = [((torch.randn(4, 8), padding), torch.zeros(4), ~padding) for _ in range(10)]
    of_tokens = PonderNet(lambda x, h: (x[0].sum(2), x[0], x[0].mean(2)), 3)
    assert 0 <= evaluate(of_tokens, DataLoader(pairs, 4)).accuracy <= 1


def test_wrong_arguments_are_named():
    model, x, y = PonderNet(RNNStep(4, 8), 5), torch.randn(5, 4), torch.ones(5)
    for arguments, message in {
        (x[:0], y[:0]): "got none",
        (x, y, binary_correct, y > 1): "got none",
        (((x, y),), None, binary_correct, y > 0): "mask goes with y",
        (x, y, lambda y_hat, y: y_hat[:1] > 0): r"correct must return .*\[5, 5\]; got \[1, 5\]",
        (x, y, class_correct): "y must",  # also where there are as many steps as samples
        (x, y[:, None]): "y must",  # also where it would broadcast
    }.items():
        with pytest.raises((TypeError, ValueError), match=message):
            evaluate(model, *arguments)
