"""Chains of thought that dither, trees that are all one chain, and the prices at which chains should break off."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ponder_course.alone_and_together.experiment import chains
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.words.task import NO_WORD
from ponder_utils._check import check_int


@dataclass(frozen=True)
class DitheringTask:
    """Which nodes stand above this one, by a teacher who dithers? Texts, words and STOP are those of `ChainTask`.

    Before each word of the chain, and before STOP, the teacher writes the name that stands last again, with probability
    one half, and then once more, and so on. So it writes 2 d + 1 words on average where d are needed. n_words: how many
    are shown of a chain at most. TypeError or ValueError unless n_nodes >= 1 and n_words >= 1.
    """

    n_nodes: int
    n_words: int

    def __post_init__(self) -> None:
        check_int("n_nodes", self.n_nodes, 1)
        check_int("n_words", self.n_words, 1)

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Draw (x, words) and y: parents [batch_size, n_nodes]; the node that is asked and the words after it, and what
        the teacher writes after each, NO_WORD behind STOP: int64 [batch_size, n_words] each.
        """
        x, _ = ForestTask(self.n_nodes).batch(batch_size, generator)
        word = torch.randint(self.n_nodes, (batch_size,), generator=generator, device=x.device)
        going = torch.ones_like(word, dtype=torch.bool)
        words, y = [], []
        for _ in range(self.n_words):
            above = x.gather(1, word[:, None])[:, 0]
            right = above.masked_fill(above == word, self.n_nodes)  # of a root: STOP
            again = torch.rand(batch_size, generator=generator, device=x.device) < 0.5
            next_word = torch.where(again, word, right)
            words.append(word)
            y.append(next_word.masked_fill(~going, NO_WORD))
            going = going & (next_word < self.n_nodes)
            word = torch.where(going, next_word, word)
        return (x, torch.stack(words, dim=1)), torch.stack(y, dim=1)


class OneChainTask(ForestTask):
    """As `ForestTask`, but each text is one chain of all of its nodes."""

    def batch(self, batch_size: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw x, the parent of each node, and y, the root of its tree: int64 [batch_size, n_nodes] each."""
        x = chains(batch_size, self.n_nodes, generator)
        return x, self.answers(x)


def cliff(depth: Tensor) -> float:
    """Return the price from which on whoever writes exact chains gains by writing fewer words.

    depth: of each node that may be asked, each as likely. With r arrows to go, going on is worth 1 - tau r, and to stop
    nothing; a writer who cannot see r has the mean over all nodes that its chains visit, which is 0 at this price.
    """
    return (depth.sum() / (depth * (depth + 1) / 2).sum()).item()


def way_back(depth: Tensor) -> float:
    """Return the price below which whoever is silent gains by a first word: the fraction of all nodes that are no root
    whose parent is one, since for a silent writer the second word is STOP.
    """
    return ((depth == 1).sum() / (depth >= 1).sum()).item()
