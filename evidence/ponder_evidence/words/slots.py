"""A control of lesson 12: what is carried looks like a word, but may say anything."""

import torch
from torch import Tensor, nn

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.words.experiment import measure, texts_of_all_depths
from ponder_course.words.lesson import Walker, learn, token
from ponder_course.words.task import ChainTask
from ponder_evidence.runs import grid
from ponder_evidence.words.experiment import N_NODES, SIZE


class SlotWalker(Walker):
    """A walker whose thought has the form of a word's token: in place of an address, a linear map of the logits."""

    def __init__(self, n_nodes: int, size: int) -> None:
        super().__init__("slot", n_nodes, size)
        self.back = nn.Linear(n_nodes, size // 2)

    def carry(self, state: Tensor, next_word: Tensor, right: Tensor | None) -> Tensor:
        """Return the next thought, [batch, 1, size]."""
        return token(self.back(next_word[:, :-1]))


def run(max_depth: int, seed: int, n_nodes: int = N_NODES, size: int = SIZE, updates: int = 1000) -> Row:
    """Train such a walker as `learn` trains the others, and `measure` it."""
    torch.manual_seed(seed)
    walker = learn(SlotWalker(n_nodes, size), ChainTask(n_nodes, max_depth), seed, updates)
    return rounded(measure(walker, texts_of_all_depths(n_nodes), n_nodes + 8))


KINDS: list[Row] = [{"max_depth": depth} for depth in (2, 1, 4)]
SHORT: Row = {"updates": 5, "n_nodes": 8, "size": 16}
EXPERIMENTS = {"slots": grid("12_words_slots", run, seeded(KINDS, 5, seed_by_seed=True), SHORT, n_short=3)}
