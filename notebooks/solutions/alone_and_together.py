"""Solutions to the exercises of 08_alone_and_together. Look only after you have tried."""


def steps_needed(depth: int) -> tuple[int, int]:
    """Count the arrows that are known: one more a step alone, twice as many together; depth + 1 are needed."""
    together, arrows = 0, 1
    while arrows < depth + 1:
        arrows *= 2
        together += 1
    return max(1, depth), max(1, together)


def felt_at(k: int) -> tuple[int, int]:
    """The k-th node's arrow is the arrow number k + 1 above the last node: as if its root stood there."""
    return steps_needed(k)
