"""Stored runs of lesson 12: walkers by what they carry and how deep their training was, dots, votes, and sleep."""

import time
from typing import Any

import torch
from torch import Tensor

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.words import lesson
from ponder_course.words.experiment import Rereader, measure, texts_of_all_depths
from ponder_course.words.lesson import Walker, token
from ponder_course.words.task import ChainTask
from ponder_evidence.alone_and_together.experiment import run as run_alone
from ponder_evidence.runs import Experiment, grid
from ponder_evidence.words import dots

DEPTHS = (1, 2, 4)  # of the deepest trees in training
N_NODES, SIZE = 32, 64


class MeanWalker(Walker):
    """A walker that can also carry the "mean" of all names, weighted by their probabilities, even while it learns.

    After training, this is Soft Thinking (Zhang et al. 2025, arXiv:2505.15778).
    """

    def carry(self, state: Tensor, next_word: Tensor, right: Tensor | None) -> Tensor:
        """Return the next thought, [batch, 1, size]."""
        if self.carried != "mean":
            return super().carry(state, next_word, right)
        return token(next_word[:, :-1].softmax(1) @ self.names.addresses)


def learn(
    carried: str,
    max_depth: int,
    seed: int,
    n_nodes: int = N_NODES,
    size: int = SIZE,
    updates: int = 1000,
    rereads: bool = False,
) -> Walker:
    """Train a walker on texts whose trees are at most so deep."""
    torch.manual_seed(seed)
    walker = (Rereader if rereads else MeanWalker)(carried, n_nodes, size)
    return lesson.learn(walker, ChainTask(n_nodes, max_depth), seed, updates)


def run(carried: str, max_depth: int, seed: int, **recipe: Any) -> Row:
    """Train a walker and `measure` it: what that returns, and "cpu_seconds" of the training."""
    start = time.process_time()
    walker = learn(carried, max_depth, seed, **recipe)
    seconds = time.process_time() - start
    n_nodes = recipe.get("n_nodes", N_NODES)
    return rounded(measure(walker, texts_of_all_depths(n_nodes), n_nodes + 8) | {"cpu_seconds": seconds})


def run_dots(n_dots: int, n_passes: int, seed: int, **recipe: Any) -> Row:
    """Train a network with dots, and measure it."""
    return rounded(dots.measure(dots.learn(n_dots, n_passes, seed, **recipe)))


def walkers(name: str, carried: tuple[str, ...], seeds: int, **changed: Any) -> Experiment:
    """Return the experiment of walkers that carry these, at each depth of training, but for what is changed."""
    kinds = [{"carried": what, "max_depth": depth, **changed} for what in carried for depth in DEPTHS]
    settings = seeded(kinds, seeds, seed_by_seed=True)
    return grid(f"12_words_{name}", run, settings, {"updates": 5, "n_nodes": 8, "size": 16}, n_short=len(kinds))


WIDE: list[Row] = [{"n_dots": 0, "n_passes": n} for n in (1, 2, 3)] + [{"n_dots": n, "n_passes": 2} for n in (8, 32)]
SHALLOW: list[Row] = [{"memory": "initial", "max_depth": 2}]
SHORT: Row = {"updates": 5, "n_nodes": 8, "size": 16}
EXPERIMENTS = {
    "main": walkers("main", ("word", "state"), 10),
    "a mean": walkers("mean", ("mean",), 5),
    "rereads": walkers("rereads", ("word", "state"), 5, rereads=True),
    "dots": grid("12_words_dots", run_dots, seeded(WIDE, 5, seed_by_seed=True), SHORT, n_short=len(WIDE)),
    "asleep": grid("12_words_asleep", run_alone, seeded(SHALLOW, 5), SHORT),
}
