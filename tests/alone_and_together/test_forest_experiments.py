"""What is measured of networks on forests is what they do: whom they read, what they feel, how right they are."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together.task import ForestTask
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import EncodedStep, Step

seeds = st.integers(0, 10**6)


def some_forests(seed=0, n_nodes=9, batch=6, max_depth=None):
    return ForestTask(n_nodes, max_depth).batch(batch, torch.Generator().manual_seed(seed))[0]


class Pointers(Step):
    """A layer that follows pointers by hand: each node reads the one at which it points, and takes over its pointer.

    Roots are known from the start; who reads one that knows its root, knows it too. The answer is where a node points,
    with logits of `certain`; it halts `late` steps after it has come to know. State: where it points, as one hot, and
    for how many steps it has known, [batch, nodes, nodes + 1].
    """

    def __init__(self, memory="current", late=0, certain=9.0):
        super().__init__()
        self.memory, self.late, self.certain = memory, late, certain

    def encode(self, x):
        points = nn.functional.one_hot(x, x.shape[1]).double()
        return points, torch.cat([points, torch.zeros_like(points[..., :1])], dim=2)

    def forward(self, z, h):
        points, count = h[..., :-1], h[..., -1:]
        is_root = z.diagonal(dim1=1, dim2=2)[..., None] > 0
        knows = is_root | (count > 0) if self.memory == "current" else is_root
        hears = points @ knows.double() > 0
        reached = points @ (points if self.memory == "current" else z)
        count = count + ((count > 0) | hears)
        halt = torch.where(count > self.late, 30.0, -30.0).squeeze(2)
        return self.certain * reached, torch.cat([reached, count], dim=2), halt


@given(seeds, st.integers(1, 12))
def test_a_chain_is_one_tree_with_a_node_at_every_depth_in_any_order(seed, n_nodes):
    x = forests.chains(5, n_nodes, torch.Generator().manual_seed(seed))
    assert x.shape == (5, n_nodes)
    assert (ForestTask.depths(x).sort(1).values == torch.arange(n_nodes)).all()
    assert torch.equal(x, forests.chains(5, n_nodes, torch.Generator().manual_seed(seed)))


@pytest.mark.parametrize("memory", ["current", "initial"])
def test_attention_by_step_is_the_softmax_of_queries_and_keys(memory):
    step = forests.make_step(memory, 7, 8, 2).double().eval()
    with torch.no_grad():
        step.step.attention.in_proj_weight.mul_(3)
        step.step.attention.in_proj_bias.normal_()
    x = some_forests(3, 7)
    found = forests.attention_by_step(step, x, 3)
    assert found.shape == (3, 6, 7, 7)
    (tokens, _), h = step.encode(x)
    W, b = step.step.attention.in_proj_weight, step.step.attention.in_proj_bias
    for n in range(3):
        read = h if memory == "current" else tokens
        q, k = h @ W[:8].T + b[:8], read @ W[8:16].T + b[8:16]
        by_hand = torch.zeros_like(found[n])
        for head in (slice(0, 4), slice(4, 8)):
            for i in range(7):
                logits = (q[:, i, None, head] * k[..., head]).sum(2) / 2
                by_hand[:, i] += logits.softmax(1) / 2
        torch.testing.assert_close(found[n], by_hand)
        asked, _ = step.step.attention(h, read, read)
        new = step.step.norm_attention(h + asked)
        h = step.step.norm_mlp(new + step.step.mlp(new))


@pytest.mark.parametrize("late", [0, 2])
@pytest.mark.parametrize("memory", ["current", "initial"])
def test_a_turned_arrow_is_felt_when_its_news_arrives(memory, late):
    """Pointers by hand: the answer changes when k + 1 arrows are known, or the halting, if that is sooner."""
    x = forests.chains(3, 12, torch.Generator().manual_seed(1))
    found = forests.first_sensitive_step(EncodedStep(nn.Identity(), Pointers(memory=memory, late=late)), x, 20)
    assert len(found) == 11  # for each k but the root's
    for k, n in enumerate(found):
        short = forests.chains(1, k + 1, torch.Generator().manual_seed(0))  # what is left below the turned arrow
        halts = int(ForestTask.needed_steps(short, memory).max()) + late
        points_beyond = next(step for step in range(1, 20) if (2**step if memory == "current" else step + 1) > k)
        assert n == min(halts, points_beyond), k


def test_what_changes_too_little_is_not_felt():
    x = forests.chains(3, 4, torch.Generator().manual_seed(1))
    assert forests.first_sensitive_step(EncodedStep(nn.Identity(), Pointers(certain=1e-3, late=100)), x, 15) == [16] * 3


def test_measure_counts_nodes_forests_and_steps_as_a_loop_does():
    """Answers and halting by chance."""
    generator = torch.Generator().manual_seed(0)
    x, N = some_forests(0, 5, 8), 4
    y_hat = 4 * torch.randn(N, 8, 5, 5, generator=generator)
    a = 2 * torch.randn(N, 8, 5, generator=generator)

    class Written(Step):
        step = Pointers()

        def encode(self, x):
            return x, torch.zeros(len(x), 1)

        def forward(self, z, h):
            n = int(h[0, 0])
            return y_hat[n], h + 1, a[n]

    found = forests.measure(PonderNet(Written(), N), x, N)
    y, needed = ForestTask.answers(x), ForestTask.needed_steps(x, "current")
    steps, right = torch.zeros(8, 5, dtype=torch.int64), torch.zeros(8, 5, dtype=torch.bool)
    for i in range(8):
        for node in range(5):
            n = next((n for n in range(N) if a[n, i, node] >= 0), N - 1)
            steps[i, node] = n + 1
            right[i, node] = y_hat[n, i, node].argmax() == y[i, node]
    assert found["nodes"] == pytest.approx(right.double().mean().item())
    assert found["forests"] == pytest.approx(right.all(1).double().mean().item())
    assert found["steps"] == pytest.approx(steps.double().mean().item())
    assert found["early"] == pytest.approx((steps < needed).double().mean().item())
    whole = [(y_hat[n].argmax(2) == y).all(1).double().mean().item() for n in range(N)]
    assert found["forests_by_step"] == pytest.approx(whole)
    depth = ForestTask.depths(x)
    assert list(found["by_depth"]) == sorted(set(depth.flatten().tolist()))
    for d, part in found["by_depth"].items():
        here = depth == d
        assert part["nodes"] == here.sum()
        assert part["right"] == pytest.approx(right[here].double().mean().item())
        assert part["steps"] == pytest.approx(steps[here].double().mean().item())
        assert part["early"] == pytest.approx((steps < needed)[here].double().mean().item())
        by_step = [(y_hat[n].argmax(2) == y)[here].double().mean().item() for n in range(N)]
        assert part["by_step"] == pytest.approx(by_step)
    together = torch.stack([steps.flatten(), needed.flatten()]).double()
    assert found["correlation"] == pytest.approx(torch.corrcoef(together)[0, 1].item())
    for q, (good, mean_steps, of_depth) in found["certainty"].items():
        sure = y_hat.softmax(3).amax(3) >= q
        stop = torch.full((8, 5), N)
        for i in range(8):
            for node in range(5):
                stop[i, node] = next((n + 1 for n in range(N) if sure[n, i, node]), N)
        answer = y_hat.argmax(3).gather(0, stop[None] - 1)[0]
        assert mean_steps == pytest.approx(stop.double().mean().item())
        assert good == pytest.approx((answer == y).double().mean().item())
        depth = ForestTask.depths(x)
        by_depth = [(answer == y)[depth == d].double().mean().item() for d in range(int(depth.max()) + 1)]
        assert of_depth == pytest.approx(by_depth)


def test_addresses_stand_at_right_angles_a_nodes_own_before_its_parents():
    x = some_forests(0, 6)
    own, parents = forests.Addresses(6, 16)(x).split(8, dim=2)
    torch.testing.assert_close(own[0] @ own[0].T, 8 * torch.eye(6), atol=1e-5, rtol=0)
    assert torch.equal(parents, own.gather(1, x[..., None].expand_as(own)))


def test_all_nodes_weigh_the_same_in_the_loss():
    output = PonderNet(forests.make_step("current", 5, 8).eval(), 3)(some_forests(0, 5, 4))
    y = ForestTask.answers(some_forests(0, 5, 4))
    loss = forests.PonderLoss(nn.CrossEntropyLoss(reduction="none"), 0.8, 0.03)
    by_loop = 0.0
    for node in range(20):
        one = output.at((torch.arange(20) == node).view(4, 5))
        by_loop += loss(one, y.flatten()[node, None]).total.item() / 20
    assert forests.of_asked(loss)(output, y).total.item() == pytest.approx(by_loop, rel=1e-5)


def test_after_training_the_smallest_numbers_count_again():
    forests.learn(0, "current", updates=1, n_nodes=8, size=16)
    smallest = torch.tensor(1e-39)  # below what float32 holds in full
    assert smallest * 0.5 > 0
