"""Figures of sudokus: answers, rounds and steps on boards, who waits, and the tree of guesses."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from torch import Tensor

from ponder_course.common import style
from ponder_course.common.store import Row
from ponder_course.common.style import Line, bare, lines, panels, percent_axis, slide, step_axis
from ponder_course.sudoku.search import Search

THOUGHT = ListedColormap(mpl.colormaps["YlOrBr"](np.linspace(0.0, 0.75, 256)))
Board = ArrayLike  # [side, side]
STAYS_AT_0 = 0.01  # of the cells, at most, have halted where we say that a network waits


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


def draw_times(ax: Axes, times: Board, given: Board, last: float) -> Any:
    """Colour the open cells of a board by rounds or steps, up to the last, and write these; 0, never, is grey.

    Given cells are pale grey.
    """
    times, is_open = np.asarray(times), np.asarray(given) == 0
    _fill(ax, ~is_open, "#EEEEEE")
    _fill(ax, is_open & (times == 0), style.GREY)
    shown = np.where(is_open & (times > 0), times, np.nan)
    image = ax.imshow(shown, cmap=THOUGHT, vmin=1, vmax=last, extent=_extent(times))
    draw_board(ax, np.where(is_open, times, 0), np.zeros_like(times), style.BLACK, size=12.0)
    return image


@slide
def marks_by_round(known: Sequence[Mapping[int, bool]], side: int, cell: tuple[int, int]) -> Figure:
    """Draw what is known of each digit in each cell after each round, from the first on, and frame one cell.

    known: by round, {place: is it on?}; a place counts row, column and digit. A digit that is on fills its cell. In the
    others the digits are small, and crossed if they are off. cell: row and column, from 1.
    """
    figure, axes = panels(len(known), width=3.3, height=3.6)
    box = math.isqrt(side)
    boards = [np.zeros((side, side), int) for _ in known]
    for n, (ax, is_on) in enumerate(zip(axes, known, strict=True)):
        for place in [place for place, it_is in is_on.items() if it_is]:
            boards[n].flat[place // side] = place % side + 1
        draw_board(ax, boards[n], boards[0], style.ANSWER)
        for place in range(side**3):
            (row, column), digit = divmod(place // side, side), place % side
            if boards[n][row, column]:
                continue
            x, y = column + 0.5 + (digit % box + 0.5) / box, row + 0.5 + (digit // box + 0.5) / box
            is_off = place in is_on
            ink = style.GREY if is_off else style.BLACK
            ax.text(x, y, f"{digit + 1}", ha="center", va="center_baseline", fontsize=11, color=ink)
            if is_off:
                ax.plot([x - 0.13, x + 0.13], [y + 0.13, y - 0.13], color=style.DARK_GREY, linewidth=0.9)
        around = [(cell[1] + dx, cell[0] + dy) for dx, dy in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))]
        ax.add_patch(Polygon(around, fill=False, edgecolor=style.HALTING, linewidth=3.5, zorder=5))
        ticks = range(1, side + 1)
        ax.set(xticks=ticks, yticks=ticks, xlabel="column", title=f"after round {n + 1}")
        ax.tick_params(length=0)
    axes[0].set(ylabel="row")
    return figure


@slide
def three_boards(given: Board, answers: Board, needed: Board, taken: Board) -> Figure:
    """Draw what a network answers, in how many rounds each cell can be known, and in how many steps it halts.

    All are [side, side], whole numbers; 0 is an open cell, no answer, and never.
    """
    figure, axes = panels(3, width=3.3, height=3.8)
    draw_board(axes[0], answers, given, style.ANSWER)
    last = max(np.asarray(needed).max(), np.asarray(taken).max())
    draw_times(axes[1], needed, given, last)
    image = draw_times(axes[2], taken, given, last)
    for ax, title in zip(axes, ("the network's answer", "rounds needed", "steps taken"), strict=True):
        ax.set_title(title)
    bar: dict[str, Any] = {"location": "bottom", "shrink": 0.6, "aspect": 40, "pad": 0.03}
    figure.colorbar(image, ax=axes[1:], ticks=MaxNLocator(integer=True), label="rounds, or steps", **bar)
    return figure


@slide
def moments(given: Board, answers: Board, taken: Board, steps: Sequence[int], size: float = 2.5) -> Figure:
    """Draw, after each of some steps, the answers of cells that have halted; open cells still think."""
    figure, axes = panels(len(steps), width=size, height=size + 0.4)
    times = np.asarray(taken)
    for ax, n in zip(axes, steps, strict=True):
        halted = (times > 0) & (times <= n)
        draw_board(ax, np.where(halted, answers, given), given, style.ANSWER, size=11.0 if size < 4 else 18.0)
        ax.set_title(f"step {n}")
    return figure


@slide
def halted_by_step(kinds: Mapping[str, Sequence[Line]]) -> Figure:
    """Draw the fraction of cells that have halted by each step: a line for each network of each kind.

    At the end of a line stands its kind; those that end at 1 % or below are counted.
    """
    figure, (ax,) = panels(1, width=8.4, height=3.6)
    top = max(line[-1] for networks in kinds.values() for line in networks)
    at_zero = []
    for name, networks in kinds.items():
        n = step_axis(ax, len(networks[0])).tolist()
        lines(ax, n, networks, color=style.HALTING)
        for line in networks:
            if line[-1] > STAYS_AT_0:
                style.beside(ax, f"one {name}", (n[-1], line[-1]), (0, 4), ha="right")
        at_zero.append(f"{waiting(networks)} of {len(networks)} {name}")
    style.beside(ax, "at 0: " + ", ".join(at_zero), (n[-1], 0), (0, 4), ha="right")
    percent_axis(ax, ylabel="cells that have halted", ylim=(-0.01, max(0.1, 1.25 * top)))
    ax.yaxis.set_major_formatter("{x:.0%}")
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
        ax.text(column + 1, row + 1, text, ha="center", va="center_baseline", fontsize=16, fontweight="bold")
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
    """Draw the guesses behind each thought, thought by thought, of several searches.

    Crosses are contradictions, a star is the solution.
    """
    figure, axes = panels(len(searches), width=10.0 / len(searches), height=3.6, sharey=True)
    for ax, (name, search) in zip(axes, searches.items(), strict=True):
        depths = depths_of(search)
        for number, thought in enumerate(search.thoughts):
            if thought.parent >= 0:
                ends = [thought.parent, number]
                ax.plot(np.add(ends, 1), [depths[end] for end in ends], color=style.PALE_GREY, linewidth=1, zorder=1)
        for fits, colour, marker in ((True, style.ANSWER, "o"), (False, style.WRONG, "x")):
            points = [(n + 1, depths[n]) for n, thought in enumerate(search.thoughts) if thought.fits == fits]
            x, y = np.reshape(points, (-1, 2)).T
            ax.scatter(x, y, s=16, color=colour, marker=marker, zorder=2)
        if search.solved is not None:
            ax.plot(len(depths), depths[-1], "*", markersize=14, color=style.HALTING, zorder=3)
        ax.set(title=name, xlabel="thought", xlim=(0, 1.03 * len(depths) + 1))
    axes[0].set(ylabel="guesses behind it")
    axes[0].invert_yaxis()
    return figure


def right_and_in_time(answers: Tensor, y: Tensor, needed: Tensor, taken: Tensor) -> str:
    """The finding: how many of the cells that are asked are right, and halt in their round: [cells] each."""
    asked = y >= 0
    right, exactly = ((answers == y) & asked).sum(), ((taken == needed) & asked).sum()
    return f"{right} of {asked.sum()} open cells are right; {exactly} halt at the very step at which they can be known"


def table_of(tests: Mapping[str, Sequence[Row]]) -> pd.DataFrame:
    """Return a table of what `measure` says of some networks on each size of boards, cells of all networks together."""
    found = {}
    for size, rows in tests.items():
        cells, wrong, early, exactly = (
            sum(row[what] for row in rows) for what in ("cells", "wrong", "too early", "exactly")
        )
        found[size] = {
            "cells right": f"{cells - wrong:,} of {cells:,}",
            "too early": early,
            "exactly in their round": f"{exactly / max(1, cells):.2%}",
        }
    return pd.DataFrame(found).T


def exact_in_words(tests: Sequence[Row]) -> str:
    """In how many networks every cell that can be known is right, and halts in its very round."""
    exact = [test["exactly"] == test["cells"] and test["wrong"] == 0 for test in tests]
    return f"9 x 9: all cells right and in their very round in {sum(exact)} of {len(tests)} networks"


def waiting(networks: Sequence[Line]) -> int:
    """In how many networks hardly a cell has halted by the last step."""
    return sum(network[-1] <= STAYS_AT_0 for network in networks)


def who_waits(kinds: Mapping[str, Sequence[Line]]) -> str:
    """The finding: in how many networks of each kind hardly a cell has halted by the last step."""
    found = [f"{waiting(networks)} of {len(networks)} networks ({name})" for name, networks in kinds.items()]
    return "Where elimination is stuck, cells wait in\n" + ", ".join(found)


def guesses_in_words(searches: Mapping[str, Search]) -> str:
    """The finding: how many guesses each sudoku takes."""
    return "Guesses: " + ", ".join(f"{name} {search.guesses}" for name, search in searches.items())
