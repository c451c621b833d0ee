"""Trials of paired associative inference are as a student would lay them out; what is measured is what happens."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.research.alone_and_together import inference
from ponder_course.research.alone_and_together.inference import InferenceTask
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import Step


def chains_of(pairs):
    """The chains that pairs of neighbours make up."""
    after = dict(pairs)
    assert len(after) == len(pairs)
    chains = []
    for first in after.keys() - set(after.values()):
        chain = [first]
        while chain[-1] in after:
            chain.append(after[chain[-1]])
        chains.append(chain)
    return chains


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 5), st.integers(0, 3))
def test_the_match_is_in_a_chain_with_the_cue_and_the_lure_at_the_same_place_of_another(seed, n_chains, length, more):
    task = InferenceTask(n_chains * length + more, n_chains, length)
    x, y = task.batch(6, torch.Generator().manual_seed(seed))
    asked, pairs = x
    assert asked.shape == (6, 3)
    assert pairs.shape == (6, n_chains * (length - 1), 2)
    for (cue, *choices), shown, match, need in zip(
        asked.tolist(), pairs.tolist(), y.tolist(), task.needed_steps(x).tolist(), strict=True
    ):
        chains = chains_of(shown)
        items = [item for chain in chains for item in chain]
        assert [len(chain) for chain in chains] == [length] * n_chains
        assert len(set(items)) == len(items)
        assert set(items) <= set(range(task.n_items))
        (own,) = [chain for chain in chains if cue in chain]
        (lure,) = [choice for choice in choices if choice != match]
        (other,) = [chain for chain in chains if lure in chain]
        assert own.index(match) - own.index(cue) == need >= 1
        assert other is not own
        assert other.index(lure) == own.index(match)


class Oracle(Step):
    """Halts at the need or some steps later, knows the match from its need on, and the lure before."""

    def __init__(self, late):
        super().__init__()
        self.late = late

    def encode(self, x):
        asked, pairs = x
        task, here = InferenceTask(), asked[:, 0]
        need = task.needed_steps(x)
        for hop in range(1, 4):
            after = (pairs[:, :, 0] == here[:, None]).long()
            here = torch.where(need >= hop, (pairs[:, :, 1] * after).sum(1), here)
        lure = asked[:, 1:].sum(1) - here
        return (need, here, lure), torch.zeros(len(asked))

    def forward(self, z, h):
        need, match, lure = z
        n = h + 1
        y_hat = 20.0 * nn.functional.one_hot(torch.where(n >= need, match, lure), 24)
        return y_hat, n, torch.where(n >= need + self.late, 40.0, -40.0)


@pytest.mark.parametrize("late", [-1, 0, 2])
def test_what_is_measured_of_an_oracle_is_what_it_does(late):
    found = inference.measure(PonderNet(Oracle(late), 8), 300)
    steps = [max(1, d + late) for d in (1, 2, 3)]
    assert found["expected"]["steps"] == pytest.approx(steps)
    assert found["expected"]["right"] == pytest.approx([float(n >= d) for d, n in enumerate(steps, 1)])
    assert found["early"] == pytest.approx([float(n < d) for d, n in enumerate(steps, 1)])
    for d in (1, 2, 3):
        assert found["by_step"][d - 1] == [float(n >= d) for n in range(1, 9)]
        assert found["p"][d - 1] == pytest.approx([float(n == steps[d - 1]) for n in range(1, 9)])
    assert found["confidence"] == {"right": [1, 0, 0], "steps": [1, 1, 1]}  # it is always sure
