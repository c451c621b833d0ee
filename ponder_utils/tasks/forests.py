"""Forests in which every node points at its parent, and is asked for its root."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ponder_utils._check import check_choice, check_generator, check_int


def grow(is_root: Tensor, in_chain: Tensor, any_earlier: Tensor, max_depth: int | None = None) -> Tensor:
    """Return whom each node points at, a root at itself: int64 [batch, nodes], each an earlier node or itself.

    A forest grows node by node. A new one is a root, or points at the node before it if it is in_chain, else at the
    fraction any_earlier, in [0, 1), of those before it. Who would stand deeper than max_depth (None: no limit) is a
    root instead, and the first node is one. All tensors are [batch, nodes].
    """
    batch_size, n_nodes = is_root.shape
    deepest = n_nodes if max_depth is None else max_depth
    before = torch.arange(n_nodes, device=is_root.device)  # how many nodes are earlier
    chosen = torch.where(in_chain, before - 1, (any_earlier * before).long())
    parents = before.repeat(batch_size, 1)  # as they grow: each at itself, so far
    depth = torch.zeros_like(parents)
    for i in range(1, n_nodes):
        parent = chosen[:, i : i + 1]
        deeper = depth.gather(1, parent) + 1
        has_parent = ~is_root[:, i : i + 1] & (deeper <= deepest)
        parents[:, i : i + 1] = torch.where(has_parent, parent, i)
        depth[:, i : i + 1] = deeper * has_parent
    return parents


@dataclass(frozen=True)
class ForestTask:
    """Which node stands at the top of my tree? Nodes are numbered in a random order; a root points at itself.

    They are drawn as in `grow`, from rates that each forest has for itself: n_nodes^-u are roots, u ~ U(1/2, 1), and of
    the others sqrt(U(0, 1)) point at the node before, so that chains are common; the rest point at any earlier one.
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
        u, chains = torch.rand(2, batch_size, 1, generator=generator, device=device)
        drawn_root, drawn_chain, any_earlier = torch.rand(3, *shape, generator=generator, device=device)
        is_root = drawn_root < self.n_nodes ** -(0.5 + u / 2)
        parents = grow(is_root, drawn_chain < chains.sqrt(), any_earlier, self.max_depth)
        number = torch.rand(shape, generator=generator, device=device).argsort(1)  # of each node
        x = torch.empty_like(parents).scatter_(1, number, number.gather(1, parents))
        return x, self.answers(x)

    @staticmethod
    def answers(x: Tensor) -> Tensor:
        """Return the root of each node, for parents x [batch, nodes]: int64, of the same shape."""
        for _ in range(x.shape[1].bit_length()):
            x = x.gather(1, x)  # everyone points twice as far up: pointer doubling (Wyllie 1979)
        return x

    @staticmethod
    def depths(x: Tensor) -> Tensor:
        """Return how many arrows lead from each node to its root, for parents x [batch, nodes]: int64, same shape."""
        here = torch.arange(x.shape[1], device=x.device).expand_as(x)
        depth = torch.zeros_like(x)
        for _ in range(x.shape[1]):
            above = x.gather(1, here)
            depth += above != here
            here = above
        return depth

    @classmethod
    def needed_steps(cls, x: Tensor, reads: str = "now") -> Tensor:
        """Return the step before which a node cannot know that it has found its root: int64, in the shape of x.

        It must have heard that its root points at itself. A node knows its parent before step 1, and at every step
        reads one other, whose name it knows. If that one shows what it knew at the "start", news comes one arrow a
        step: depth steps. If it shows what it knows "now", who knows of the 2^(n-1) - 1 nodes above it before step n
        knows of 2^n - 1 after it: ceil(log2(depth + 1)) steps. A root needs one step, as all do at least.
        """
        depth = cls.depths(x)
        if check_choice("reads", reads, ("start", "now")) == "start":
            return depth.clamp(min=1)
        exact = (depth + 1).cpu().double().log2()  # not every device has float64
        return exact.ceil().long().clamp(min=1).to(depth.device)
