"""What a problem sheet of lesson 08 asks to be written, and is run."""

from typing import Any

import torch
from torch import Tensor

from ponder_course.alone_and_together import lesson
from ponder_course.alone_and_together.lesson import Addresses, NodeStep, loss_of_nodes
from ponder_course.alone_and_together.task import ForestTask
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import EncodedStep

NODES, DEPTH, SIZE = 8, 3, 32


@torch.no_grad()
def check_attention(look_up: Any) -> None:
    """What a node hears is a mean of values, whose weights sum to 1 and depend on its own query."""
    h, others = torch.randn(2, 3, NODES, SIZE)
    heard = look_up(h, others)
    assert heard.shape == h.shape, f"it should return {[*h.shape]}, not {[*heard.shape]}"
    order = torch.randperm(NODES)
    same = torch.allclose(look_up(h, others[:, order]), heard, atol=1e-5)
    assert same, "the order in which the others stand must not matter"
    fewer = torch.allclose(look_up(h[:, :2], others), heard[:, :2], atol=1e-5)
    assert fewer, "what a node hears changes with who else asks: take the softmax over the others"
    alike = others[:, :1].expand_as(others)
    one = torch.allclose(look_up(h, alike), look_up(h, alike[:, :1]), atol=1e-5)
    assert one, "eight others in one state should be heard as one of them is: do the weights sum to 1?"
    assert not torch.allclose(heard[:, 0], heard[:, 1]), "all nodes hear the same: who asks must matter"


def check_look_up(kind: Any) -> str:
    """Nodes that think together find their roots by a look-up of this kind."""
    torch.manual_seed(0)
    check_attention(kind(SIZE))

    class Step(NodeStep):
        def __init__(self) -> None:
            super().__init__(SIZE, NODES)
            self.attention = kind(SIZE)

        def layer(self, h: Tensor, others: Tensor) -> Tensor:
            new = self.norm_attention(h + self.attention(h, others))
            return self.norm_mlp(new + self.mlp(new))

    task = ForestTask(NODES, DEPTH)
    model = PonderNet(EncodedStep(Addresses(NODES, SIZE), Step()), 6)
    lesson.learn(model, loss_of_nodes, task, 0, 200, 16)
    x, y = task.batch(200, torch.Generator().manual_seed(1))
    output = model.predict(x, "threshold", q=0.5)
    right = (output.y_hat.argmax(-1) == y).float().mean().item()
    learnt = f"{right:.1%} of nodes name their root, after {output.steps.float().mean():.1f} steps on average"
    assert right > 0.95, f"nodes do not learn to find their roots: {learnt}"
    return f"Trained with your look-up, {learnt}."
