"""Stored runs of lesson 08: how its networks were trained and measured."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ponder_course.alone_and_together.experiment import (
    MAX_DEPTH,
    N_NODES,
    ancestors,
    attention_by_step,
    first_sensitive_step,
    measure,
    test_inputs,
)
from ponder_course.alone_and_together.lesson import Addresses, NodeStep, SleepyStep, loss_of_nodes
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.measures import mean
from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.common.training import fit, of_asked
from ponder_evidence.runs import Experiment, grid
from ponder_utils.losses import FixedDepthLoss
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import EncodedStep

TEST_STEPS = 40  # the cap when networks are tested


def make_step(
    memory: str, n_nodes: int = N_NODES, size: int = 64, n_heads: int = 1, update_dropout: float = 0.25
) -> EncodedStep:
    """Return lesson 08's step; its addresses are drawn before its layer, in the lesson after it."""
    addresses, layer = Addresses(n_nodes, size), SleepyStep if update_dropout else NodeStep
    return EncodedStep(addresses, layer(size, n_nodes, memory, n_heads))


def learn(
    seed: int,
    memory: str,
    halting: bool = True,
    max_depth: int = MAX_DEPTH,
    n_nodes: int = N_NODES,
    updates: int = 1000,
    batch: int = 16,
    **network: Any,
) -> PonderNet:
    """Train a network; without `halting`, on the mean loss of its answers at all steps."""
    torch.manual_seed(seed)
    model = PonderNet(make_step(memory, n_nodes, **network), 14)
    at_every_step = of_asked(FixedDepthLoss(nn.CrossEntropyLoss(reduction="none"), every_step=True))
    draw = partial(ForestTask(n_nodes, max_depth).batch, batch)
    return fit(model, loss_of_nodes if halting else at_every_step, draw, updates, lr=3e-3, seed=seed)[0]


def distance_read(memory: str, n: int) -> int:
    """Return how far up a node can read at step n at most: it knows the name of nobody farther away."""
    return 2 ** (n - 1) if memory == "current" else n


def asked(step: EncodedStep, x: Tensor) -> list[list[float]]:
    """Return whether nodes read the ancestor that is farthest of those they can name, for each step that has such.

    [fraction whose largest weight is there, mean weight there], of nodes that are deep enough.
    """
    memory, deepest = step.step.memory, x.shape[1] - 1
    distances = [distance_read(memory, n) for n in range(1, deepest + 1) if distance_read(memory, n) <= deepest]
    above, depth = ancestors(x, deepest), ForestTask.depths(x)
    shares = []
    for distance, weights in zip(distances, attention_by_step(step, x, len(distances)), strict=True):
        target = above[distance][depth >= distance]
        weights = weights[depth >= distance]  # [nodes that are deep enough, nodes]
        there = weights.gather(1, target[:, None])[:, 0]
        shares.append([mean(weights.argmax(1) == target), mean(there)])
    return shares


def run(seed: int, memory: str, **setting: Any) -> Row:
    """Train a network and measure it: what `measure` returns, and on chains whom nodes have `asked` and `felt`."""
    model = learn(seed, memory, **setting)
    n_nodes = setting.get("n_nodes", N_NODES)
    x = test_inputs(n_nodes)
    N = TEST_STEPS if memory == "current" else max(TEST_STEPS, n_nodes + 8)  # none needs more
    row = measure(model, x, N)
    return rounded(row | {"asked": asked(model.step, x[-50:]), "felt": first_sensitive_step(model.step, x[-10:], N)})


def _grid(name: str, seeds: int, kinds: tuple[str, ...] = ("current",), **change: Any) -> Experiment:
    settings = seeded([{"memory": memory, **change} for memory in kinds], seeds, seed_by_seed=True)
    short = {"updates": 5, "n_nodes": 8, "size": 16}
    return grid(f"08_forests_{name}", run, settings, short, n_short=len(kinds))


FAR: Row = {"n_nodes": 64, "size": 128, "batch": 8}  # twice as many nodes


EXPERIMENTS = {
    "main": _grid("main", 10, ("current", "initial")),
    "awake": _grid("awake", 5, update_dropout=0.0),
    "certainty": _grid("certainty", 5, halting=False),
    "heads": _grid("heads", 3, n_heads=4),
    "heads_longer": _grid("heads_longer", 5, n_heads=4, updates=3000),
    "awake_12": _grid("awake_12", 2, update_dropout=0.0, max_depth=12),
    "awake_16": _grid("awake_16", 3, update_dropout=0.0, max_depth=16),
    "far_8": _grid("far_8", 10, max_depth=8, **FAR),
}
