"""Figures of sudokus: answers, rounds and steps on boards, and the tree of guesses."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from ponder_course.common import style
from ponder_course.common.style import bare, panels, slide
from ponder_course.sudoku.search import Search, fits

THOUGHT = ListedColormap(mpl.colormaps["YlOrBr"](np.linspace(0.0, 0.75, 256)))
Board = ArrayLike  # [side, side]
LAST = 11  # rounds or steps: what has the darkest colour, unless a board has more
HALTED_NOW = "#FCE6BC"  # the colour of halting, pale


def draw_board(ax: Axes, numbers: Board, given: Board, colour: str = style.BLACK, size: float = 15.0) -> None:
    """Write a number into each cell of a board, none where it is 0; those of cells that are given are bold and black.

    numbers, given: [side, side]; given is 0 where a cell is open.
    """
    numbers, given = np.asarray(numbers), np.asarray(given)
    side = len(numbers)
    box = math.isqrt(side)
    for line in range(side + 1):
        width = 2.2 if line % box == 0 else 0.7
        ax.plot([0.5, side + 0.5], [line + 0.5] * 2, color=style.BLACK, linewidth=width)
        ax.plot([line + 0.5] * 2, [0.5, side + 0.5], color=style.BLACK, linewidth=width)
    for row, column in zip(*np.nonzero(numbers), strict=True):
        is_given = given[row, column] > 0
        font: dict[str, Any] = {"color": style.BLACK, "fontweight": "bold"} if is_given else {"color": colour}
        text = f"{numbers[row, column]}"
        ax.text(column + 1, row + 1, text, ha="center", va="center_baseline", fontsize=size, **font)
    bare(ax)
    ax.set(xlim=(0.4, side + 0.6), ylim=(side + 0.6, 0.4), aspect="equal")


def _fill(ax: Axes, where: np.ndarray, colour: str) -> None:
    """Fill the cells of a board that are meant, [height, width], with one colour."""
    ax.imshow(np.where(where, 0.0, np.nan), cmap=ListedColormap([colour]), extent=_extent(where))


def _extent(cells: np.ndarray) -> tuple[float, float, float, float]:
    """Return left, right, bottom and top of a board whose cells are counted from 1, downwards."""
    height, width = cells.shape
    return 0.5, width + 0.5, height + 0.5, 0.5


def draw_times(ax: Axes, times: Board, given: Board, last: float) -> None:
    """Colour the open cells of a board by rounds or steps, up to the last, and write these; 0, never, is grey.

    Given cells are pale grey.
    """
    times, is_open = np.asarray(times), np.asarray(given) == 0
    _fill(ax, ~is_open, "#EEEEEE")
    _fill(ax, is_open & (times == 0), style.GREY)
    shown = np.where(is_open & (times > 0), times, np.nan)
    ax.imshow(shown, cmap=THOUGHT, vmin=1, vmax=last, extent=_extent(times))
    draw_board(ax, np.where(is_open, times, 0), np.zeros_like(times), style.BLACK, size=12.0)


@slide
def marks_by_round(known: ArrayLike, since: ArrayLike, last: int, cell: tuple[int, int]) -> Figure:
    """Draw what is known of each digit in each cell after each round, up to the last, and frame one cell.

    known, since: as `rounds` returns them, [row, column, digit]. A digit that is on fills its cell. In the others the
    digits are small, and crossed if they are off. cell: row and column, from 1.
    """
    figure, axes = panels(last, width=3.3, height=4.0)
    known, since = np.asarray(known), np.asarray(since)
    side = len(known)
    box = math.isqrt(side)
    is_given = ((known == 1) & (since == 1)).any(2)
    for n, ax in enumerate(axes, 1):
        is_known = (since > 0) & (since <= n)
        board = (((known == 1) & is_known) * np.arange(1, side + 1)).sum(2)
        draw_board(ax, board, is_given, style.ANSWER)
        for row, column, digit in np.argwhere(np.broadcast_to(board[:, :, None] == 0, known.shape)):
            x, y = column + 0.5 + (digit % box + 0.5) / box, row + 0.5 + (digit // box + 0.5) / box
            is_off = is_known[row, column, digit]
            ink = style.GREY if is_off else style.BLACK
            ax.text(x, y, f"{digit + 1}", ha="center", va="center_baseline", fontsize=12.5, color=ink)
            if is_off:
                ax.plot([x - 0.13, x + 0.13], [y + 0.13, y - 0.13], color=style.DARK_GREY, linewidth=0.9)
        corner = (cell[1] - 0.5, cell[0] - 0.5)
        ax.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=style.HALTING, linewidth=3.5, zorder=5))
        ticks = range(1, side + 1)
        ax.set(xticks=ticks, yticks=ticks, xlabel="column", title=f"after round {n}")
        ax.tick_params(length=0)
    axes[0].set(ylabel="row")
    return figure


@slide
def boards(given: Board, answers: Board, times: Mapping[str, Board]) -> Figure:
    """Draw what a network answers, and beside it, under their names, boards of rounds needed or steps taken.

    All are [side, side], whole numbers; 0 is an open cell, no answer, and never.
    """
    figure, axes = panels(1 + len(times), width=3.3, height=3.3)
    draw_board(axes[0], answers, given, style.ANSWER)
    axes[0].set_title("the network's answer")
    last = max(LAST, *(np.asarray(board).max() for board in times.values()))
    for ax, (name, board) in zip(axes[1:], times.items(), strict=True):
        draw_times(ax, board, given, last)
        ax.set_title(name)
    return figure


@slide
def moments(given: Board, answers: Board, taken: Board, steps: Sequence[int], size: float = 2.5) -> Figure:
    """Draw, after each of some steps, the answers of cells that have halted; open cells still think.

    Those on a pale ground have halted since the panel before, in the first panel at its very step.
    """
    figure, axes = panels(len(steps), width=size, height=size + 0.4)
    times = np.asarray(taken)
    for ax, before, n in zip(axes, [steps[0] - 1, *steps], steps, strict=False):
        halted = (times > 0) & (times <= n)
        _fill(ax, halted & (times > before) & (np.asarray(given) == 0), HALTED_NOW)
        draw_board(ax, np.where(halted, answers, given), given, style.ANSWER, size=11.0 if size < 4 else 18.0)
        ax.set_title(f"step {n}")
    return figure


@slide
def tiling(pieces: Board, times: Board, given: Board) -> Figure:
    """Draw pieces on a board with borders between them, and the step at which each has halted in its middle.

    All are [height, width]: the number of the piece on each cell, from 1, the step, and whether the piece is given; 0
    is none, never and no. Given ones are pale grey, and on a cell without a piece nothing is drawn.
    """
    pieces, times, is_given = np.asarray(pieces), np.asarray(times), np.asarray(given) > 0
    height, width = pieces.shape
    figure, (ax,) = panels(1, width=0.62 * width, height=0.62 * height)
    _fill(ax, is_given, style.PALE_GREY)
    shown = np.where((times > 0) & ~is_given, times, np.nan)
    ax.imshow(shown, cmap=THOUGHT, vmin=1, vmax=max(2, times.max()), extent=_extent(times))
    framed = np.pad(pieces, 1)
    for row, column in np.ndindex(height + 1, width + 1):
        corner = framed[row : row + 2, column : column + 2]
        x, y = column + 0.5, row + 0.5
        border: dict[str, Any] = {"color": style.BLACK, "linewidth": 2.0, "solid_capstyle": "round"}
        if corner[0, 1] != corner[1, 1]:
            ax.plot([x, x + 1], [y, y], **border)
        if corner[1, 0] != corner[1, 1]:
            ax.plot([x, x], [y, y + 1], **border)
    for piece in {*pieces[~is_given & (times > 0)].tolist()}:
        cells = np.argwhere(pieces == piece)
        row, column = cells[np.abs(cells - cells.mean(0)).sum(1).argmin()]
        text = f"{times[row, column]}"
        ax.text(column + 1, row + 1, text, ha="center", va="center_baseline", fontsize=18, fontweight="bold")
    bare(ax)
    ax.set(xlim=(0.4, width + 0.6), ylim=(height + 0.6, 0.4), aspect="equal")
    return figure


def depths_of(search: Search) -> list[int]:
    """Return how many digits were tried before each thought of a search, those included that had no rival left."""
    depths: list[int] = []
    for thought in search.thoughts:
        depths.append(0 if thought.parent < 0 else depths[thought.parent] + 1)
    return depths


@slide
def trees(searches: Mapping[str, Search]) -> Figure:
    """Draw how many guesses have led to each thought, thought by thought, of several searches.

    Crosses are contradictions, a star is the solution. Titles say in how many open cells the first thought halts.
    """
    figure, axes = panels(len(searches), width=10.0 / len(searches), height=3.6, sharey=True)
    for ax, (name, search) in zip(axes, searches.items(), strict=True):
        depths = depths_of(search)
        for number, thought in enumerate(search.thoughts):
            if thought.parent >= 0:
                ends = [thought.parent, number]
                ax.plot(np.add(ends, 1), [depths[end] for end in ends], color=style.PALE_GREY, linewidth=1, zorder=1)
        for is_right, colour, marker in ((True, style.ANSWER, "o"), (False, style.WRONG, "x")):
            points = [
                (n + 1, depths[n]) for n, thought in enumerate(search.thoughts) if fits(thought.answers) == is_right
            ]
            x, y = np.reshape(points, (-1, 2)).T
            ax.scatter(x, y, s=16, color=colour, marker=marker, zorder=2)
        if search.solved is not None:
            ax.plot(len(depths), depths[-1], "*", markersize=14, color=style.HALTING, zorder=3)
        first = search.thoughts[0]
        is_open = first.board == 0
        title = f"{name}: at first {(is_open & (first.answers > 0)).sum()} of {is_open.sum()} cells halt"
        ax.set(title=title, xlabel="thought", xlim=(0, 1.03 * len(depths) + 1))
    axes[0].set(ylabel="guesses kept")
    axes[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    axes[0].invert_yaxis()
    return figure
