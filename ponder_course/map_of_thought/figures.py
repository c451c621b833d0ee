"""Figures of mazes: whose star is nearest to each place, how many steps it needs, and how many it takes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from torch import Tensor

from ponder_course.common import style
from ponder_course.common.machines import ARROW
from ponder_course.common.store import Row
from ponder_course.common.style import legend, lines, panels, percent_axis, slide
from ponder_course.map_of_thought.task import MazeTask, distances
from ponder_utils.pondernet import PonderNet

WALL = "#333333"
SIDES = ListedColormap([style.BLUE, style.PURPLE])
CHANGED = ListedColormap([style.PALE_GREY])
STEPS = ListedColormap(mpl.colormaps["YlOrBr"](np.linspace(0.1, 1.0, 256)))  # without its white
THOUGHT = ListedColormap(STEPS(np.linspace(0.0, 0.8, 256)))  # and without its browns: in grey they look like walls
Grid = ArrayLike  # [height, width]


def draw_grid(ax: Axes, values: Grid, maze: Grid, asked: Grid = True, **settings: Any) -> Any:
    """Draw a value at each open place and a star where there is one; what is not a number is left white.

    maze: [3, height, width], open places and stars of both colours, as from `MazeTask`.
    asked: where not, there is a cross instead of the value.
    """
    is_open, first, second = np.asarray(maze, bool)
    is_asked = is_open & np.asarray(asked, bool)
    height, width = is_open.shape
    box = (0.5, width + 0.5, height + 0.5, 0.5)
    ax.imshow(np.where(is_open, np.nan, 0.0), cmap=ListedColormap([WALL]), extent=box)
    image = ax.imshow(np.where(is_asked, values, np.nan), extent=box, **settings)
    size = min(260.0, 5200.0 / height)
    rows, columns = np.nonzero(is_open & ~is_asked)
    ax.scatter(columns + 1, rows + 1, marker="x", s=size / 4, color=style.DARK_GREY, linewidth=1.2)
    for stars, colour in ((first, style.BLUE), (second, style.PURPLE)):
        rows, columns = np.nonzero(stars)
        ax.scatter(columns + 1, rows + 1, marker="*", s=size, color=colour, edgecolor="white", linewidth=1.2, zorder=3)
    ax.set(xticks=[], yticks=[])
    ax.grid(visible=False)
    ax.spines[:].set(visible=True, color=WALL, linewidth=2)
    return image


@slide
def maze(x: Grid, way: Sequence[tuple[int, int]] = ()) -> Figure:
    """Draw a maze with its stars, and rows and columns counted from 1; a dot is a cell, which is always open.

    way: places, (row, column), that arrows lead through; they are numbered from 1.
    """
    figure, (ax,) = panels(1, width=4.6, height=4.6)
    _, height, width = np.shape(x)
    draw_grid(ax, np.nan, x)
    ax.set(xticks=range(1, width + 1), yticks=range(1, height + 1), xlabel="column", ylabel="row")
    ax.set_xticks(np.arange(1.5, width), minor=True)
    ax.set_yticks(np.arange(1.5, height), minor=True)
    ax.grid(visible=True, which="minor", color=style.PALE_GREY, linewidth=0.8)
    ax.tick_params(which="minor", length=0)
    rows, columns = np.meshgrid(np.arange(1, height + 1, 2), np.arange(1, width + 1, 2))
    ax.scatter(columns, rows, s=16, color=style.GREY, zorder=1)
    for n, (row, column) in enumerate(way, 1):
        ax.text(column - 0.42, row - 0.4, str(n), ha="left", va="top", fontsize=12.5, fontweight="bold")
    for (row, column), (next_row, next_column) in pairwise(way):
        ax.annotate("", (next_column, next_row), (column, row), arrowprops=ARROW | {"color": style.PURPLE})
    return figure


@torch.no_grad()
def reached_and_changed(model: PonderNet, maze: Tensor) -> tuple[Tensor, Tensor]:
    """Return which places the news has reached, and which have changed, when the first blue star turns pink.

    maze: [3, height, width]; both bool [N, height, width]. A place changes if its answer, or its halting logit, does.
    """
    turned = maze.clone()
    row, column = maze[1].nonzero()[0].tolist()
    turned[1:, row, column] = maze.new_tensor([0.0, 1.0])
    before, after = model(maze[None]), model(turned[None])
    differs = ((before.y_hat != after.y_hat) | (before.halt_logits != after.halt_logits))[:, 0]
    steps = torch.arange(1, len(differs) + 1)[:, None, None]
    reached = distances(maze[:1], maze[1:2] - turned[1:2])[0] < steps  # the cone of this star
    return reached, differs


@slide
def three_maps(maze: Grid, answers: Grid, needed: Grid, taken: Grid, asked: Grid, border: int = 0) -> Figure:
    """Draw whose star is nearest (0 or 1), how many steps that needs, and how many the network takes, on one scale.

    Places that are not asked have a cross; a circle is where the network takes more or fewer steps than needed.
    border: the largest number of steps in training, marked on the scale; 0 for none.
    """
    figure, axes = panels(3, width=3.4, height=3.9)
    counted, need, steps = np.asarray(maze, bool)[0] & np.asarray(asked, bool), np.asarray(needed), np.asarray(taken)
    last = np.maximum(need, steps)[counted].max()
    draw_grid(axes[0], answers, maze, asked, cmap=SIDES, vmin=0, vmax=1)
    draw_grid(axes[1], need, maze, asked, cmap=THOUGHT, vmin=1, vmax=last)
    image = draw_grid(axes[2], steps, maze, asked, cmap=THOUGHT, vmin=1, vmax=last)
    rows, columns = np.nonzero(counted & (need != steps))
    for colour, width in (("white", 4.0), (style.LIMIT, 1.5)):
        axes[2].scatter(columns + 1, rows + 1, s=240, facecolor="none", edgecolor=colour, linewidth=width, zorder=4)
    for ax, title in zip(axes, ("the network's answer", "steps needed", "steps taken"), strict=True):
        ax.set_title(title)
    bar = figure.colorbar(image, ax=axes[1:], location="bottom", shrink=0.6, aspect=40, pad=0.03, label="steps")
    if border:
        bar.ax.axvline(border, color=style.LIMIT, linewidth=2.4)
        bar.set_label(f"steps (black mark: {border}, the most in training)")
    return figure


@slide
def moments(
    maze: Grid, answers: Grid, taken: Grid, steps: Sequence[int], asked: Grid = True, size: float = 2.5, **colours: Any
) -> Figure:
    """Draw, after each of some steps, the answers of places that have halted; those that still think are white.

    colours: other ones, a `cmap`.
    """
    figure, axes = panels(len(steps), width=size, height=size + 0.4)
    for ax, n in zip(axes, steps, strict=True):
        values = np.where(np.asarray(taken) <= n, answers, np.nan)
        draw_grid(ax, values, maze, asked, **{"cmap": SIDES, "vmin": 0, "vmax": 1} | colours)
        ax.set_title(f"step {n}")
    return figure


def near_a_front(x: Tensor, margin: int = 4) -> Tensor:
    """Return the places to which the other colour is at most so many steps farther, and not as far: x [mazes, 3, ...].

    Bool [mazes, height, width].
    """
    to_blue, to_pink = distances(x[:, 0], x[:, 1]), distances(x[:, 0], x[:, 2])
    return ((to_blue - to_pink).abs() <= margin) & (MazeTask.answers(x) >= 0)


@slide
def mistakes(maze: Grid, answers: Grid, is_wrong: Grid, asked: Grid) -> Figure:
    """Draw the answers at the places of a maze that are asked, pale, and those that are wrong."""
    figure, (ax,) = panels(1, width=4.6, height=4.6)
    draw_grid(ax, answers, maze, asked, cmap=SIDES, vmin=0, vmax=1, alpha=0.35)
    draw_grid(ax, np.where(is_wrong, 1.0, np.nan), maze, asked, cmap=ListedColormap([style.WRONG]))
    return figure


def encircle(figure: Figure, row: int, column: int) -> None:
    """Draw a circle around a place of a figure's first maze; rows and columns count from 0."""
    for colour, width in (("white", 5.0), (style.LIMIT, 2.5)):
        at = (column + 1, row + 1)
        figure.axes[0].scatter(*at, s=240, facecolor="none", edgecolor=colour, linewidth=width, zorder=4)


def ends_of(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Return the fractions of large mazes that stored networks have right when places stop, and at the last step."""
    return [(row["20"]["mazes"], row["20"]["by_step"]["mazes"][-1]) for row in rows]


@slide
def if_all_think_on(kinds: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """Draw the fraction of mazes right when places stop, and at the end if all think on: a line for each network.

    kinds: of two trainings, as from `ends_of`.
    """
    figure, (ax,) = panels(1, width=6.6, height=4.0)
    for (name, networks), dashes, colour in zip(
        kinds.items(), ("-", "--"), (style.ANSWER, style.DARK_GREY), strict=True
    ):
        lines(ax, (0, 1), networks, color=colour, linestyle=dashes, marker="o", label=name)
    ax.set(xticks=(0, 1), xticklabels=("when each place stops", "at the last step"), xlim=(-0.2, 1.2), xlabel="answers")
    percent_axis(ax, ylabel="mazes right at every place", yticks=np.linspace(0.5, 1, 6), ylim=(0.48, 1.03))
    return legend(figure, columns=2)
