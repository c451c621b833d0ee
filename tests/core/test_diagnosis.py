import math

import numpy as np
import pytest
import torch
from reference import geometric, halting, quantile_step
from scripted import Answers, draws

from ponder_utils.evaluation import diagnose
from ponder_utils.losses import FixedDepthLoss, PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.sequences import PonderSequence
from ponder_utils.steps import GRUStep


def distance(y_hat, y):
    return (y_hat - y).abs()


def diagnosed(losses, logits, prior=0.5, beta=0.1):
    """The diagnosis of a network with these losses and halting logits [answers, N]."""
    batch = (torch.tensor(losses), torch.tensor(logits)), torch.zeros(len(losses))
    return diagnose(PonderNet(Answers(), len(losses[0])), [batch], PonderLoss(distance, prior, beta))


def halts_at(*steps):
    return [[30.0 if n == step else -30.0 for n in range(1, 7)] for step in steps]


# A further step costs 0.1 log 2 = 0.0693. Step 1 is the cheapest, step 5, or the last.
EASY, HARD, BETTER = [0.05] * 6, [0.7] * 4 + [0.05] * 2, [0.7, 0.6, 0.5, 0.4, 0.3, 0.2]

AT_1, FLAT, EARLY = "Nearly all halt at step 1", "Steps hardly differ: lower", "Half or more are early"
ONE_STEP = "One step for all"


@pytest.mark.parametrize(
    ("losses", "logits", "says"),
    [
        ([EASY, HARD], halts_at(1, 5), []),
        ([EASY, HARD], halts_at(3, 6), ["Half or more are late"]),
        ([EASY, HARD], halts_at(6, 6), ["Steps hardly differ, and half"]),
        ([EASY, HARD], halts_at(3, 3), [FLAT, "A few are early"]),
        ([EASY, HARD], halts_at(1, 1), [AT_1, FLAT, EARLY]),
        ([EASY, HARD], [[0.27] * 6, [0.73] * 6], ["All halting logits lie"]),
        ([EASY, EASY], halts_at(1, 1), [AT_1, ONE_STEP]),
        ([HARD, HARD], halts_at(3, 3), [EARLY, ONE_STEP]),
        ([BETTER, BETTER], halts_at(6, 6), ["Nearly all halt at step N", ONE_STEP]),
    ],
)
def test_each_symptom_is_found_where_it_is_and_nowhere_else(losses, logits, says):
    diagnosis = diagnosed(losses, logits)
    sentences = diagnosis.findings()
    for sentence, begin in zip(sentences, says, strict=True):
        assert sentence.startswith(begin)
    assert [line[2:] for line in str(diagnosis).splitlines() if line.startswith("- ")] == sentences


def test_a_network_of_one_step_has_no_price_and_is_told_no_change_of_its_halting():
    diagnosis = diagnosed([[0.05], [0.7]], [[0.0], [3.0]])
    assert diagnosis.findings() == ["There is one step alone, and nothing to decide: raise N."]
    assert "price of a further step: none\n" in str(diagnosis)


def test_the_numbers_of_an_easy_and_a_hard_answer_by_hand():
    diagnosis = diagnosed([EASY, HARD], halts_at(1, 6))
    means = [numbers[0] for numbers in (diagnosis.steps, diagnosis.cheapest, diagnosis.lateness)]
    assert means == pytest.approx([3.5, 3, 0.5])
    assert diagnosis.halting == [0.5, 0.5]
    assert diagnosis.prices == pytest.approx([0.1 * math.log(2)] * 5)
    # For all step 5 is the cheapest: the hard answer gains 0.65 by it, and 4 steps cost both 0.277.
    assert diagnosis.one_step == 5
    assert diagnosis.saving == pytest.approx(0.2 * math.log(2))
    assert "price of a further step: 0.0693\n" in str(diagnosis)


def spread(values):
    return [np.mean(values), *np.quantile(values, [0.05, 0.5, 0.95])]


UNEVEN = [0.1, 0.4, 0.2, 0.25, 0.05]


@pytest.mark.parametrize(
    ("prior", "p_G"),
    [(0.3, geometric(0.3, 5)), ("uniform", [0.2] * 5), (torch.tensor(UNEVEN), UNEVEN)],
    ids=["geometric", "uniform", "uneven"],
)
def test_as_a_plain_loop_says_over_batches_places_and_what_is_asked(prior, p_G):
    paid = [0.2 * math.log(p_G[0] / p) for p in p_G]
    batches, steps, cheapest, at, costs = [], [], [], [], []
    for seed, n_places in ((0, 3), (1, 2)):
        logits = draws(seed, 8 * n_places, 5).view(8, n_places, 5).transpose(1, 2)  # [batch, N, places]
        y_hat, mask = draws(seed + 2, 8 * n_places, 5, 1).view(8, 5, n_places), draws(seed + 4, 8, n_places) > 0
        batches.append(((y_hat, logits), torch.zeros(8, n_places).where(mask, math.nan), mask))
        for sample, place in mask.nonzero().tolist():
            p = halting(logits[sample, :, place].tolist())
            costs.append(
                [abs(loss) + price for loss, price in zip(y_hat[sample, :, place].tolist(), paid, strict=True)]
            )
            steps.append(sum(n * p_n for n, p_n in enumerate(p, 1)))
            cheapest.append(costs[-1].index(min(costs[-1])) + 1)
            at.append(quantile_step(p, 0.5))
    diagnosis = diagnose(PonderNet(Answers(), 5), batches, PonderLoss(distance, prior, 0.2))
    means = np.mean(costs, 0)
    assert diagnosis.steps == pytest.approx(spread(steps), abs=1e-5)
    assert diagnosis.cheapest == pytest.approx(spread(cheapest))
    assert diagnosis.lateness == pytest.approx(spread(np.subtract(steps, cheapest)), abs=1e-5)
    assert diagnosis.halting == pytest.approx([at.count(1) / len(at), at.count(5) / len(at)])
    assert diagnosis.losses == pytest.approx(means - paid, abs=1e-6)
    assert diagnosis.prices == pytest.approx(np.diff(paid), abs=1e-6)
    assert diagnosis.one_step == means.argmin() + 1
    assert diagnosis.saving == pytest.approx(means.min() - np.min(costs, 1).mean(), abs=1e-6)


def test_a_sequence_has_an_answer_at_each_time_step():
    x, y = torch.randn(3, 4, 2), torch.ones(3, 4)
    diagnosis = diagnose(PonderSequence(GRUStep(3, 8), 5), [(x, y.flatten(0, 1))], PonderLoss(distance, 0.5))
    assert len(diagnosis.losses) == 5


@pytest.mark.parametrize(
    ("batches", "loss", "message"),
    [
        ([], PonderLoss(distance, 0.5), "batches must give at least one .*; got none"),
        ([(torch.ones(2, 4), torch.ones(2), torch.zeros(2) > 0)], PonderLoss(distance, 0.5), "true nowhere"),
        ([], FixedDepthLoss(distance, True), "loss must be a PonderLoss; got FixedDepthLoss"),
        ([], PonderLoss(distance, 0.5, direction="p_G||p"), r"loss must have direction 'p\|\|p_G'.*; got 'p_G\|\|p'"),
        ([(torch.ones(2, 4), torch.ones(2))], PonderLoss(distance, torch.tensor([0.5, 0.5])), r"prior must .*\[5\]"),
    ],
)
def test_wrong_arguments_are_named(batches, loss, message):
    with pytest.raises((TypeError, ValueError), match=message):
        diagnose(PonderNet(GRUStep(4, 8), 5), batches, loss)
