"""Networks that walk up a tree: from step to step they carry a word, the mean of all words, or their whole state.

At each step a layer reads a text of lesson 08, a token for each node, and says the next word: a name, or STOP. A word
that is written and read again is a chain of thought (Wei et al. 2022, arXiv:2201.11903); to carry the state is the way
of Coconut (Hao et al. 2024, arXiv:2412.06769); the mean of all words by their probabilities is that of Soft Thinking
(Zhang et al. 2025, arXiv:2505.15778), which takes it after training. All three are trained alike here, on the right
word at each step.
"""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from ponder_course.alone_and_together.experiment import Addresses, chains
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.attention import TransformerStep
from ponder_course.common.measures import at_step, by_group, mean
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_course.words.task import NO_WORD, ChainTask
from ponder_utils._check import check_choice

CARRIED = ("word", "mean", "state")
N_NODES, SIZE = 32, 64


class Walker(nn.Module):
    """One layer of a transformer that walks up a tree.

    carried: "word", "mean" or "state", from each step to the next; ValueError for another. rereads: it reads what it
    has carried before, too, as a language model does.
    """

    def __init__(self, carried: str, n_nodes: int = N_NODES, size: int = SIZE, rereads: bool = False) -> None:
        super().__init__()
        self.carried = check_choice("carried", carried, CARRIED)
        self.rereads = rereads
        self.n_nodes = n_nodes
        self.names = Addresses(n_nodes, size)
        self.step = TransformerStep(size, n_nodes + 1)

    def token(self, address: Tensor) -> Tensor:
        """Return the token of a word, its name and no parent's: [batch, size // 2] -> [batch, 1, size]."""
        return torch.cat([address, torch.zeros_like(address)], dim=1)[:, None]

    def forward(self, inputs: tuple[Tensor, Tensor], N: int | None = None) -> Tensor:
        """Return the logits of the next word at each of N steps: [batch, N, n_nodes + 1].

        inputs: parents x [batch, n_nodes], and words [batch, n_words], the node that is asked first. As long as the
        right words are given, a network that carries words reads them, and then its own. N: as many as words, if None.
        """
        x, words = inputs
        n_given = words.shape[1]
        read, logits = self.names(x), []
        thought = self.token(self.names.addresses[words[:, 0]])
        for n in range(1, (n_given if N is None else N) + 1):
            if self.rereads:
                read = torch.cat([read, thought], dim=1)
            state = self.step.layer(thought, read, None)
            next_word = self.step.heads(state)[0][:, 0]
            logits.append(next_word)
            if self.carried == "state":
                thought = state
            else:
                thought = self.token(self.address(next_word[:, :-1], words[:, n] if n < n_given else None))
        return torch.stack(logits, dim=1)

    def address(self, name_logits: Tensor, right: Tensor | None) -> Tensor:
        """Return what is carried of the names' logits [batch, n_nodes], or of the right names [batch]."""
        if self.carried == "mean":
            return name_logits.softmax(1) @ self.names.addresses
        name = name_logits.argmax(1) if right is None else right
        return self.names.addresses[name]


def loss_of_words(logits: Tensor, y: Tensor) -> Tensor:
    """Return the mean cross-entropy of the next words up to STOP: logits [batch, N, n_nodes + 1], y [batch, N]."""
    return cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=NO_WORD)


def learn(
    carried: str,
    max_depth: int,
    seed: int,
    n_nodes: int = N_NODES,
    size: int = SIZE,
    updates: int = 1000,
    batch: int = 128,
    lr: float = 3e-3,
    rereads: bool = False,
) -> Walker:
    """Train a walker on texts whose trees are at most so deep."""
    torch.manual_seed(seed)
    walker = Walker(carried, n_nodes, size, rereads)
    draw = partial(ChainTask(n_nodes, max_depth).batch, batch)
    return fit(walker, loss_of_words, draw, updates, lr=lr, seed=seed)[0]


def texts_of_all_depths(n_nodes: int, n_texts: int = 40) -> Tensor:
    """Return so many forests and so many chains, so that there are nodes of every depth: parents [texts, n_nodes]."""
    generator = torch.Generator().manual_seed(100)
    forests, _ = ForestTask(n_nodes).batch(n_texts, generator)
    return torch.cat([forests, chains(n_texts, n_nodes, generator)])


def walk(walker: Walker, x: Tensor, N: int) -> tuple[Tensor, Tensor]:
    """Return the words that a walker writes if each node of each text is asked: their names [N, texts, nodes], and how
    many it writes before the first STOP, [texts, nodes], or N.

    x: parents [texts, nodes]. STOP and what follows have a name, too, which counts for nothing.
    """
    n_texts, n_nodes = x.shape
    asked = torch.arange(n_nodes).repeat(n_texts)[:, None]
    with torch.no_grad():
        logits = walker.eval()((x.repeat_interleave(n_nodes, 0), asked), N)
    stops = (logits.argmax(2) == n_nodes).view(n_texts, n_nodes, N)
    n_words = torch.where(stops.any(2), stops.int().argmax(2), N)
    return logits[..., :-1].argmax(2).view(n_texts, n_nodes, N).movedim(2, 0), n_words


def measure(walker: Walker, x: Tensor, N: int) -> Row:
    """Return how many words a walker writes, and how often it is right, if each node of texts x is asked.

    "by_depth": {depth: nodes, the fraction "right", whose last word is their root, that "on_time", with as many words
    as arrows, and mean "words"}. "right": of all nodes.
    """
    words, n_words = walk(walker, x, N)
    depth = ForestTask.depths(x)
    asked = torch.arange(x.shape[1]).expand_as(x)
    last = at_step(torch.cat([asked[None], words]), n_words + 1)
    right = last == ForestTask.answers(x)
    return {
        "right": mean(right),
        "by_depth": by_group(depth, "nodes", right=right, on_time=n_words == depth, words=n_words),
    }
