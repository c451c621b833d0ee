"""A control of lesson 12: how much the mean of all names differs from one name, and whether either may be carried.

Networks are trained with a word or with the mean of all names. In the test each carries both, so that those trained
with a word do what Soft Thinking does (Zhang et al. 2025, arXiv:2505.15778), and the others are rounded.
"""

import torch
from torch import Tensor

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.words.experiment import measure, texts_of_all_depths
from ponder_course.words.lesson import Walker
from ponder_evidence.runs import grid
from ponder_evidence.words.experiment import N_NODES, SIZE, learn

LEVELS = (0.5, 0.9, 0.99)  # of the largest weight in a mean


@torch.no_grad()
def largest_weights(walker: Walker, x: Tensor, N: int) -> Tensor:
    """Return the largest weight of a name in each mean that could be carried on, up to STOP, if each node is asked.

    x: parents [texts, nodes]; N: at most so many steps.
    """
    n_texts, n_nodes = x.shape
    asked = torch.arange(n_nodes).repeat(n_texts)[:, None]
    logits = walker.eval()((x.repeat_interleave(n_nodes, 0), asked), N)
    stopped = (logits.argmax(2) == n_nodes).cummax(1).values
    largest: Tensor = logits[..., :-1].softmax(2).amax(2)
    return largest[~stopped]


def run(trained: str, seed: int, n_nodes: int = N_NODES, size: int = SIZE, updates: int = 1000) -> Row:
    """Train a walker on trees of one arrow, and `measure` it with each of both carried.

    "means": how many means its walks have when it carries one; "below": how many of these have no name of the weight.
    """
    walker = learn(trained, 1, seed, n_nodes, size, updates)
    x, N = texts_of_all_depths(n_nodes), n_nodes + 8
    measures: Row = {}
    for carried in ("word", "mean"):
        walker.carried = carried
        measures[carried] = measure(walker, x, N)
    weights = largest_weights(walker, x, N)
    below = {str(level): int((weights < level).sum()) for level in LEVELS}
    return rounded(measures | {"means": len(weights), "below": below})


SETTINGS = seeded([{"trained": "mean"}, {"trained": "word"}], 5, seed_by_seed=True)
SHORT: Row = {"updates": 5, "n_nodes": 8, "size": 16}
EXPERIMENTS = {"blends": grid("12_words_blends", run, SETTINGS, SHORT, n_short=2)}
