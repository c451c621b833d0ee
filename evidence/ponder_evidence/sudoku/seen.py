"""Networks of lesson 10 that were seen while its recipe was chosen, without the charge, and with it."""

from ponder_course.common.runs import seeded
from ponder_evidence.runs import grid
from ponder_evidence.sudoku.experiment import SHORT, SMALL, run

SEEN = (*range(10), 100, 101, 102)
CHARGES = [SMALL | {"charge": charge} for charge in (0.0, 1.0)]
EXPERIMENTS = {"seen": grid("10_sudoku_seen", run, seeded(CHARGES, SEEN), SHORT)}
