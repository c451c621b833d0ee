"""Solutions to the exercises of 12_words. Look only after you have tried."""

import math


def cost(depth: int, n_nodes: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """By words: a step and a token for each arrow, and for STOP. Together: every node is computed at every step."""
    loops = max(1, math.ceil(math.log2(depth + 1)))
    return (depth + 1, depth + 1), (loops, loops * n_nodes)
