"""Dots beside nodes, and votes over answers: against lesson 08's network, and against every way to vote."""

import itertools
from math import prod, sqrt
from statistics import multimode
from types import SimpleNamespace

import pytest
import torch
from scipy.stats import binom
from torch import nn

from ponder_course.alone_and_together.experiment import make_step
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.words.dots import VOTES, Dotted, majority, measure
from ponder_utils.pondernet import PonderNet

TEXTS, _ = ForestTask(8).batch(5, torch.Generator().manual_seed(1))


def make(n_dots, n_passes=2):
    torch.manual_seed(0)
    return Dotted(n_dots, n_passes, n_nodes=8, size=16).eval()


@pytest.mark.parametrize("n_passes", [1, 3])
def test_without_dots_it_is_the_network_of_lesson_08_after_so_many_steps(n_passes):
    model = make(0, n_passes)
    theirs = PonderNet(make_step("current", 8, 16), n_passes).eval()
    theirs.step.step.load_state_dict(model.step.state_dict())
    theirs.step.encoder.load_state_dict(model.names.state_dict())
    torch.testing.assert_close(model(TEXTS), theirs(TEXTS).y_hat[-1])


def test_dots_are_read_and_do_not_answer_and_their_order_is_nothing():
    model, without = make(3), make(0)
    without.load_state_dict({**model.state_dict(), "dots": without.dots})
    logits = model(TEXTS)
    assert logits.shape == without(TEXTS).shape == (5, 8, 8)
    assert (logits - without(TEXTS)).abs().max() > 0.01
    model.dots.data.copy_(model.dots.flip(0))
    torch.testing.assert_close(model(TEXTS), logits)


@pytest.mark.parametrize(("n_dots", "n_passes", "name"), [(-1, 2, "n_dots"), (0, 0, "n_passes")])
def test_fewer_than_no_dots_and_no_pass_are_refused(n_dots, n_passes, name):
    with pytest.raises(ValueError, match=name):
        make(n_dots, n_passes)


def elected(probs, n_votes):
    """How probable each answer is to have the most votes, from every way to vote; those that tie share."""
    found = [0.0] * len(probs)
    for votes in itertools.product(range(len(probs)), repeat=n_votes):
        first = multimode(votes)
        for answer in first:
            found[answer] += prod(probs[vote] for vote in votes) / len(first)
    return found


@pytest.mark.parametrize("n_votes", [1, 2, 3, 5])
@pytest.mark.parametrize("probs", [[0.6, 0.4], [0.5, 0.5], [0.5, 0.3, 0.2], [0.25] * 4, [0.0, 1.0, 0.0]])
def test_a_majority_is_as_frequent_as_every_way_to_vote_says(probs, n_votes):
    n = 20_000
    chosen = majority(torch.tensor(probs).expand(n, -1), n_votes, torch.Generator().manual_seed(0))
    for answer, p in enumerate(elected(probs, n_votes)):
        assert (chosen == answer).double().mean().item() == pytest.approx(p, abs=6 * sqrt(p * (1 - p) / n))


def scripted(x):
    """The root is named, at depth 2 with 0.6 and else the node itself, which is always named at depth 3."""
    of_root = torch.tensor([1.0, 1.0, 0.6, 0.0])[ForestTask.depths(x)][..., None]
    root, node = nn.functional.one_hot(ForestTask.answers(x), 16), torch.eye(16)
    return (of_root * root + (1 - of_root) * node).log()


def test_what_is_measured_is_what_is_scripted():
    model = SimpleNamespace(eval=lambda: scripted, names=SimpleNamespace(addresses=torch.zeros(16, 1)))
    found = measure(model, 200)["by_depth"]
    assert [*found] == [0, 1, 2, 3]  # four chains of 16 nodes
    for depth, right in enumerate((1, 1, 1, 0)):
        assert (found[depth]["nodes"], found[depth]["right"]) == (800, right)
        for n_votes in VOTES:
            p = binom.sf(n_votes // 2, n_votes, 0.6) if depth == 2 else right
            assert found[depth]["votes"][n_votes] == pytest.approx(p, abs=6 * sqrt(p * (1 - p) / 800))
