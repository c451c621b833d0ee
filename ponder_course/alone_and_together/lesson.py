"""The cells of notebooks/08_alone_and_together.ipynb that are tagged `source`: change them there, then `make sources`."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

import ponder_utils as pu
from ponder_course.alone_and_together.task import ForestTask


class Addresses(nn.Module):
    addresses: Tensor

    def __init__(self, n_nodes: int, size: int) -> None:
        super().__init__()
        at_right_angles = nn.init.orthogonal_(torch.empty(n_nodes, size // 2))
        self.register_buffer("addresses", at_right_angles * (size // 2) ** 0.5)  # not trained

    def forward(self, x: Tensor) -> Tensor:  # parents [batch, nodes] -> [batch, nodes, size]
        own = self.addresses.expand(len(x), -1, -1)
        return torch.cat([own, self.addresses[x]], dim=2)


class NodeStep(pu.Step):
    def __init__(
        self, size: int, n_outputs: int, memory: str = "current", n_heads: int = 1
    ) -> None:
        super().__init__()
        self.memory = memory  # "current": together; "initial": alone
        self.attention = nn.MultiheadAttention(size, n_heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(size, 2 * size), nn.ReLU(), nn.Linear(2 * size, size))
        self.norm_attention, self.norm_mlp = nn.LayerNorm(size), nn.LayerNorm(size)
        self.heads = pu.Heads(size, n_outputs)  # nn.Linear: an answer, and a halting logit

    def encode(self, start: Tensor) -> tuple[Tensor, Tensor]:  # [batch, nodes, size]
        return start, start  # what is kept for all steps, and the first state

    def layer(self, h: Tensor, others: Tensor) -> Tensor:
        heard, _ = self.attention(h, others, others, need_weights=False)
        new = self.norm_attention(h + heard)
        return self.norm_mlp(new + self.mlp(new))

    def move(self, start: Tensor, h: Tensor) -> Tensor:  # the next states
        return self.layer(h, h if self.memory == "current" else start)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        return self.heads(h)


def loss_of_nodes(output: pu.PonderOutput, y: Tensor) -> tuple[Tensor, ...]:  # [batch, nodes]
    of_each = pu.PonderLoss(nn.CrossEntropyLoss(reduction="none"), prior=0.8, beta=0.03)
    return of_each(output, y, y >= 0)  # all nodes are asked (y >= 0); their mean


def untrained(
    seed: int, memory: str, layer: type, n_nodes: int = 32, size: int = 64, N: int = 14
) -> pu.PonderNet:
    torch.manual_seed(seed)
    nodes = layer(size, n_nodes, memory)  # layer: NodeStep, or what we make of it in section 5
    # EncodedStep: the addresses are looked up once, before step 1
    return pu.PonderNet(pu.EncodedStep(Addresses(n_nodes, size), nodes), N)


def learn(
    model: pu.PonderNet, loss_fn: Callable, task: ForestTask, seed: int, updates: int, batch: int
) -> pu.PonderNet:
    pu.train(
        model,
        loss_fn,
        lambda generator: task.batch(batch, generator),
        updates,
        lr=3e-3,  # of Adam
        schedule=pu.cool_down(updates),  # half of them at this rate, then straight down to 0
        clip=1.0,  # the largest norm of a gradient
        seed=seed,
        progress=False,
    )
    return model.eval()


@torch.no_grad()
def halt(model: pu.PonderNet, x: Tensor, N: int, level: float = 0.5) -> tuple[Tensor, Tensor]:
    z, h = model.step.encode(x)  # parents [batch, nodes]
    roots, steps = torch.zeros_like(x), torch.zeros_like(x)  # 0 steps: has not halted
    for n in range(1, N + 1):
        y_hat, h, halt_logit = model.step(z, h)
        ready = (halt_logit.sigmoid() >= level) | (n == N)
        now = ready & (steps == 0)
        roots[now] = y_hat[now].argmax(-1)
        steps[now] = n
    return roots, steps


class SleepyStep(NodeStep):
    rate = 0.25  # how often a node sleeps through a step, in training only

    def move(self, start: Tensor, h: Tensor) -> Tensor:
        new = super().move(start, h)
        asleep = torch.rand_like(new[..., :1]) < self.rate
        return torch.where(asleep, h, new) if self.training else new  # who sleeps keeps h
