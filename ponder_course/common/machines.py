"""What the course's networks are made of: drawings, unrolled over their steps."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ponder_course.common.style import BLACK, BLUE, GREY, ORANGE, PALE_GREY, Line, panels, slide

ARROW: dict[str, Any] = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 14}


@slide
def act_cell(lambdas: Line, p: Line) -> Figure:
    """ACT at one input, unrolled: halting unit and weight p_n of each step; without weight it is never taken."""
    n_taken = sum(p_n > 0 for p_n in p)
    figure, ax = _unrolled([rf"$h_{n}$" for n in range(1, len(lambdas) + 1)], n_taken)
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
    ax.text((n_taken + 1) / 2, 3.62, r"answer from $\sum_n\, p_n\, h_n$", color=BLUE, ha="center", va="center")
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


def _box(ax: Axes, x: float, y: float, text: str, colour: str, size: float = 12) -> None:
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": colour}
    face = PALE_GREY if colour == PALE_GREY else BLACK
    ax.text(x, y, text, color=face, ha="center", va="center", fontsize=size, bbox=box, zorder=3)


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 1.4) -> None:
    ax.annotate("", end, start, arrowprops={**ARROW, "color": colour, "linewidth": width})
