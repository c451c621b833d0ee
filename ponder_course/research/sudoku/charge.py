"""Lesson 10's recipe with one more term: cells that elimination cannot know are charged for halting."""

from ponder_course.common.runs import grid, seeded
from ponder_course.research.sudoku.experiment import SMALL, run

CHARGED = {"charge": 1.0, "tests": [*SMALL]}
SHORT = {"tests": ["4 x 4"], "updates": 5, "batch": 8}
EXPERIMENTS = {"charge": grid("10_sudoku_charge", run, seeded([CHARGED], 10), SHORT)}
