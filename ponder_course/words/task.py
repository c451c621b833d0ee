"""Trees as texts: a node is asked for its ancestors, word by word."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ponder_course.alone_and_together.task import ForestTask
from ponder_utils._check import check_int

NO_WORD = -1  # the target behind STOP


@dataclass(frozen=True)
class ChainTask:
    """Which nodes stand above this one? A text is a forest of `ForestTask`, and one of its nodes is asked.

    A word is a node's name, 0 to n_nodes - 1, or STOP, which is n_nodes. The right words are the node's ancestors, the
    parent first and the root last, and then STOP; of a root it is STOP at once. TypeError or ValueError unless
    n_nodes >= 1 and max_depth >= 0.
    """

    n_nodes: int
    max_depth: int

    def __post_init__(self) -> None:
        check_int("n_nodes", self.n_nodes, 1)
        check_int("max_depth", self.max_depth, 0)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Draw (x, chain) and y: the parent of each node [batch_size, n_nodes], and of one node what `chain_above` has,
        with max_depth + 1 words: [batch_size, max_depth + 1] each, int64.
        """
        x, _ = ForestTask(self.n_nodes, self.max_depth).batch(batch_size, generator)
        asked = torch.randint(self.n_nodes, (batch_size,), generator=generator, device=x.device)
        chain, y = chain_above(x, asked, self.max_depth + 1)
        return (x, chain), y


def chain_above(x: Tensor, asked: Tensor, n_words: int) -> tuple[Tensor, Tensor]:
    """Return the node that is asked and its ancestors, and the right word after each: int64 [batch, n_words] each.

    x: parents [batch, n_nodes]; asked [batch]. Where the chain is shorter its root follows again and again, and the
    right words behind STOP are NO_WORD.
    """
    chain = [asked]
    for _ in range(n_words):
        chain.append(x.gather(1, chain[-1][:, None])[:, 0])
    words = torch.stack(chain, dim=1)  # [batch, n_words + 1]
    stops = words[:, 1:] == words[:, :-1]
    y = words[:, 1:].masked_fill(stops, x.shape[1])
    behind = stops.cumsum(1) > 1
    return words[:, :-1], y.masked_fill(behind, NO_WORD)
