"""Losses and lines without an answer, against their definitions; and what networks lose that have chosen nothing."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.common.lines import LineParityTask
from ponder_course.ways_to_stop import regret as ranking
from ponder_course.ways_to_stop.lesson import judge_loss
from ponder_course.ways_to_stop.problems import UnanswerableTask
from ponder_course.ways_to_stop.regret import Method
from ponder_utils.evaluation import binary_correct
from ponder_utils.halting import PonderOutput, halting_log_probs
from ponder_utils.losses import FixedDepthLoss

bce = nn.BCEWithLogitsLoss(reduction="none")
shapes = given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 9))


def scripted(seed, n_steps, batch, places=()):
    generator = torch.Generator().manual_seed(seed)
    y_hat = torch.randn(n_steps, batch, *places, generator=generator, dtype=torch.float64)
    a = torch.randn(n_steps, batch, generator=generator, dtype=torch.float64)
    y = (torch.rand(batch, *places, generator=generator) < 0.5).double()
    return PonderOutput(y_hat, a, halting_log_probs(a)), y


def cross_entropy(logit, target):
    """Of a logit and a probability, one number at a time."""
    p = 1 / (1 + math.exp(-logit))
    return -target * math.log(p) - (1 - target) * math.log(1 - p)


@shapes
def test_losses_of_all_steps_and_of_the_last_are_means_over_steps_and_samples(seed, batch, n_steps):
    output, y = scripted(seed, n_steps, batch)
    losses = [[cross_entropy(*pair) for pair in zip(row, y.tolist(), strict=True)] for row in output.y_hat.tolist()]
    last, every = (FixedDepthLoss(bce, every_step)(output, y) for every_step in (False, True))
    assert last.total.item() == pytest.approx(sum(losses[-1]) / batch)
    assert every.total.item() == pytest.approx(sum(map(sum, losses)) / batch / n_steps)


@shapes
def test_a_judge_learns_whether_the_answer_is_right_by_now(seed, batch, n_steps):
    output, y = scripted(seed, n_steps, batch)
    judged = []
    for answers, logits in zip(output.y_hat.tolist(), output.halt_logits.tolist(), strict=True):
        for answer, a, target in zip(answers, logits, y.tolist(), strict=True):
            judged.append(cross_entropy(a, float((answer > 0) == (target > 0.5))))
    answers = FixedDepthLoss(bce, every_step=True)(output, y).total
    total = judge_loss(output, y, bce, binary_correct)
    assert (total - answers).item() == pytest.approx(0.5 * sum(judged) / batch / n_steps)


RATES = (None, 0, 1, 0.1, 0.5)
lines = given(st.integers(1, 40), st.sampled_from(RATES), st.integers(1, 8), st.integers(0, 10**6))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


@lines
def test_what_nobody_can_know_needs_one_step(n_places, rate, batch_size, seed):
    task = UnanswerableTask(n_places, rate, fraction=0.5)
    x, y = task.batch(batch_size, seeded(seed))
    known, whole = task.answerable(x), LineParityTask(n_places, rate)
    assert torch.equal(x[:, 2], (~known).float()[:, None].expand(-1, n_places))
    assert torch.equal(y[known], whole.answers(x[known, :2]))
    need = task.needed_steps(x)
    assert torch.equal(need[known], whole.needed_steps(x[known, :2]))
    assert (need[~known] == 1).all()
    probs = task.best_probs(x, n_places)
    torch.testing.assert_close(probs[:, known], whole.best_probs(x[known, :2], n_places))
    assert (probs[:, ~known] == 0.5**n_places).all()


def row(training, value, seed, valid, tested, rule="confidence", problem="lines"):
    tests = {"valid": {"rules": {rule: valid}}, "16 places": {"rules": {rule: tested}, "in time": [0.5, 3.0]}}
    return {"problem": problem, "training": training, "hyperparameter": value, "seed": seed, "tests": tests}


def test_hyperparameters_are_chosen_on_other_lines_the_rules_for_each_network_the_trainings_for_all():
    rows = [
        row("a", 1.0, 0, [[0.9, 5], [1.0, 9], [1.0, 12]], [[0.1, 1], [0.2, 2], [0.3, 3]]),
        row("a", 1.0, 1, [[1.0, 5], [1.0, 9], [0.2, 1]], [[0.4, 4], [0.5, 5], [0.6, 6]]),
        row("a", 2.0, 0, [[1.0, 20], [0, 1], [0, 1]], [[1.0, 7], [1.0, 8], [1.0, 9]]),  # worse on valid
        row("every step", 1.0, 0, [[1.0, 1]] * 3, [[0.9, 1]] * 3),
    ]
    found = ranking.best(rows, "a", "confidence", price=0.01)
    assert found[1:] == ("lines", 1.0, [1, 0], {"16 places": [[0.2, 2], [0.4, 4]]})
    assert found.utility == pytest.approx((1.0 - 0.09 + 1.0 - 0.05) / 2)
    assert ranking.best(rows, "a", "confidence", price=0.1).which == [0, 0]  # expensive steps
    assert ranking.best(rows, "a", "entropy") is None
    assert ranking.utility([0.9, 5], 0.01) == pytest.approx(0.85)
    assert ranking.regret([0.9, 5], 3, 0.01) == (pytest.approx(0.02), pytest.approx(0.1))


def test_networks_that_choose_do_not_report():
    fresh = ranking.REPORTING[0]
    rows = [
        row("a", 1.0, 0, [[0.9, 5]] * 7, [[0.1, 1]] * 7),
        row("a", 1.0, fresh, [[0.2, 5]] * 6 + [[0.3, 5]], [[0.2, 2]] * 7),
        row("a", 2.0, 0, [[0.8, 5]] * 7, [[0.3, 3]] * 7),
        row("a", 2.0, fresh, [[1.0, 5]] * 7, [[0.4, 4]] * 7),  # would choose 2.0, and may not
        row("a", 3.0, fresh, [[1.0, 5]] * 7, [[0.5, 5]] * 7),
    ]
    found = ranking.best(rows, "a", "confidence")
    assert (found.hyperparameter, found.tests) == (1.0, {"16 places": [[0.2, 2]]})
    assert found.which == [6]  # the rule's, for each network on lines of its own


def test_a_regret_is_in_two_parts(monkeypatch):
    monkeypatch.setattr(ranking, "METHODS", {"mine": Method("nothing", "every step", "confidence")})
    rows = [row("every step", 0.0, seed, [[1.0, 1]] * 7, [[0.9, 5]] * 7) for seed in range(2)]
    found = ranking.regrets(rows, "16 places", price=0.01)["mine"]
    assert found == [(pytest.approx(0.02), pytest.approx(0.1))] * 2  # two steps later than the 3 in time
    in_time, late_and_wrong = ranking.utility([1.0, 3], 0.01), ranking.utility([0.9, 5], 0.01)
    assert sum(found[0]) == pytest.approx(in_time - late_and_wrong)
