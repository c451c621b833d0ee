"""Lesson 08's layer with room: empty tokens, "dots", that all nodes may use, and votes over its answers.

Tokens without a word are those of Goyal et al. 2023 (arXiv:2310.02226); a vote over answers is self-consistency (Wang
et al. 2022, arXiv:2203.11171).
"""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ponder_course.alone_and_together.lesson import Addresses, NodeStep
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.measures import by_group, mean
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_utils._check import check_int

N_NODES, N_CHAINS, SIZE = 32, 4, 64
VOTES = (1, 9, 65)


class Dotted(nn.Module):
    """A layer that all nodes and dots go through together, n_passes times; then each node answers with its root."""

    def __init__(self, n_dots: int, n_passes: int, n_nodes: int = N_NODES, size: int = SIZE) -> None:
        super().__init__()
        self.n_passes = check_int("n_passes", n_passes, 1)
        self.names = Addresses(n_nodes, size)
        self.dots = nn.Parameter(torch.randn(check_int("n_dots", n_dots, 0), size))
        self.step = NodeStep(size, n_nodes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of each node's root: parents [batch, n_nodes] -> [batch, n_nodes, n_nodes]."""
        h = torch.cat([self.names(x), self.dots.expand(len(x), -1, -1)], dim=1)
        for _ in range(self.n_passes):
            h = self.step.layer(h, h)
        return self.step.read(h[:, : x.shape[1]])[0]


def equal_chains(n_texts: int, n_nodes: int, n_chains: int, generator: torch.Generator | None = None) -> Tensor:
    """Draw forests that are n_chains chains of one length: parents, int64 [n_texts, n_nodes].

    ValueError unless n_chains divides n_nodes.
    """
    if n_nodes % check_int("n_chains", n_chains, 1):
        raise ValueError(f"n_chains must divide n_nodes = {n_nodes}; got {n_chains}")
    upwards = torch.rand(n_texts, n_nodes, generator=generator).argsort(1).view(n_texts, n_chains, -1)  # roots first
    above = torch.cat([upwards[..., :1], upwards[..., :-1]], dim=2)
    return torch.empty(n_texts, n_nodes, dtype=torch.int64).scatter_(1, upwards.flatten(1), above.flatten(1))


def draw(n_texts: int, n_nodes: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw texts of four equal chains: parents and roots, [n_texts, n_nodes] each."""
    x = equal_chains(n_texts, n_nodes, N_CHAINS, generator)
    return x, ForestTask.answers(x)


def learn(
    n_dots: int,
    n_passes: int,
    seed: int,
    n_nodes: int = N_NODES,
    size: int = SIZE,
    updates: int = 1500,
    batch: int = 16,
    lr: float = 3e-3,
) -> Dotted:
    """Train a network on four equal chains, by the cross-entropy of all nodes' answers."""
    torch.manual_seed(seed)
    model = Dotted(n_dots, n_passes, n_nodes, size)

    def loss(logits: Tensor, y: Tensor) -> Tensor:
        return cross_entropy(logits.flatten(0, 1), y.flatten())

    return fit(model, loss, partial(draw, batch, n_nodes), updates, lr=lr, seed=seed)[0]


def majority(probs: Tensor, n_votes: int, generator: torch.Generator) -> Tensor:
    """Return the most frequent of n_votes answers that are drawn from probs [n, answers]: [n]; a tie goes to chance."""
    votes = torch.multinomial(probs, n_votes, replacement=True, generator=generator)
    counts = torch.zeros_like(probs).scatter_add_(1, votes, torch.ones_like(votes, dtype=probs.dtype))
    return (counts + torch.rand(counts.shape, generator=generator) / 2).argmax(1)


@torch.no_grad()
def measure(model: Dotted, n_texts: int = 200) -> Row:
    """Return how often a network is right on fresh texts of four equal chains.

    "by_depth": {depth: nodes, the fraction "right", and right by the majority of so many "votes": {votes: fraction}}.
    """
    generator = torch.Generator().manual_seed(101)
    n_nodes = model.names.addresses.shape[0]
    x, y = draw(n_texts, n_nodes, generator)
    probs = model.eval()(x).softmax(2)
    depth = ForestTask.depths(x)
    by_depth = by_group(depth, "nodes", right=probs.argmax(2) == y)
    for n_votes in VOTES:
        chosen = majority(probs.flatten(0, 1), n_votes, generator).view_as(y)
        for d, row in by_depth.items():
            row.setdefault("votes", {})[n_votes] = mean((chosen == y)[depth == d])
    return {"by_depth": by_depth}
