"""Forests are forests, their roots and depths those of a loop, and their needs those of nodes that ask each other."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ponder_course.alone_and_together.task import ForestTask, grow

sizes = st.integers(1, 24)
seeds = st.integers(0, 10**6)


def forests(n_nodes, batch_size=4, seed=0, max_depth=None):
    return ForestTask(n_nodes, max_depth).batch(batch_size, torch.Generator().manual_seed(seed))


def climb(parents, node):
    """The nodes on the way up, the root last."""
    way = [node]
    while parents[way[-1]] != way[-1]:
        way.append(parents[way[-1]])
        assert len(way) <= len(parents), "a cycle"
    return way


def steps_until_sure(parents, memory):
    """Who asks whom, node by node: at which step has each heard that its root points at itself?

    What a node has heard is a set of nodes whose arrows it knows; at the start its own. At every step it asks one node
    to which an arrow that it knows points: whoever tells it most.
    """
    n_nodes = len(parents)
    at_the_start = [{node} for node in range(n_nodes)]
    heard, sure = at_the_start, [None] * n_nodes
    for step in range(1, n_nodes + 1):
        tells = heard if memory == "current" else at_the_start
        heard = [max((known | tells[parents[above]] for above in known), key=len) for known in heard]
        for node in range(n_nodes):
            if sure[node] is None and climb(parents, node)[-1] in heard[node]:
                sure[node] = step
    return sure


@given(seeds, sizes, st.none() | st.integers(0, 12))
def test_roots_and_depths_are_those_of_a_climb(seed, n_nodes, max_depth):
    x, y = forests(n_nodes, seed=seed, max_depth=max_depth)
    assert x.shape == y.shape == (4, n_nodes)
    assert x.dtype == y.dtype == torch.int64
    depths = ForestTask.depths(x)
    for parents, roots, depth in zip(x.tolist(), y.tolist(), depths.tolist(), strict=True):
        ways = [climb(parents, node) for node in range(n_nodes)]  # each ends: there is no cycle
        assert roots == [way[-1] for way in ways]
        assert depth == [len(way) - 1 for way in ways]
    assert depths.max() <= (n_nodes - 1 if max_depth is None else max_depth)
    assert torch.equal(ForestTask.answers(x), y)


@pytest.mark.parametrize(
    ("max_depth", "parents"), [(None, [0, 0, 1, 3, 2, 4]), (2, [0, 0, 1, 3, 4, 4]), (0, [0, 1, 2, 3, 4, 5])]
)
def test_a_forest_grows_as_by_hand(max_depth, parents):
    is_root = torch.tensor([[False, False, False, True, False, False]])  # node 0 is one in any case
    in_chain = torch.tensor([[True, False, True, True, False, True]])
    any_earlier = torch.tensor([[0.5, 0.99, 0.0, 0.0, 0.5, 0.0]])  # 1 points at 0, and 4 at the half of 4, that is 2
    assert grow(is_root, in_chain, any_earlier, max_depth).tolist() == [parents]


@settings(deadline=None, max_examples=50)
@given(seeds, st.integers(1, 20), st.sampled_from(["initial", "current"]))
def test_a_node_is_sure_when_nodes_that_ask_each_other_are(seed, n_nodes, memory):
    x, _ = forests(n_nodes, 2, seed)
    needed = ForestTask.needed_steps(x, memory)
    assert needed.dtype == torch.int64
    assert needed.tolist() == [steps_until_sure(parents, memory) for parents in x.tolist()]


def test_needs_are_exact_at_powers_of_two_in_long_chains():
    x = (torch.arange(2**11 + 2) - 1).clamp(min=0)[None]
    needed = ForestTask.needed_steps(x)[0].tolist()
    for n in range(1, 12):
        assert [needed[2**n - 1], needed[2**n]] == [n, n + 1]
    assert ForestTask.needed_steps(x[:, :40], "initial")[0].tolist() == [max(1, d) for d in range(40)]
    assert torch.equal(ForestTask.answers(x), torch.zeros_like(x))


def test_numbers_say_nothing():
    """Any node is as likely as another to be a root, and to be the parent of any other."""
    x, _ = forests(4, 30_000)
    points_at = torch.stack([(x == node).float().mean(0) for node in range(4)])  # [parent, node]
    roots, others = points_at.diagonal(), points_at[~torch.eye(4, dtype=torch.bool)]
    assert roots.max() - roots.min() < 0.02
    assert others.max() - others.min() < 0.02


@pytest.mark.parametrize(
    ("task", "arguments", "error", "named"),
    [
        (ForestTask, (0,), ValueError, "n_nodes .* 0"),
        (ForestTask, (4, -1), ValueError, "max_depth .* -1"),
        (ForestTask.needed_steps, (torch.zeros(1, 3).long(), "then"), ValueError, "memory .* 'then'"),
    ],
)
def test_wrong_arguments_are_named(task, arguments, error, named):
    with pytest.raises(error, match=named):
        task(*arguments)
