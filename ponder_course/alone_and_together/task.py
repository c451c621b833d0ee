"""Forests in which every node points at its parent, and is asked for its root."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ponder_utils._check import check_choice, check_generator, check_int


def grow(is_root: Tensor, in_chain: Tensor, any_earlier: Tensor, max_depth: int | None = None) -> Tensor:
    """Return the parent of each node, of a root the node itself: int64 [batch, nodes], each an earlier node or itself.

    A forest grows node by node. A new node becomes a root if is_root. Else its parent is the node before it if
    in_chain, and otherwise the one at the fraction any_earlier, in [0, 1), of all nodes before it. The first node is
    always a root, and so is a node that would be deeper than max_depth (None: no limit). All are [batch, nodes].
    """
    batch_size, n_nodes = is_root.shape
    deepest = n_nodes if max_depth is None else max_depth
    nodes = torch.arange(n_nodes, device=is_root.device)
    chosen = torch.where(in_chain, nodes - 1, (any_earlier * nodes).long())
    parents = nodes.repeat(batch_size, 1)
    depth = torch.zeros_like(parents)
    for i in range(1, n_nodes):
        parent = chosen[:, i]
        deeper = depth.gather(1, parent[:, None])[:, 0] + 1
        has_parent = ~is_root[:, i] & (deeper <= deepest)
        parents[:, i] = torch.where(has_parent, parent, i)
        depth[:, i] = deeper * has_parent
    return parents


@dataclass(frozen=True)
class ForestTask:
    """Which node stands at the top of my tree? Nodes are numbered in a random order; a root points at itself.

    Forests are drawn as in `grow`, from rates that each forest has for itself: n_nodes^-u of the nodes are roots, with
    u ~ U(1/2, 1), and of the others the fraction sqrt(U(0, 1)) points at the node before, so that chains are common.
    TypeError or ValueError unless n_nodes >= 1 and max_depth >= 0.
    """

    n_nodes: int
    max_depth: int | None = None

    def __post_init__(self) -> None:
        check_int("n_nodes", self.n_nodes, 1)
        if self.max_depth is not None:
            check_int("max_depth", self.max_depth, 0)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x, the parent of each node, and y, the root of its tree: int64 [batch_size, n_nodes] each."""
        device = check_generator(generator)
        shape = (check_int("batch_size", batch_size, 1), self.n_nodes)
        u, v = torch.rand(2, batch_size, 1, generator=generator, device=device)
        root_rate = self.n_nodes ** -(0.5 + u / 2)
        chain_rate = v.sqrt()
        for_root, for_chain, any_earlier = torch.rand(3, *shape, generator=generator, device=device)
        parents = grow(for_root < root_rate, for_chain < chain_rate, any_earlier, self.max_depth)
        number = torch.rand(shape, generator=generator, device=device).argsort(1)  # of each node
        x = torch.empty_like(parents)
        x.scatter_(1, number, number.gather(1, parents))  # x[number[i]] = number[parents[i]]
        return x, self.answers(x)

    @staticmethod
    def answers(x: Tensor) -> Tensor:
        """Return the root of each node, for parents x [batch, nodes]: int64, of the same shape."""
        for _ in range(x.shape[1].bit_length()):
            x = x.gather(1, x)  # points twice as far up: pointer doubling (Wyllie 1979)
        return x

    @staticmethod
    def depths(x: Tensor) -> Tensor:
        """Return how many arrows lead from each node to its root, for parents x [batch, nodes]: int64, same shape."""
        depth = (x != torch.arange(x.shape[1], device=x.device)).long()
        for _ in range(x.shape[1].bit_length()):
            depth = depth + depth.gather(1, x)
            x = x.gather(1, x)
        return depth

    @classmethod
    def needed_steps(cls, x: Tensor, memory: str = "current") -> Tensor:
        """Return the step before which a node cannot know that it has found its root: int64, in the shape of x.

        A node must hear that its root points at itself. It knows its parent before step 1, and at every step reads one
        other node, whose name it knows. If that node shows what it knew at the start, news comes one arrow a step:
        depth steps. If it shows what it knows now, a node that knows of 2^(n-1) - 1 nodes above it before step n
        knows of 2^n - 1 after it: ceil(log2(depth + 1)) steps. Every node needs at least one step, a root too.
        """
        depth = cls.depths(x)
        if check_choice("memory", memory, ("initial", "current")) == "initial":
            return depth.clamp(min=1)
        exact = (depth + 1).cpu().double().log2()  # not every device has float64
        return exact.ceil().long().clamp(min=1).to(depth.device)
