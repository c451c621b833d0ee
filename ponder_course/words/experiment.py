"""What is measured of walkers, and one that reads all its words.

A word that is written and read again is a chain of thought (Wei et al. 2022, arXiv:2201.11903); to carry the state is
the way of Coconut (Hao et al. 2024, arXiv:2412.06769).
"""

import torch
from torch import Tensor

from ponder_course.alone_and_together.experiment import chains
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.measures import by_group, mean
from ponder_course.common.store import Row
from ponder_course.words.lesson import Walker, token, walk


class Rereader(Walker):
    """A walker that reads what it has carried before, too, as a language model does."""

    def forward(self, inputs: tuple[Tensor, Tensor], N: int | None = None) -> Tensor:
        """Return the logits of the next word at each of N steps: [batch, N, n_nodes + 1]; inputs as for a `Walker`."""
        x, words = inputs
        read, thought, logits = self.names(x), token(self.names.addresses[words[:, 0]]), []
        for n in range(1, (N or words.shape[1]) + 1):
            read = torch.cat([read, thought], dim=1)
            state = self.step.layer(thought, read)
            logits.append(self.step.read(state)[0][:, 0])
            thought = self.carry(state, logits[-1], words[:, n] if n < words.shape[1] else None)
        return torch.stack(logits, dim=1)


def texts_of_all_depths(n_nodes: int, n_texts: int = 40) -> Tensor:
    """Return so many forests and so many chains, so that there are nodes of every depth: parents [texts, n_nodes]."""
    generator = torch.Generator().manual_seed(100)
    forests, _ = ForestTask(n_nodes).batch(n_texts, generator)
    return torch.cat([forests, chains(n_texts, n_nodes, generator)])


def measure(walker: Walker, x: Tensor, N: int) -> Row:
    """Return how many words a walker writes, and how often it is right, if each node of texts x is asked.

    "by_depth": {depth: nodes, the fraction "right", whose last word is their root, that "on_time", with as many words
    as arrows, and mean "words"}. "right": of all nodes.
    """
    last, n_words = walk(walker, x, N)
    depth, right = ForestTask.depths(x), last == ForestTask.answers(x)
    return {
        "right": mean(right),
        "by_depth": by_group(depth, "nodes", right=right, on_time=n_words == depth, words=n_words),
    }
