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

from ponder_course.common.runs import rounded, seeded
from ponder_course.common.store import Row
from ponder_course.price_of_a_word.experiment import LOW, TREES, measure, shown, texts_of, untrained
from ponder_course.price_of_a_word.lesson import reward
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
    measures: Row = {"shown": measure(start, x), "by_price": {}}
    if order == "last":
        if trees == "forests":
            measures["free"] = measure(reward(copy.deepcopy(start), task, 0.0, seed, updates), x)
        start = reward(start, task, LOW, seed, updates)
        measures["LOW"] = measure(start, x)
    for tau in prices:
        writer = reward(copy.deepcopy(start), task, tau, 1000 + seed, updates, batch)
        stages = [measure(writer, x)]
        if order == "first":
            stages.append(measure(reward(writer, task, LOW, seed, updates), x))
        measures["by_price"][str(tau)] = stages
    return rounded(measures)


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
    "long": grid("14_price_long", run, seeded([FIRST | {"prices": [0.4], "updates": 2 * UPDATES}], FRESH), SHORT),
    "trees": grid(
        "14_price_trees", run, seeded([LAST | {"trees": "chains"}, LAST | {"trees": "shallow"}], FRESH), SHORT
    ),
    "batch": grid("14_price_batch", run, seeded([LAST | LARGE], FRESH), SHORT),
    "nothing": grid("14_price_nothing", run_from_nothing, seeded([{}], FRESH), SHORT),
}
