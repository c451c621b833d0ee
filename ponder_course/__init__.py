"""The course: a room for each lesson, with its experiments and its figures, and a common room.

A lesson imports the common room, `ponder_utils`, and lessons before it.
"""

LESSONS = (
    "act_background",
    "pondernet_theory",
    "parity",
    "mnist_rotation",
    "light_cone",
    "ways_to_stop",
    "map_of_thought",
    "alone_and_together",
    "adding_a_column",
    "sudoku",
    "judges",
    "words",
    "who_leaves_early",
    "price_of_a_word",
)
