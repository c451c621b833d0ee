"""The picture of a row: right answers by loop, with the halt of each rule marked."""

from matplotlib.figure import Figure

from ponder_course.common import style
from ponder_course.common.store import Row

LOOKS = {
    "own head": (style.HALTING, "o", 16),  # the others stand upon it
    "certainty": (style.GREEN, "s", 9),
    "settling": (style.PURPLE, "^", 9),
    "the same for all": (style.BLACK, "X", 9),
}


@style.slide
def draw(row: Row) -> Figure:
    """Draw a column for each task of a row: above at the trained size, below at the larger one."""
    figure, axes = style.panels(2 * len(row["tasks"]), width=4.4, height=3.2, rows=2, squeeze=False)
    for column, (name, task) in enumerate(row["tasks"].items()):
        for line, which in enumerate(("trained", "larger")):
            ax, found = axes[line * len(row["tasks"]) + column], task[which]
            ax.set_title(f"{name}, {found['size']}")
            if "refused" in found:
                style.bare(ax)
                ax.text(0.5, 0.5, "refused", ha="center", transform=ax.transAxes)
                continue
            n = style.step_axis(ax, len(found["by_loop"]), xlabel="loop")
            ax.plot(n, found["by_loop"], color=style.ANSWER, label="all stop here")
            for kind, rule in found["rules"].items():
                colour, marker, size = LOOKS[kind]
                ax.plot(rule["steps"], rule["right"], marker, color=colour, markersize=size, label=kind, clip_on=False)
            need = next(iter(found["rules"].values()))["needed"]
            ax.axvline(need, color=style.LIMIT, linewidth=1, linestyle=":", label="needed, in the mean")
            style.percent_axis(ax, ylabel="right" if column == 0 else "", ylim=(0, 1.02))
    return style.legend(figure, columns=1 + len(row["tasks"]))
