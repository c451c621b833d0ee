"""The picture of a row: right answers by loop, with the halt of each rule marked."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ponder_course.common import style
from ponder_course.common.store import Row

LOOKS: Row = {
    "own head": {"color": style.HALTING, "marker": "o", "markersize": 16},  # the others stand upon it
    "certainty": {"color": style.GREEN, "marker": "s", "markersize": 9},
    "settling": {"color": style.PURPLE, "marker": "^", "markersize": 9},
    "the same for all": {"color": style.BLACK, "marker": "X", "markersize": 9},
}


def over_depth(ax: Axes, measured: Row, loop: str = "loop") -> None:
    """Draw right answers if all stop at one loop, where each rule stops in the mean, and the mean of the need.

    measured: "by_loop", and for each of "rules" a row with "right", "steps" and "needed", as `measure` returns them;
    "needed" may be missing.
    """
    n = style.step_axis(ax, len(measured["by_loop"]), xlabel=loop)
    ax.plot(n, measured["by_loop"], color=style.ANSWER, label="all stop here")
    for rule, row in measured["rules"].items():
        ax.plot(row["steps"], row["right"], linestyle="", label=rule, clip_on=False, **LOOKS[rule])
    if "needed" in row:
        ax.axvline(row["needed"], color=style.LIMIT, linewidth=1, linestyle=":", label="needed, in the mean")
    style.percent_axis(ax, ylabel="right", ylim=(0, 1.02))


@style.slide
def draw(row: Row) -> Figure:
    """Draw a column for each task of a row: above at the trained size, below at the larger one."""
    tasks = row["tasks"]
    figure, axes = style.panels(2 * len(tasks), width=4.4, height=3.2, rows=2, squeeze=False)
    for number, ax in enumerate(axes):
        name = list(tasks)[number % len(tasks)]
        measured = tasks[name]["trained" if number < len(tasks) else "larger"]
        ax.set_title(f"{name}, {measured['size']}")
        if "refused" in measured:
            style.bare(ax)
            ax.text(0.5, 0.5, "refused", ha="center", transform=ax.transAxes)
        else:
            over_depth(ax, measured)
    return style.legend(figure, columns=1 + len(tasks))
