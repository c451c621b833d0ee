"""What is measured of networks on forests is what they do: what they feel, and how right they are."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from ponder_course.alone_and_together import experiment as forests
from ponder_course.alone_and_together import lesson
from ponder_course.alone_and_together.task import ForestTask
from ponder_utils.losses import PonderLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import EncodedStep, Step


class Climb(Step):
    """After n steps each node names who stands n arrows above it; it never halts."""

    def encode(self, x):
        return nn.functional.one_hot(x, x.shape[1]).double(), torch.eye(x.shape[1]).double().expand(len(x), -1, -1)

    def forward(self, z, h):
        h = z @ h
        return 9 * h, h, torch.full(h.shape[:2], -30.0)


def test_a_turned_arrow_is_felt_when_its_news_arrives():
    x = forests.chains(3, 12, torch.Generator().manual_seed(1))
    step = EncodedStep(nn.Identity(), Climb())
    assert forests.first_sensitive_step(step, x, 20) == [*range(1, 12)]  # for each k but the root's
    assert forests.first_sensitive_step(step, x, 7) == [*range(1, 8), 8, 8, 8, 8]  # not felt


def test_measure_counts_nodes_forests_and_steps_as_a_loop_does():
    """Answers and halting by chance."""
    generator = torch.Generator().manual_seed(0)
    x, N = ForestTask(5).batch(8, generator)[0], 4
    y_hat = 4 * torch.randn(N, 8, 5, 5, generator=generator)
    a = 2 * torch.randn(N, 8, 5, generator=generator)

    class Written(Step):
        step = SimpleNamespace(memory="current")

        def encode(self, x):
            return x, torch.zeros(len(x), 1)

        def forward(self, z, h):
            n = int(h[0, 0])
            return y_hat[n], h + 1, a[n]

    model = PonderNet(Written(), N)
    found = forests.measure(model, x, N)
    y, needed, depth = ForestTask.answers(x), ForestTask.needed_steps(x), ForestTask.depths(x)
    steps, sure = torch.full((8, 5), N), torch.full((8, 5), N)  # until it halts, and until it is certain by 0.9
    right, right_if_sure = torch.zeros(8, 5).double(), torch.zeros(8, 5).double()
    for i in range(8):
        for node in range(5):
            halts = [n for n in range(1, N) if a[n - 1, i, node] >= 0]
            is_sure = [n for n in range(1, N) if y_hat[n - 1, i, node].softmax(0).max() >= 0.9]
            steps[i, node], sure[i, node] = min([*halts, N]), min([*is_sure, N])
            right[i, node] = y_hat[steps[i, node] - 1, i, node].argmax() == y[i, node]
            right_if_sure[i, node] = y_hat[sure[i, node] - 1, i, node].argmax() == y[i, node]
    roots, halted = lesson.halt(model, x, N)
    assert torch.equal(halted, steps)
    assert torch.equal(roots == y, right == 1)
    early = (steps < needed).double()
    assert found["nodes"] == pytest.approx(right.mean().item())
    assert found["forests"] == pytest.approx(right.all(1).double().mean().item())
    assert found["steps"] == pytest.approx(steps.double().mean().item())
    assert found["early"] == pytest.approx(early.mean().item())
    whole = [(y_hat[n].argmax(2) == y).all(1).double().mean().item() for n in range(N)]
    assert found["forests_by_step"] == pytest.approx(whole)
    assert found["certainty"][0.9][:2] == pytest.approx([right_if_sure.mean().item(), sure.double().mean().item()])
    assert list(found["by_depth"]) == sorted(set(depth.flatten().tolist()))
    for d, part in found["by_depth"].items():
        here = depth == d
        assert part["nodes"] == here.sum()
        for name, values in (("right", right), ("steps", steps.double()), ("early", early)):
            assert part[name] == pytest.approx(values[here].mean().item())


def test_all_nodes_weigh_the_same_in_the_loss():
    x, y = ForestTask(5).batch(4)
    output = lesson.untrained(0, "current", lesson.NodeStep, 5, 8, N=3)(x)
    loss = PonderLoss(nn.CrossEntropyLoss(reduction="none"), 0.8, 0.03)
    by_loop = 0.0
    for node in range(20):
        one = output.at((torch.arange(20) == node).view(4, 5))
        by_loop += loss(one, y.flatten()[node, None]).total.item() / 20
    assert lesson.loss_of_nodes(output, y).total.item() == pytest.approx(by_loop, rel=1e-5)
