"""A control of lesson 12: what is carried looks like a word, but may say anything."""

from functools import partial

import torch
from torch import Tensor, nn

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit
from ponder_course.words.experiment import N_NODES, SIZE, Walker, loss_of_words, measure, texts_of_all_depths
from ponder_course.words.task import ChainTask
from ponder_evidence.runs import grid


class SlotWalker(Walker):
    """A walker whose thought has the form of a word's token: in place of an address, a linear map of the logits."""

    def __init__(self, n_nodes: int, size: int) -> None:
        super().__init__("mean", n_nodes, size)
        self.back = nn.Linear(n_nodes, size // 2)

    def address(self, name_logits: Tensor, right: Tensor | None) -> Tensor:
        """Return what is carried of the names' logits [batch, n_nodes]."""
        return self.back(name_logits)


def run(max_depth: int, seed: int, n_nodes: int = N_NODES, size: int = SIZE, updates: int = 1000) -> Row:
    """Train such a walker as `learn` trains the others, and `measure` it."""
    torch.manual_seed(seed)
    draw = partial(ChainTask(n_nodes, max_depth).batch, 128)
    walker, _ = fit(SlotWalker(n_nodes, size), loss_of_words, draw, updates, lr=3e-3, seed=seed)
    return rounded(measure(walker, texts_of_all_depths(n_nodes), n_nodes + 8))


KINDS: list[Row] = [{"max_depth": depth} for depth in (2, 1, 4)]
SHORT: Row = {"updates": 5, "n_nodes": 8, "size": 16}
EXPERIMENTS = {"slots": grid("12_words_slots", run, seeded(KINDS, 5, seed_by_seed=True), SHORT, n_short=3)}
