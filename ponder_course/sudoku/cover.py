"""Exact covers: places that are on or off, in groups of which exactly one place is on; and a step that knows no more.

A sudoku is one: a place is a digit in a cell, and its groups are the digits of a cell, and the places of a digit in a
row, a column and a box. One rule says all: a place is off if another place of a group is on, and on if all others are
off.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ponder_utils._check import check_int, check_real
from ponder_utils.steps import Step

NOBODY = -1.0  # the state of a place that is not there, the least that a tanh gives
NEVER = -30.0  # answer and halting logit of one


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


def others(values: Tensor, groups: Groups, nobody: float) -> Tensor:
    """Return for each place and each of its groups the largest value of the others, or `nobody` where there is none.

    values: [batch, places, channels] -> [batch, places, kinds, channels].
    """
    size = groups.members.shape[1]
    values = nn.functional.pad(values, (0, 0, 0, 1), value=nobody)
    grouped = values.index_select(1, groups.members.flatten()).unflatten(1, groups.members.shape)
    largest, where = grouped.max(2, keepdim=True)
    second = grouped.scatter(2, where, nobody).amax(2, keepdim=True)
    is_largest = torch.arange(size, device=values.device)[:, None] == where
    of_slots = torch.where(is_largest, second, largest).flatten(1, 2)
    of_slots = nn.functional.pad(of_slots, (0, 0, 0, 1), value=nobody)
    return of_slots.index_select(1, groups.slots.flatten()).unflatten(1, groups.slots.shape)


def rounds(signs: Tensor, groups: Groups) -> tuple[Tensor, Tensor]:
    """Return what the rule can know, and in which round: int64 [batch, places] each.

    signs: what is given, 1 on, -1 off, 0 open, [batch, places]; and so are those that are returned, with 0 for what is
    never known. What is given is known in round 1, what follows from round n in round n + 1; never is 0. Where what is
    given contradicts itself, a place may be called on and off; the first stays.
    """
    known = signs.long()
    found = (known != 0).long()
    n = 1
    while True:
        n += 1
        on = others((known == 1).float()[..., None], groups, 0.0)[..., 0].amax(2) > 0
        not_off = others((known != -1).float()[..., None], groups, 0.0)[..., 0]
        is_last = (not_off == 0) & (groups.slots < groups.members.numel())
        new = torch.where(on, -1, is_last.any(2).long()) * (known == 0)
        if not new.any():
            return known, found
        known, found = known + new, torch.where(new != 0, n, found)


class CoverStep(Step):
    """Every place hears, from each of its groups, the largest state among the others, and nothing else.

        m = max over groups of relu(W_o h + W_m max of the others' h + b),   h' = tanh(W_h h + W' m + W_x x + b')

    channel by channel, with the same weights at all places and in groups of all kinds and sizes. A question is answered
    by the logits of its places, and halts by the largest of their halting logits.

    Args:
        groups: of the places. For other groups, give these weights to another step: see `on`.
        channels: numbers in the state of a place.
        noise: standard deviation of the normal noise that is added to the state in training.
    """

    members: Tensor
    slots: Tensor

    def __init__(self, groups: Groups, channels: int, noise: float = 0.0) -> None:
        super().__init__()
        self.register_buffer("members", groups.members, persistent=False)
        self.register_buffer("slots", groups.slots, persistent=False)
        self.asked, self.channels = groups.asked, check_int("channels", channels, 1)
        self.noise = check_real("noise", noise, 0, open_low=False)
        self.from_x, self.heads = nn.Linear(2, channels), nn.Linear(channels, 2)
        self.own, self.heard = nn.Linear(channels, channels), nn.Linear(channels, channels)
        self.from_h, self.from_m = nn.Linear(channels, channels), nn.Linear(channels, channels)

    def on(self, groups: Groups) -> "CoverStep":
        """Return a step with a copy of these weights, for other groups."""
        step = type(self)(groups, self.channels, self.noise)
        step.load_state_dict(self.state_dict())
        return step

    @property
    def groups(self) -> Groups:
        """Of the places."""
        return Groups(self.members, self.slots, self.asked)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x: signs [batch, ...] of places, 1 given on, -1 given off, 0 open -> what each step reads, and zeros."""
        signs = x.flatten(1)
        if signs.shape[1] != len(self.slots):
            raise ValueError(f"x must have {len(self.slots)} places, as the step's groups; got {signs.shape[1]}")
        z = self.from_x(torch.stack([signs == 1, signs == -1], dim=2).to(self.from_x.weight.dtype))
        return z, torch.zeros_like(z)

    def move(self, z: Tensor, h: Tensor) -> Tensor:
        """Return the next state, [batch, places, channels]."""
        messages = torch.relu(self.own(h)[:, :, None] + self.heard(others(h, self.groups, NOBODY)))
        exists = self.slots < self.members.numel()  # a place that is in fewer groups than others hears fewer messages
        return self.next_state(z, h, (messages * exists[:, :, None]).amax(2))

    def next_state(self, z: Tensor, h: Tensor, message: Tensor) -> Tensor:
        """Return h' of the message m, all [batch, places, channels]."""
        h = torch.tanh(self.from_h(h) + self.from_m(message) + z)
        return h + self.noise * torch.randn_like(h) if self.training and self.noise else h

    def read(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Return y_hat_n [batch, asked, size], the logits of each question's places, and a_n [batch, asked]."""
        at_places = nn.functional.pad(self.heads(h), (0, 0, 0, 1), value=NEVER)
        y_hat, votes = at_places[:, self.members[: self.asked]].unbind(3)
        return y_hat, votes.amax(2)
