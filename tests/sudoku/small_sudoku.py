"""A small network of lesson 10."""

from functools import partial

from network import N, Network

from ponder_course.sudoku.lesson import CoverStep, loss_of_cells
from ponder_course.sudoku.task import SudokuTask, sudoku_groups
from ponder_utils import PonderNet

NETWORKS = {
    "10 sudoku": Network(
        lambda: PonderNet(CoverStep(sudoku_groups(2), 8, 0.1), N), partial(SudokuTask(2).batch, 6), loss_of_cells
    )
}
TASKS = {"sudoku": SudokuTask(2)}
