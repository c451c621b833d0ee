"""What the evidence of lesson 04 adds to the lesson's figures: titles, and a legend."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from ponder_course.common.style import Line, legend, marks, slide
from ponder_course.mnist_rotation.figures import LOOKS, over_angles


def titled_angles(groups: Sequence[Mapping[str, Sequence[Line]]], label: str, titles: Sequence[str]) -> Figure:
    """Draw one number that depends on the angle, as `over_angles` does, in panels with titles and one y axis."""
    figure = over_angles(groups, [label] + [""] * (len(titles) - 1), sharey=True)
    for ax, title in zip(figure.axes, titles, strict=True):
        ax.title.set_text(title)
    figure.set_figheight(4.2)
    return figure


@slide
def name_groups(figure: Figure, names: Mapping[str, str]) -> Figure:
    """Return a `forest` with a legend: {group of its rows: what it is called there}."""
    for group, name in names.items():
        marks(figure.axes[0], [], LOOKS[group], 62, full=True, label=name)
    return legend(figure, columns=len(names))
