"""Trials of paired associative inference are as a student would lay them out."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_course.research.alone_and_together.inference import InferenceTask


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
