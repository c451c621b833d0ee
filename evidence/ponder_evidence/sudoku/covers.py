"""Three exact covers, for networks of lesson 10, and what is measured there: Latin squares, queens, and pentominoes."""

from itertools import product

import torch
from torch import Tensor
from torch.nn.functional import pad

from ponder_course.common.measures import think
from ponder_course.common.store import Row
from ponder_course.sudoku.cover import Groups, rounds
from ponder_course.sudoku.covers import Places, pentominoes
from ponder_course.sudoku.lesson import halt
from ponder_utils.pondernet import PonderNet
from ponder_utils.steps import Step


def latin_squares(side: int) -> tuple[Places, int]:
    """Return the groups of a Latin square, (row, column, digit), and the number of its cells: it has no boxes."""
    place = torch.arange(side**3).view(side, side, side)
    kinds = [place, place.permute(0, 2, 1), place.permute(1, 2, 0)]
    return torch.cat([kind.reshape(-1, side) for kind in kinds]).tolist(), side**2


def queens(side: int) -> tuple[Places, int]:
    """Return the groups of queens that do not attack each other, and the number of rows: in which column is each?

    A diagonal holds one queen at most. So it has one more place, which is on if none of its squares is.
    """
    squares = [*product(range(side), repeat=2)]
    rows = [[row * side + column for column in range(side)] for row in range(side)]
    columns = [[row * side + column for row in range(side)] for column in range(side)]
    falling = [[n for n, (row, column) in enumerate(squares) if row - column == k] for k in range(1 - side, side)]
    rising = [[n for n, (row, column) in enumerate(squares) if row + column == k] for k in range(2 * side - 1)]
    diagonals = [[*group, side**2 + k] for k, group in enumerate(falling + rising)]
    return rows + columns + diagonals, side


COVERS = {  # groups, how many instances, and the limits of the share of questions whose answer is given
    "Latin squares of 9 x 9": (lambda: latin_squares(9), 50, 0.3, 0.6),
    "12 queens": (lambda: queens(12), 200, 0.2, 0.7),
    "pentominoes": (pentominoes, 40, 0.2, 0.7),
}
N = 40


def measure(step: Step, tables: Groups, x: Tensor) -> Row:
    """Return how a step for a cover, such as an `UnevenStep`, answers `instances` of it in N steps.

    Each question halts by itself.

    Of the open "questions" whose answer the rule can know: how many are "wrong", halt "too early" or "exactly" in their
    round, and the last of these "rounds", 0 if there are none; of the others, "unknown" of them, how many have "given
    up".
    """
    of_questions = tables.members[: tables.asked]
    given, known, since = (pad(signs, (0, 1)) for signs in (x, *rounds(x, tables)))
    is_open = (given[:, of_questions] != 1).all(2)
    on = known[:, of_questions] == 1
    y, need = on.long().argmax(2), (since[:, of_questions] * on).amax(2)
    answers, steps = halt(think(PonderNet(step, N), x, N))
    steps = torch.where(steps == 0, N + 1, steps)
    knowable, unknown = is_open & on.any(2), is_open & ~on.any(2)
    return {
        "questions": int(knowable.sum()),
        "wrong": int((answers != y)[knowable].sum()),
        "too early": int((steps < need)[knowable].sum()),
        "exactly": int((steps == need)[knowable].sum()),
        "rounds": int((need * knowable).max()),
        "unknown": int(unknown.sum()),
        "given up": int((steps <= N)[unknown].sum()),
    }
