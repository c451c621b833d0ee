"""Paired associative inference: the pairs that are shown lead from the cue to the match, and not to the lure."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from ponder_evidence.alone_and_together.inference import InferenceTask


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 5))
def test_a_walk_along_the_pairs_finds_the_match_and_the_need(seed, n_chains, length):
    task = InferenceTask(n_chains * length + 2, n_chains, length)
    x, y = task.batch(8, torch.Generator().manual_seed(seed))
    needed = task.needed_steps(x)
    for i, (asked, pairs) in enumerate(zip(*(part.tolist() for part in x), strict=True)):
        cue, *choices = asked
        after = dict(pairs)
        assert len(after) == n_chains * (length - 1)
        way = [cue]
        while way[-1] in after:
            way.append(after[way[-1]])
        (match,) = {*choices} & {*way}
        assert (match, way.index(match)) == (y[i], needed[i])
