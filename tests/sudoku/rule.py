"""The rule of elimination in place of a network."""

import torch

from ponder_course.sudoku.cover import rounds
from ponder_course.sudoku.lesson import CoverStep


class Rule(CoverStep):
    """A step that knows at step n what the rule knows in round n, and halts then."""

    def encode(self, x):
        self.known, self.found = rounds(x.flatten(1), self.groups)
        return x, torch.zeros(())

    def move(self, z, h):
        return h + 1

    def read(self, h):
        logits = torch.where((self.found > 0) & (self.found <= h), 9.0 * self.known, 0.0)
        at_places = torch.nn.functional.pad(logits, (0, 1), value=-30.0)
        at_places = at_places[:, self.groups.members[: self.groups.asked]]
        return at_places, at_places.amax(2) - 4.5
