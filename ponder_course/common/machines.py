"""What the course's networks are made of: drawings, unrolled over their steps."""

from typing import Any

from matplotlib.figure import Figure

from ponder_course.common.style import BLUE, GREY, PALE_GREY, panels, slide

ARROW: dict[str, Any] = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, "mutation_scale": 14}


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
