"""Dots beside nodes, and votes over answers: against lesson 08's network, and against every way to vote."""

import itertools
from math import prod, sqrt
from statistics import multimode

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.alone_and_together.task import ForestTask
from ponder_evidence.alone_and_together.experiment import make_step
from ponder_evidence.words.dots import Dotted, equal_chains, majority
from ponder_utils.pondernet import PonderNet


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 6))
def test_equal_chains_are_chains_of_one_length_and_hold_every_node(seed, n_chains, length):
    x = equal_chains(3, n_chains * length, n_chains, torch.Generator().manual_seed(seed))
    depths = sorted(3 * n_chains * [*range(length)])
    assert ForestTask.depths(x).flatten().sort().values.tolist() == depths
    for parents in x.tolist():
        assert len({*parents}) == n_chains * max(1, length - 1)  # nobody is the parent of two


@pytest.mark.parametrize("n_passes", [1, 3])
def test_without_dots_it_is_the_network_of_lesson_08_after_so_many_steps(n_passes):
    texts, _ = ForestTask(8).batch(5, torch.Generator().manual_seed(1))
    model = Dotted(0, n_passes, n_nodes=8, size=16).eval()
    theirs = PonderNet(make_step("current", 8, 16), n_passes).eval()
    theirs.step.step.load_state_dict(model.step.state_dict())
    theirs.step.encoder.load_state_dict(model.names.state_dict())
    torch.testing.assert_close(model(texts), theirs(texts).y_hat[-1])


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
