"""Figures of networks that think along a line of places: steps down, places across."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from ponder_course.figures.style import BLACK, Line, Points, marks, panels, slide


@slide
def above_the_limit(lambda_ps: Line, theory: Mapping[str, Line], runs: Mapping[str, Points]) -> Figure:
    """Draw steps above the limit against the prior's lambda_p: lines of theory, and a mark for every run."""
    figure, (ax,) = panels(1, width=7.4, height=4.4)
    for which, (label, line) in enumerate(theory.items()):
        ax.plot(lambda_ps, line, color=BLACK, linewidth=1.8, linestyle=("-", ":")[which % 2], label=label)
    for which, (label, points) in enumerate(runs.items()):
        beside = 0.008 * (which - (len(runs) - 1) / 2)
        marks(ax, [(x + beside, y) for x, y in points], which, 44, label=label, zorder=3)
    ax.set(xlabel=r"$\lambda_p$", ylabel="steps above the limit", ylim=(0, None))
    ax.legend()
    return figure
