"""The checks of lesson 10's exercises: each takes an answer, for `attempt`, and fails where it is wrong."""

from collections.abc import Callable

from ponder_course.sudoku.task import SudokuTask, read_board, signs

SMALL = "3... .4.. 1.3. ...."  # the sudoku that the lesson draws first, and whose last cell is asked
FINISHED = """
53. .7. ...   6.. 195 ...   .98 ... .6.
8.. .6. ..3   4.. 8.3 ..1   7.. .2. ..6
.6. ... 28.   ... 419 ..5   ... .8. .79"""  # of 9 x 9; elimination finds all of its 51 open cells
HALF = """
6.. 58. ..3   2.. ..4 1.5   .1. ..3 ..4
.8. ... ...   4.7 ..8 ...   ..3 .6. .5.
... ... .2.   1.. 2.. 4.6   3.. ... ..."""  # with one solution, of whose 57 open cells elimination finds 29


def check_last_cell(answer: Callable[[], tuple[int, int, int]]) -> None:
    """Check the row and the column, from 1, of the cell of `SMALL` that is known last, and its round."""
    row, column, last = answer()
    needed = SudokuTask.needed_steps(signs(read_board(SMALL))).view(4, 4)
    last_round = int(needed[row - 1, column - 1])
    assert last_round == needed.max(), "another cell is known later"
    assert last == last_round, "the digit of that cell is known in another round"
