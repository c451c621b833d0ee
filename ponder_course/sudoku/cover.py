"""Exact covers: places that are on or off, in groups of which exactly one place is on; and what one rule can know.

A sudoku is one: a place is a digit in a cell, and its groups are the digits of a cell, and the places of a digit in a
row, a column and a box. One rule says all: a place is off if another place of a group is on, and on if all others are
off.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from ponder_utils._check import check_int


class Groups(NamedTuple):
    """Which places form groups, and in which groups a place is: two tables, filled up where rows differ in length."""

    members: Tensor  # int64 [groups, size]: places, and the number of places where there is none
    slots: Tensor  # int64 [places, kinds]: where each place stands in the flat members, and their number if nowhere
    asked: int  # of the first groups: which of its places is on is a question

    def to(self, device: torch.device | str) -> "Groups":
        """Return the tables on a device."""
        return Groups(self.members.to(device), self.slots.to(device), self.asked)


def groups_of(groups: Sequence[Sequence[int]], asked: int) -> Groups:
    """Return the tables of groups of places, each of which is in one at least: numbers from 0 on, without a gap.

    The questions are the first groups, this many. ValueError if a group is empty or holds a place twice, or a place of
    these numbers is in no group.
    """
    check_int("asked", asked, 1, len(groups))
    for group in groups:
        if not group or len(set(group)) < len(group):
            raise ValueError(f"groups must hold one place or more, and none twice; got {list(group)}")
    size = max(map(len, groups))
    n_places = 1 + max(map(max, groups))
    slots: list[list[int]] = [[] for _ in range(n_places)]
    for g, group in enumerate(groups):
        for slot, place in enumerate(group):
            slots[place].append(g * size + slot)
    if not all(slots):
        raise ValueError(f"groups must hold every place from 0 to {n_places - 1}; got none with {slots.index([])}")
    kinds = max(map(len, slots))
    members = [[*group, *[n_places] * (size - len(group))] for group in groups]
    at = [[*places, *[len(groups) * size] * (kinds - len(places))] for places in slots]
    return Groups(torch.tensor(members), torch.tensor(at), asked)


def rounds(signs: Tensor, groups: Groups) -> tuple[Tensor, Tensor]:
    """Return what the rule can know, and in which round: int64 [batch, places] each.

    signs: what is given, 1 on, -1 off, 0 open, [batch, places]; and so are those that are returned, with 0 for what is
    never known. What is given is known in round 1, what follows from round n in round n + 1; never is 0. Where what is
    given contradicts itself, a place may be called on and off; the first stays.
    """
    known = signs.long()
    since = (known != 0).long()
    group_of = groups.slots // groups.members.shape[1]  # [places, kinds]; their number if there is none

    def among_others(marked: Tensor) -> Tensor:  # [batch, places] -> how many, [batch, places, kinds]
        counts = pad(marked.long(), (0, 1))[:, groups.members].sum(2)
        return pad(counts, (0, 1))[:, group_of] - marked.long()[..., None]

    n = 1
    while True:
        n += 1
        another_is_on = (among_others(known == 1) > 0).any(2)
        all_others_are_off = (among_others(known != -1) == 0).any(2)
        new = torch.where(another_is_on, -1, all_others_are_off.long()) * (known == 0)
        if not new.any():
            return known, since
        known, since = known + new, torch.where(new != 0, n, since)
