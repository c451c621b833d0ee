"""Stored runs of lesson 14: prices paid last or first, on trees of three kinds, by batches of several sizes.

Predicted before any of these runs. Whoever writes exact chains goes on up to tau* = `cliff`, 0.314 in forests, 0.176 in
single chains and 0.625 in shallow trees, and falls silent above it. That counts on a mean gradient, and on a writer who
cannot see how far it still is. For a writer who goes on with probability q < 1 the border is lower, down to `way_back`,
0.234, 0.067 and 0.406: between the two silence keeps itself as well, so noise may end there, in small batches sooner.
On seeds 100 and 102 writers of forests fell at 0.28 even by exact gradients; they may see something of a text's depth.
Paid first, by writers who still write 2 d + 1 words, a price may silence from tau* / 2 on. Who is silent stays so when
the price falls, since no first word is ever tried.
"""

import copy
from collections.abc import Sequence

import torch

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.price_of_a_word.experiment import LOW, TREES, expected_reward, measure, shown, texts_of, untrained
from ponder_course.price_of_a_word.lesson import Writer, reward
from ponder_evidence.runs import grid

TAUGHT, UPDATES = 200, 300  # updates by the teacher who dithers, and at each price
PRICES = {
    "forests": (0.1, 0.2, 0.25, 0.28, 0.32, 0.4),
    "chains": (0.11, 0.14, 0.16, 0.18, 0.22),
    "shallow": (0.4, 0.5, 0.56, 0.64, 0.8),
}


def run(
    order: str,
    trees: str,
    batch: int,
    seed: int,
    prices: Sequence[float] = (),
    updates: int = UPDATES,
    n_texts: int = 40,
) -> Row:
    """Show a writer chains that dither, reward copies of it at two prices, one after the other, and measure each.

    order: "last" is first rewarded at LOW and then at each price; "first" at each price and then at LOW. batch: texts
    an update at each price; LOW always has 24. prices: those of PRICES, if none are given. For "last", "LOW" is what is
    measured after the first stage, and "free" after one without a price. "by_price": {price: [after the stage at it,
    and for "first" after LOW]}. "shown": before all stages.
    """
    task, x = TREES[trees], texts_of(trees, n_texts)
    prices = prices or PRICES[trees]
    start = shown(seed, min(TAUGHT, updates))
    found: Row = {"shown": measure(start, x), "by_price": {}}
    if order == "last":
        if trees == "forests":
            found["free"] = measure(reward(copy.deepcopy(start), task, 0.0, seed, updates), x)
        start = reward(start, task, LOW, seed, updates)
        found["LOW"] = measure(start, x)
    for tau in prices:
        writer = reward(copy.deepcopy(start), task, tau, 1000 + seed, updates, batch)
        stages = [measure(writer, x)]
        if order == "first":
            stages.append(measure(reward(writer, task, LOW, seed, updates), x))
        found["by_price"][str(tau)] = stages
    return rounded(found)


def reward_exactly(writer: Writer, trees: str, tau: float, seed: int, updates: int, batch: int) -> Writer:
    """Train as `reward` does, but by the exact mean over all chains and all nodes of each text: no drawn word."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(writer.parameters(), lr=1e-3)
    for _ in range(updates):
        x, _ = TREES[trees].batch(batch, generator)
        loss = -expected_reward(writer.next_words(x), x, tau).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(writer.parameters(), 1.0)
        optimizer.step()
    return writer


def run_exactly(trees: str, seed: int, prices: Sequence[float], updates: int = UPDATES, n_texts: int = 40) -> Row:
    """Measure writers that were rewarded at LOW as in `run`, and then by exact gradients of 64 texts: "by_price"."""
    x = texts_of(trees, n_texts)
    start = reward(shown(seed, min(TAUGHT, updates)), TREES[trees], LOW, seed, updates)
    found: Row = {}
    for tau in prices:
        writer = reward_exactly(copy.deepcopy(start), trees, tau, 1000 + seed, updates, 64)
        found[str(tau)] = [measure(writer, x)]
    return rounded({"by_price": found})


def run_from_nothing(seed: int, updates: int = 2 * UPDATES, n_texts: int = 40) -> Row:
    """Measure a network that was never shown a chain, after rewards at no price: "right", "words", "by_depth"."""
    return rounded(measure(reward(untrained(seed), TREES["forests"], 0.0, seed, updates), texts_of("forests", n_texts)))


SHORT: Row = {"updates": 3, "n_texts": 3}
FRESH = range(1, 11)  # all settings were chosen on seeds 100 to 102
LAST = {"order": "last", "batch": 24}
FIRST = {"order": "first", "batch": 24, "trees": "forests", "prices": [0.2, 0.28, 0.4]}  # 0.4: once seed 1 was seen
LARGE = {"trees": "forests", "batch": 128, "prices": [0.25, 0.28]}
EXPERIMENTS = {
    "main": grid("14_price_main", run, seeded([LAST | {"trees": "forests"}], FRESH), SHORT),
    "first": grid("14_price_first", run, seeded([FIRST], FRESH), SHORT),
    "long": grid("14_price_long", run, seeded([FIRST | {"prices": [0.4], "updates": 2 * UPDATES}], FRESH[:3]), SHORT),
    "trees": grid(
        "14_price_trees", run, seeded([LAST | {"trees": "chains"}, LAST | {"trees": "shallow"}], FRESH), SHORT
    ),
    "batch": grid("14_price_batch", run, seeded([LAST | LARGE], FRESH[:3]), SHORT),
    "exact": grid("14_price_exact", run_exactly, seeded([{"trees": "forests", "prices": [0.28]}], FRESH[:3]), SHORT),
    "nothing": grid("14_price_nothing", run_from_nothing, seeded([{}], FRESH), SHORT),
}
