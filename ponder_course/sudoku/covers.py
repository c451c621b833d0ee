"""Other exact covers, for networks that were trained on sudokus of 4 x 4: Latin squares, queens, and pentominoes.

Each is a list of groups of places, of which exactly one is on; the first groups are the questions. Of a random solution
the answers to some questions are given.
"""

import random
from functools import cache
from itertools import product

import torch
from torch.nn.functional import pad

from ponder_course.common.measures import think
from ponder_course.common.store import Row
from ponder_course.sudoku.cover import CoverStep, Groups, groups_of, rounds
from ponder_course.sudoku.experiment import halt
from ponder_utils.pondernet import PonderNet

Places = list[list[int]]
Cells = frozenset[tuple[int, int]]
SHAPES = {  # of the twelve pentominoes, by their usual letters
    "F": ".XX XX. .X.",
    "I": "XXXXX",
    "L": "X... XXXX",
    "N": "XX.. .XXX",
    "P": "XX XX X.",
    "T": "XXX .X. .X.",
    "U": "X.X XXX",
    "V": "X.. X.. XXX",
    "W": "X.. XX. .XX",
    "X": ".X. XXX .X.",
    "Y": ".X.. XXXX",
    "Z": "XX. .X. .XX",
}


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


def turns(shape: str) -> set[Cells]:
    """Return a shape in all its orientations, each at the upper left corner."""
    cells = [(i, j) for i, row in enumerate(shape.split()) for j, sign in enumerate(row) if sign == "X"]
    found = set[Cells]()
    for _ in range(2):
        cells = [(i, -j) for i, j in cells]
        for _ in range(4):
            cells = [(j, -i) for i, j in cells]
            top, left = min(i for i, _ in cells), min(j for _, j in cells)
            found.add(frozenset((i - top, j - left) for i, j in cells))
    return found


def pentominoes(height: int = 6, width: int = 10) -> tuple[Places, int]:
    """Return the groups of a tiling by the twelve pentominoes, and their number: where does each of them lie?

    A place is a pentomino in one orientation and position; its groups are those of this pentomino, and of its cells.
    """
    of_piece: Places = []
    of_cell: Places = [[] for _ in range(height * width)]
    n = 0
    for shape in SHAPES.values():
        of_piece.append([])
        for cells in sorted(map(sorted, turns(shape))):
            tall, wide = (1 + max(cell[axis] for cell in cells) for axis in (0, 1))
            for top, left in product(range(height - tall + 1), range(width - wide + 1)):
                of_piece[-1].append(n)
                for i, j in cells:
                    of_cell[(top + i) * width + left + j].append(n)
                n += 1
    return of_piece + of_cell, len(of_piece)


COVERS = {  # groups, how many instances, and the limits of the share of questions whose answer is given
    "Latin squares of 9 x 9": (lambda: latin_squares(9), 50, 0.3, 0.6),
    "12 queens": (lambda: queens(12), 200, 0.2, 0.7),
    "pentominoes": (pentominoes, 40, 0.2, 0.7),
}
N = 40


def solution(groups: Places, seed: int) -> set[int]:
    """Return the places that are on in a random solution, by Knuth's Algorithm X; ValueError if there is none."""
    generator = random.Random(seed)
    groups_with: dict[int, list[int]] = {}
    for g, group in enumerate(groups):
        for place in group:
            groups_with.setdefault(place, []).append(g)

    def search(waiting: dict[int, set[int]]) -> set[int] | None:
        if not waiting:
            return set()
        shortest = min(waiting, key=lambda g: (len(waiting[g]), g))
        for place in generator.sample(sorted(waiting[shortest]), len(waiting[shortest])):
            done = set(groups_with[place])
            excluded = set().union(*(waiting[g] for g in done))
            found = search({g: places - excluded for g, places in waiting.items() if g not in done})
            if found is not None:
                return found | {place}
        return None

    found = search({g: set(group) for g, group in enumerate(groups)})
    if found is None:
        raise ValueError("groups must have a solution; got some that have none")
    return found


@cache
def instances(name: str) -> tuple[Groups, torch.Tensor]:
    """Return the tables of one of `COVERS`, and its instances as signs [instances, places], the same at every call."""
    make, n, lowest, highest = COVERS[name]
    groups, asked = make()
    tables = groups_of(groups, asked)
    x = torch.zeros(n, len(tables.slots))
    for seed in range(n):
        on, generator = solution(groups, seed), random.Random(seed)
        share = generator.uniform(lowest, highest)
        for group in groups[:asked]:
            if generator.random() < share:
                for place in group:
                    x[seed, place] = 1 if place in on else -1
    return tables, x


def measure(step: CoverStep, name: str) -> Row:
    """Return how a step answers the instances of a cover in N steps, where each question halts by itself.

    Of the open "questions" whose answer the rule can know: how many are "wrong", halt "too early" or "exactly" in their
    round, and the largest of these "rounds"; of the others, "unknown" of them, how many have "given up".
    """
    tables, x = instances(name)
    of_questions = tables.members[: tables.asked]
    given, known, found = (pad(signs, (0, 1)) for signs in (x, *rounds(x, tables)))
    is_open = (given[:, of_questions] != 1).all(2)
    on = known[:, of_questions] == 1
    y, need = on.long().argmax(2), (found[:, of_questions] * on).amax(2)
    answers, steps, _ = halt(think(PonderNet(step.on(tables).eval(), N), x, N))
    steps = torch.where(steps == 0, N + 1, steps)
    knowable, unknown = is_open & on.any(2), is_open & ~on.any(2)
    return {
        "questions": int(knowable.sum()),
        "wrong": int((answers != y)[knowable].sum()),
        "too early": int((steps < need)[knowable].sum()),
        "exactly": int((steps == need)[knowable].sum()),
        "rounds": int(need[knowable].max()),
        "unknown": int(unknown.sum()),
        "given up": int((steps <= N)[unknown].sum()),
    }


def tiled(groups: Places, asked: int, values: dict[int, int]) -> list[int]:
    """Return for each group after the first `asked`, the cells of a tiling say, the value of its place that has one.

    values: {place: value}; of several places of a group the last counts, and a group without one has 0.
    """
    found = []
    for group in groups[asked:]:
        on = [value for place, value in values.items() if place in group]
        found.append(on[-1] if on else 0)
    return found
