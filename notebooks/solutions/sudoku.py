"""Solutions to the exercises of 10_sudoku. Look only after you have tried."""


def last_cell() -> tuple[int, int, int]:
    """Its digit follows from the rest of row 4, which is complete two rounds before."""
    return 4, 3, 7
