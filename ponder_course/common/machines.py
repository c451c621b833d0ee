"""What the course's networks are made of: drawings, unrolled over their steps."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from ponder_course.common.style import BLACK, BLUE, GREEN, GREY, ORANGE, PALE_GREY, Line, panels, slide

ARROW: dict[str, Any] = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 14}


@slide
def act_cell(lambdas: Line, p: Line) -> Figure:
    """ACT at one input, unrolled: halting unit and weight p_n of each step; without weight it is never taken."""
    n_taken = sum(p_n > 0 for p_n in p)
    figure, ax = _unrolled([rf"$s_{n}$" for n in range(1, len(lambdas) + 1)], n_taken)
    for n, lambda_n in enumerate(lambdas, start=1):
        if n > n_taken:
            continue
        _box(ax, n, 2, rf"$\lambda_{n}$ = {lambda_n:.2f}", ORANGE, size=14.5)
        _arrow(ax, (n, 1.22), (n, 1.78), ORANGE)
        weight = f"{p[n - 1]:.2f}"
        if n == n_taken > 1:  # the last weight is not read from its unit
            weight = f"$1 - {sum(p[: n - 1]):.2f}$ = {weight}"
            ax.text(n, 2.45, "remainder", color=GREY, ha="center", va="center")
        else:
            _arrow(ax, (n, 2.22), (n, 2.6), GREY)
        ax.text(n, 2.75, rf"$p_{n}$ = {weight}", ha="center", va="center")
        _arrow(ax, (n, 2.92), (n, 3.38), ORANGE, width=0.6 + 7 * p[n - 1])
    ax.plot([0.8, n_taken + 0.2], [3.4, 3.4], color=BLUE)
    ax.text((n_taken + 1) / 2, 3.62, r"answer from $\sum_n\, p_n\, s_n$", color=BLUE, ha="center", va="center")
    ax.set_ylim(-0.35, 3.9)
    return figure


@slide
def light_cone(n_places: int, n_steps: int, place: int) -> Figure:
    """A line of places at every step, each hearing from its neighbours at the step before; one light cone is dark."""
    figure, (ax,) = panels(1, width=8.6, height=0.75 * n_steps + 0.8)
    places = range(n_places)
    for n in range(1, n_steps + 1):
        inside = [abs(i - place) <= n_steps - n for i in places]
        faces, edges = [BLUE if dark else "white" for dark in inside], [BLUE if dark else GREY for dark in inside]
        ax.scatter(places, [n] * n_places, s=150, c=faces, edgecolors=edges, zorder=3)
        heard = [(i, j) for i in places for j in places if abs(i - j) <= 1 and n < n_steps]
        for i, j in heard:
            dark = abs(j - place) <= n_steps - n - 1
            colour, width = (BLUE, 1.6) if dark else (PALE_GREY, 0.8)
            ax.plot([i, j], [n + 0.16, n + 0.84], color=colour, linewidth=width, zorder=1 + dark, solid_capstyle="butt")
    ax.set(xlabel="place", ylabel="step $n$", yticks=range(1, n_steps + 1), ylim=(n_steps + 0.4, 0.6))
    ax.set_xticks(places, [str(i + 1) for i in places])
    ax.grid(visible=False)
    return figure


@slide
def readers(image: Sequence[Line]) -> Figure:
    """Two networks that read an image [height, width]: behind a CNN, and on a grid; what its middle knows is dark."""
    figure, (ax,) = panels(1, width=9.4, height=5.4)
    ax.set(xlim=(0, 20), ylim=(0.1, 11.5), aspect="equal")
    ax.axis("off")
    away = np.abs(np.arange(-3, 4))
    away = np.maximum(away[:, None], away)  # steps from the middle to each place
    rows = (
        ("CNN first", "reads all, then takes steps", "seen at every step", BLUE, 8.0),
        ("patches", "each place hears from its neighbours", "each place sees its own patch, at every step", GREEN, 2.2),
    )
    for name, how, seen, colour, y in rows:
        gridded = name == "patches"
        ax.imshow(np.asarray(image), cmap="gray_r", vmin=0, vmax=1, extent=(0.2, 3.2, y - 1.5, y + 1.5))
        title = ax.text(0.2, y + 2.75, name, color=colour, fontweight="bold", fontsize=16)
        ax.annotate(f":  {how}", (1, 0), xycoords=title, va="bottom", fontsize=14.5)
        if gridded:
            _grid(ax, 1.7, y, 1.5, color=colour, alpha=0.5)
        else:
            _box(ax, 5.2, y, "CNN", colour, size=14.5)
            _arrow(ax, (3.3, y), (4.4, y), colour)
        ax.plot([3.3 if gridded else 5.85, 6.8, 6.8, 17.0], [y, y, y - 1.7, y - 1.7], color=colour, linewidth=1.4)
        ax.text(10.7, y - 1.85, seen, color=colour, ha="center", va="top", fontsize=14.5)
        for n, x in ((1, 8.6), (2, 12.8), (3, 17.0)):
            half = 1.1 if gridded else 0.45
            if gridded:
                known, shown = away < n, ListedColormap(["#CCECE3", colour])
                ax.imshow(known, cmap=shown, vmin=0, vmax=1, extent=(x - half, x + half, y - half, y + half))
                _grid(ax, x, y, half, color="white")
            else:
                _box(ax, x, y, f"step {n}", colour, size=14.5)
            _arrow(ax, (x, y - 1.7), (x, y - half - 0.05), colour)
            _arrow(ax, (x, y + half + 0.05), (x, y + 1.75), BLACK)
            ax.text(x, y + 1.85, rf"$\hat{{y}}_{n},\; a_{n}$", ha="center", va="bottom", fontsize=14.5)
            _arrow(ax, (x + 1.25, y), (x + 2.9 if n < 3 else x + 2.0, y), BLACK)
            ax.text(x + 2.05 if n < 3 else x + 1.6, y + 0.15, f"$h_{n + 1}$", ha="center", va="bottom")
        ax.text(19.5, y, "...", ha="center", va="center", fontsize=18)
    return figure


def _unrolled(states: Sequence[str], n_taken: int) -> tuple[Figure, Axes]:
    """Draw a cell for each step, at x = 1, 2, ... and y = 1, above the input; cells that are not taken are pale."""
    figure, (ax,) = panels(1, width=max(6.4, 1.75 * len(states) + 0.6), height=4.6)
    for n, state in enumerate(states, start=1):
        colour = BLACK if n <= n_taken else PALE_GREY
        _box(ax, n, 0, "$x$", colour)
        _box(ax, n, 1, state, colour, size=14.5)
        _arrow(ax, (n, 0.2), (n, 0.76), colour)
        if n > 1:
            _arrow(ax, (n - 0.78, 1), (n - 0.22, 1), colour)
    ax.set_xlim(0.4, len(states) + 0.6)
    ax.axis("off")
    return figure, ax


def _grid(ax: Axes, x: float, y: float, half: float, **style: Any) -> None:
    edges = half * np.linspace(-1, 1, 8)
    ax.hlines(y + edges, x - half, x + half, linewidth=0.8, **style)
    ax.vlines(x + edges, y - half, y + half, linewidth=0.8, **style)


def _box(ax: Axes, x: float, y: float, text: str, colour: str, size: float = 12) -> None:
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": colour}
    face = PALE_GREY if colour == PALE_GREY else BLACK
    ax.text(x, y, text, color=face, ha="center", va="center", fontsize=size, bbox=box, zorder=3)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 1.4) -> None:
    ax.annotate("", end, start, arrowprops={**ARROW, "color": colour, "linewidth": width})
