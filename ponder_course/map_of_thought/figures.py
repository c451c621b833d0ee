"""Figures of mazes: whose star is nearest to each place, how many steps it needs, and how many it takes."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike

from ponder_course.common.style import (
    ANSWER,
    BLUE,
    DARK_GREY,
    DARK_ORANGE,
    HALTING,
    LIMIT,
    PURPLE,
    WRONG,
    Line,
    legend,
    look,
    panels,
    slide,
    step_axis,
)

WALL = "#333333"
SIDES = ListedColormap([BLUE, PURPLE])
WHITE = ListedColormap(["#FFFFFF"])
STEPS = ListedColormap(mpl.colormaps["YlOrBr"](np.linspace(0.1, 1.0, 256)))  # without its white
THOUGHT = ListedColormap(STEPS(np.linspace(0.0, 0.8, 256)))  # and without its browns: in grey they look like walls
Grid = ArrayLike  # [height, width]


def draw_grid(ax: Axes, values: Grid, maze: Grid, asked: Grid = True, **style: Any) -> Any:
    """Draw a value at each open place and a star where there is one; what is not a number is left white.

    maze: [3, height, width], open places and stars of both colours, as from `MazeTask`.
    asked: where not, there is a cross instead of the value.
    """
    is_open, first, second = np.asarray(maze, bool)
    is_asked = is_open & np.asarray(asked, bool)
    height, width = is_open.shape
    box = (0.5, width + 0.5, height + 0.5, 0.5)
    ax.imshow(np.where(is_open, np.nan, 0.0), cmap=ListedColormap([WALL]), extent=box)
    image = ax.imshow(np.where(is_asked, values, np.nan), extent=box, **style)
    size = min(260.0, 5200.0 / height)
    rows, columns = np.nonzero(is_open & ~is_asked)
    ax.scatter(columns + 1, rows + 1, marker="x", s=size / 4, color=DARK_GREY, linewidth=1.2)
    for stars, colour in ((first, BLUE), (second, PURPLE)):
        rows, columns = np.nonzero(stars)
        ax.scatter(columns + 1, rows + 1, marker="*", s=size, color=colour, edgecolor="white", linewidth=1.2, zorder=3)
    ax.set(xticks=[], yticks=[])
    ax.grid(visible=False)
    for spine in ax.spines.values():
        spine.set(visible=True, color=WALL, linewidth=2)
    return image


@slide
def maze(x: Grid) -> Figure:
    """Draw a maze with its stars, and rows and columns counted from 1."""
    figure, (ax,) = panels(1, width=4.6, height=4.6)
    _, height, width = np.shape(x)
    draw_grid(ax, np.zeros((height, width)), x, cmap=WHITE)
    ax.set(xticks=range(1, width + 1), yticks=range(1, height + 1), xlabel="column", ylabel="row")
    return figure


@slide
def three_maps(maze: Grid, answers: Grid, needed: Grid, taken: Grid, asked: Grid, border: int = 0) -> Figure:
    """Draw whose star is nearest (0 or 1), how many steps that needs, and how many the network takes, on one scale.

    Places that are not asked have a cross; a circle is where the network takes more or fewer steps than needed.
    border: the largest number of steps in training, marked on the scale; 0 for none.
    """
    figure, axes = panels(3, width=3.4, height=3.9)
    counted = np.asarray(maze, bool)[0] & np.asarray(asked, bool)
    last = max(np.asarray(needed)[counted].max(), np.asarray(taken)[counted].max())
    draw_grid(axes[0], answers, maze, asked, cmap=SIDES, vmin=0, vmax=1)
    for ax, values in zip(axes[1:], (needed, taken), strict=True):
        image = draw_grid(ax, values, maze, asked, cmap=THOUGHT, vmin=1, vmax=last)
    rows, columns = np.nonzero(counted & (np.asarray(needed) != np.asarray(taken)))
    for colour, width in (("white", 4.0), (LIMIT, 1.5)):
        axes[2].scatter(columns + 1, rows + 1, s=240, facecolor="none", edgecolor=colour, linewidth=width, zorder=4)
    for ax, title in zip(axes, ("the network's answer", "steps needed", "steps taken"), strict=True):
        ax.set_title(title)
    bar = figure.colorbar(image, ax=axes[1:], location="bottom", shrink=0.6, aspect=40, pad=0.03, label="steps")
    if border:
        bar.ax.axvline(border, color=LIMIT, linewidth=2.4)
        bar.set_label(f"steps (black mark: {border}, the most in training)")
    return figure


@slide
def moments(
    maze: Grid, answers: Grid, taken: Grid, steps: Sequence[int], asked: Grid = True, size: float = 2.5
) -> Figure:
    """Draw, after each of some steps, the answers of places that have halted; those that still think are white."""
    figure, axes = panels(len(steps), width=size, height=size + 0.4)
    for ax, n in zip(axes, steps, strict=True):
        draw_grid(ax, np.where(np.asarray(taken) <= n, answers, np.nan), maze, asked, cmap=SIDES, vmin=0, vmax=1)
        ax.set_title(f"step {n}")
    return figure


@slide
def mistakes(maze: Grid, answers: Grid, is_wrong: Grid, asked: Grid) -> Figure:
    """Draw the answers at the places of a maze that are asked, pale, and those that are wrong."""
    figure, (ax,) = panels(1, width=4.6, height=4.6)
    draw_grid(ax, answers, maze, asked, cmap=SIDES, vmin=0, vmax=1, alpha=0.35)
    draw_grid(ax, np.where(is_wrong, 1.0, np.nan), maze, asked, cmap=ListedColormap([WRONG]))
    return figure


@slide
def against_need(networks: Sequence[Mapping[int, float]], border: int, live: int = 0) -> Figure:
    """Draw the mean steps of places by the steps that they need, and what they are too many; beyond the border is grey.

    networks: {steps needed: mean steps taken} of each, at least one. The first `live`, if any, are thick, others pale.
    """
    last = max(max(steps) for steps in networks)
    figure, axes = panels(2, width=7.4, height=2.7, rows=2, sharex=True, height_ratios=(3, 2))
    for ax in axes:
        ax.axvspan(border + 0.5, last, color="#EEEEEE", zorder=0, linewidth=0)
    axes[0].plot([1, last], [1, last], color=LIMIT, linewidth=1.4)
    axes[1].plot([1, last], [0, 0], color=LIMIT, linewidth=1.4)
    for i, steps in enumerate(networks):
        needed, taken = np.array(list(steps.items())).T
        axes[0].plot(needed, taken, color=HALTING, linestyle="--")
        width, alpha = (1.0, 0.4 if live else 1.0) if i >= live else (2.0, 1.0)
        axes[1].plot(needed, taken - needed, color=HALTING, linewidth=width, alpha=alpha, zorder=3 - (i >= live))
    axes[0].text(border + 1, 1.02 * last, "more steps than in training", va="top", color=DARK_GREY)
    axes[0].text(0.56 * last, 0.62 * last, "dashes: steps taken", color=DARK_ORANGE, ha="right")
    axes[0].text(0.6 * last, 0.55 * last, "line: steps needed", color=LIMIT, va="top")
    axes[0].set(ylabel="steps taken", xlim=(1, last), ylim=(0, 1.04 * last))
    axes[1].set(xlabel="steps that a place needs", ylabel="steps too many")
    return figure


@slide
def right_by_step(together: Sequence[Line], by_itself: Sequence[Line], forgotten: Sequence[Line]) -> Figure:
    """Draw fractions of mazes by step, [N] for each network: right all at that step, or by themselves; forgotten."""
    figure, (above, below) = panels(2, width=7.4, height=2.7, rows=2, sharex=True, height_ratios=(3, 2))
    looks = ((above, together, ANSWER, "-"), (above, by_itself, HALTING, "--"), (below, forgotten, WRONG, "-"))
    for ax, lines, colour, dashes in looks:
        for line in lines:
            n = step_axis(ax, len(line))
            ax.plot(n, line, color=colour, linestyle=dashes, linewidth=1.8)
    above.text(n[-1], 1.03, "every place halts by itself", color=DARK_ORANGE, ha="right", va="bottom")
    end = min(line[-1] for line in together)
    above.text(n[-1], max(end - 0.03, 0.1), "all stop at step $n$", color=ANSWER, ha="right", va="top")
    below.text(n[-1], 0.95, "a place that was right is wrong now", color=WRONG, ha="right", va="top")
    above.set(ylabel="mazes right", xlabel="", ylim=(0, 1.16), yticks=np.linspace(0, 1, 6))
    below.set(ylabel="mazes with\na lost answer", ylim=(0, 1), yticks=(0, 0.5, 1))
    for ax in (above, below):
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    return figure


@slide
def right_by_size(right: Mapping[str, Mapping[int, Line]]) -> Figure:
    """Draw how many mazes are right by their places on a side, a line for each network: {kind: {side: one each}}.

    Networks stand side by side, so that equal ones do not hide each other. The first kind is PonderNet's.
    """
    figure, (ax,) = panels(1, width=7.4, height=4.2)
    for which, (kind, by_side) in enumerate(right.items()):
        networks = list(zip(*by_side.values(), strict=True))
        for i, network in enumerate(networks):
            aside = np.array(list(by_side)) + 0.5 * (i - (len(networks) - 1) / 2)
            label = kind if i == 0 else None  # one name for all of a kind
            ax.plot(aside, network, **look(which, color=(HALTING, ANSWER, DARK_GREY)[which % 3]), label=label)
    sides = sorted(set().union(*right.values()))
    ax.set(xlabel="places on a side", ylabel="whole mazes right", ylim=(-0.03, 1.05), xticks=sides)
    return legend(figure)
