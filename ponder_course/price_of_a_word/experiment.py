"""Writers before and after their training, and what is measured of them."""

import torch
from torch import Tensor

from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.measures import by_group, mean
from ponder_course.common.store import Row
from ponder_course.price_of_a_word.lesson import Writer, write
from ponder_course.price_of_a_word.task import DitheringTask, OneChainTask
from ponder_course.words import lesson as words
from ponder_course.words.experiment import texts_of_all_depths

N_NODES, N_WORDS, LOW = 16, 24, 0.02  # words that are shown of a chain; a price far from any cliff
TREES = {
    "forests": ForestTask(N_NODES),
    "shallow": ForestTask(N_NODES, 3),
    "chains": OneChainTask(N_NODES),
}


def untrained(seed: int) -> Writer:
    """Return a network before its training."""
    torch.manual_seed(seed)
    return Writer("word", N_NODES)


def shown(seed: int, updates: int) -> Writer:
    """Return a network that a teacher who dithers has shown chains of thought, by lesson 12's training."""
    writer = untrained(seed)
    words.learn(writer, DitheringTask(N_NODES, N_WORDS), seed, updates)  # type: ignore[arg-type]  # it has a batch, too
    return writer


def texts_of(trees: str, n_texts: int) -> Tensor:
    """Return texts to measure on, parents [texts, nodes]; of forests there are as many single chains besides."""
    if trees == "forests":
        return texts_of_all_depths(N_NODES, n_texts)
    return TREES[trees].batch(n_texts, torch.Generator().manual_seed(100))[0]


@torch.no_grad()
def measure(writer: Writer, x: Tensor) -> Row:
    """Return how right writers are, and in how many words, if each node of texts x is asked once, and words are drawn.

    Of nodes that are no root: the fraction "right", whose last name before STOP is their root, and mean "words".
    "by_depth": {depth: nodes, "right", "words", and the fraction "on_time", with as many words as arrows}.
    """
    n_nodes, generator = x.shape[1], torch.Generator().manual_seed(100)
    asked = torch.arange(n_nodes).repeat(len(x))
    log_probs = writer.eval().next_words(x).repeat_interleave(n_nodes, 0)
    last, n_words, stopped, _ = (drawn[:, 0] for drawn in write(log_probs, asked, 1, generator))
    depth = ForestTask.depths(x).flatten()
    right = (last == ForestTask.answers(x).flatten()) & stopped
    far = depth > 0
    return {
        "right": mean(right[far]),
        "words": mean(n_words[far]),
        "by_depth": by_group(depth, "nodes", right=right, words=n_words, on_time=n_words == depth),
    }
