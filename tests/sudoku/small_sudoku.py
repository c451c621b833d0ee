"""A small network of lesson 10."""

from functools import partial

from network import N, Network
from torch import nn

from ponder_course.sudoku.cover import CoverStep
from ponder_course.sudoku.experiment import loss_of_cells
from ponder_course.sudoku.task import SudokuTask, sudoku_groups
from ponder_utils import PonderLoss, PonderNet

NETWORKS = {
    "10 sudoku": Network(
        lambda: PonderNet(CoverStep(sudoku_groups(2), 8, 0.1), N),
        partial(SudokuTask(2).batch, 6),
        loss_of_cells(PonderLoss(nn.CrossEntropyLoss(reduction="none"), 0.8), charge=0.5),
    )
}
TASKS = {"sudoku": SudokuTask(2)}
