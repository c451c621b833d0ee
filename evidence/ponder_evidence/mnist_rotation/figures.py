"""What the evidence of lesson 04 adds to the lesson's figures: titles, and a legend."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ponder_course.common.store import Row
from ponder_course.common.style import Line, legend, marks, panels, slide, spread
from ponder_course.mnist_rotation import experiment as rotation
from ponder_course.mnist_rotation.figures import LOOKS, stopped_at


@slide
def over_angles(groups: Sequence[Mapping[str, Sequence[Line]]], labels: Sequence[str]) -> Figure:
    """Draw numbers that depend on the angle, a panel for each group: {network: [runs, ANGLES]}, with one y axis.

    Beyond the angles of training all is grey.
    """
    figure, axes = panels(len(groups), width=4.2, height=3.6, sharey=True)
    angles = rotation.ANGLES
    for ax, group, label in zip(axes, groups, labels, strict=True):
        for name, runs in group.items():
            spread(ax, angles, runs, name, LOOKS[name])
        ax.axvspan(rotation.RANGES[0], angles[-1], color="#EEEEEE", zorder=0)
        ax.set(xlabel="rotation (degrees)", ylabel=label, xlim=(angles[0], angles[-1]))
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 3, 4.5, 9, 10]))
    for ax in axes:  # when all are drawn: they share their axis
        ax.set_ylim(bottom=0)
    return legend(figure, columns=2)


def titled_angles(groups: Sequence[Mapping[str, Sequence[Line]]], label: str, titles: Sequence[str]) -> Figure:
    """Draw one number that depends on the angle, as `over_angles` does, in panels with titles."""
    figure = over_angles(groups, [label] + [""] * (len(titles) - 1))
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


@slide
def flat_lines(runs: Mapping[str, Sequence[Row]], fixed: Mapping[str, Sequence[Row]]) -> Figure:
    """Draw what `stopped_at` does in a panel for each network; fixed: runs that were trained for N steps alone."""
    figure, axes = panels(len(runs), width=4.7, height=3.6, sharey=True)
    for ax, (name, of_network) in zip(axes, runs.items(), strict=True):
        stopped_at(ax, name, of_network, fixed[name])
        ax.set_title(name)
    return figure
