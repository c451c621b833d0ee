"""Other exact covers, for networks that were trained on sudokus of 4 x 4: pentominoes.

A cover is a list of groups of places, of which exactly one is on; the first groups are the questions. Of a random
solution the answers to some questions are given.
"""

import random
from collections.abc import Callable
from functools import cache
from itertools import product

import torch
from torch import Tensor
from torch.nn.functional import pad

from ponder_course.sudoku.cover import Groups, groups_of
from ponder_course.sudoku.lesson import CoverStep, others

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


class UnevenStep(CoverStep):
    """Lesson 10's step where groups differ in size, and places in how many groups they are in: nobody fills the tables.

    Nobody has the least state, is never ready, and sends no message.
    """

    def __init__(self, groups: Groups, channels: int = 24) -> None:
        super().__init__(groups, channels)
        n_groups, size = groups.members.shape
        of_nobody = groups.members.new_full((1, size), len(groups.slots))
        self.filled = groups._replace(members=torch.cat([groups.members, of_nobody]))
        self.is_there = (groups.slots < n_groups * size)[:, :, None]

    def message(self, h: Tensor) -> Tensor:
        """Return m, [batch, places, channels]."""
        heard = self.heard(others(pad(h, (0, 0, 0, 1), value=-1.0), self.filled))
        return (torch.relu(self.own(h)[:, :, None] + heard) * self.is_there).amax(2)

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, asked, size], the logits of each question's places, and a_n [batch, asked]."""
        at_places = pad(self.heads(h), (0, 0, 0, 1), value=-30.0)
        y_hat, a = at_places[:, self.groups.members[: self.groups.asked]].unbind(3)
        return y_hat, a.amax(2)


def on_cover(step: CoverStep, tables: Groups) -> UnevenStep:
    """Return a step with a copy of a network's weights, in evaluation mode, for other groups."""
    uneven = UnevenStep(tables, step.from_h.in_features)
    uneven.load_state_dict(step.state_dict())
    return uneven.eval()


def turns(shape: str) -> set[Cells]:
    """Return a shape in all its orientations, each at the upper left corner."""
    cells = [(i, j) for i, row in enumerate(shape.split()) for j, sign in enumerate(row) if sign == "X"]
    turned = set[Cells]()
    for _ in range(2):
        cells = [(i, -j) for i, j in cells]
        for _ in range(4):
            cells = [(j, -i) for i, j in cells]
            top, left = min(i for i, _ in cells), min(j for _, j in cells)
            turned.add(frozenset((i - top, j - left) for i, j in cells))
    return turned


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
            chosen = search({g: places - excluded for g, places in waiting.items() if g not in done})
            if chosen is not None:
                return chosen | {place}
        return None

    chosen = search({g: set(group) for g, group in enumerate(groups)})
    if chosen is None:
        raise ValueError("groups must have a solution; got some that have none")
    return chosen


@cache
def instances(make: Callable[[], tuple[Places, int]], n: int, lowest: float, highest: float) -> tuple[Groups, Tensor]:
    """Return the tables of a cover, and instances of it as signs [n, places], the same at every call.

    make: such as `pentominoes`; lowest, highest: limits of the share of questions whose answer is given.
    """
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


def tiled(groups: Places, asked: int, values: dict[int, int]) -> list[int]:
    """Return for each group after the first `asked`, the cells of a tiling say, the value of its place that has one.

    values: {place: value}; of several places of a group the last counts, and a group without one has 0.
    """
    places = []
    for group in groups[asked:]:
        on = [value for place, value in values.items() if place in group]
        places.append(on[-1] if on else 0)
    return places
