"""Lesson 08's step against a loop, one node at a time; and who sleeps keeps its state."""

import pytest
import torch

from ponder_course.alone_and_together.lesson import NodeStep, SleepyStep
from ponder_utils import PonderNet

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
