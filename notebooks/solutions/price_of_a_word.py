"""Solutions to the exercises of 14_price_of_a_word. Look only after you have tried."""


def law(depths: list[int]) -> float:
    """A chain from depth d passes d nodes, with d, ..., 2, 1 arrows to go: the mean of 1 - tau r over all is 0."""
    nodes = sum(depths)
    arrows_to_go = sum(d * (d + 1) / 2 for d in depths)
    return nodes / arrows_to_go
