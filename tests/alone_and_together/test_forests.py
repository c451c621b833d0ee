"""Forests and their needs against loops, and lesson 08's step one node at a time; who sleeps keeps its state."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ponder_course.alone_and_together.lesson import NodeStep, SleepyStep
from ponder_course.alone_and_together.task import ForestTask, grow
from ponder_utils import PonderNet

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


def test_a_chain_breaks_only_where_a_node_would_be_deeper_than_allowed():
    never, always = torch.zeros(1, 8, dtype=torch.bool), torch.ones(1, 8, dtype=torch.bool)
    parents = grow(never, always, torch.zeros(1, 8), max_depth=3)
    assert parents.tolist() == [[0, 0, 1, 2, 4, 4, 5, 6]]


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


BATCH, NODES, SIZE = 5, 6, 8
both_ways = pytest.mark.parametrize("memory", ["current", "initial"])


def drawn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@both_ways
@pytest.mark.parametrize("n_heads", [1, 2])
def test_the_layer_is_that_of_a_loop(n_heads, memory):
    step, x = NodeStep(SIZE, 3, memory, n_heads).double().eval(), drawn(BATCH, NODES, SIZE)
    output = PonderNet(step, 3)(x)
    for i in range(BATCH):
        h = x[i]
        for n in range(3):
            others, states = (h if memory == "current" else x[i])[None], []
            for node in h:
                heard = step.attention(node[None, None], others, others)[0][0, 0]
                new = step.norm_attention(node + heard)
                states.append(step.norm_mlp(new + step.mlp(new)))
            h = torch.stack(states)
            wanted = h @ step.heads.weight.T + step.heads.bias
            torch.testing.assert_close(output.y_hat[n, i], wanted[:, :3])
            torch.testing.assert_close(output.halt_logits[n, i], wanted[:, 3])


@both_ways
def test_nodes_sleep_in_training_only_as_often_as_they_shall(memory):
    step = SleepyStep(SIZE, 3, memory).double().eval()
    start, h = step.encode(drawn(2000, NODES, SIZE))
    awake = step.move(start, h)
    assert not (awake == h).any()
    new = step.train().move(start, h)
    asleep = (new == h).all(2)
    assert asleep.double().mean().item() == pytest.approx(0.25, abs=0.02)
    torch.testing.assert_close(new, torch.where(asleep[..., None], h, awake))  # a node sleeps as a whole
    assert not torch.equal(asleep, (step.move(start, h) == h).all(2))  # drawn anew
