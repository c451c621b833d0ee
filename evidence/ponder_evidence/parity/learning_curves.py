"""How networks learn: logged numbers over the updates of a training."""

from itertools import product

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_course.common.style import BLACK, look, panels, slide


@slide
def learning_curves(table: DataFrame, columns: dict[str, str], level: dict[str, float] | None = None) -> Figure:
    """Draw logged numbers against the update: a row for each, a panel for each kind, a line for each network.

    Args:
        table: a row for each network and evaluation, with columns kind, network, update, and those to draw.
        columns: {column: label of its axis}.
        level: {column: value}, marked by a dotted line.
    """
    kinds = list(table["kind"].unique())
    size = {"width": 2.4, "height": 2.3}
    figure, axes = panels(len(columns) * len(kinds), rows=len(columns), sharex=True, sharey="row", **size)
    places = list(product(columns, enumerate(kinds)))
    for ax, (column, (which, kind)) in zip(axes, places, strict=True):
        for _, network in table[table["kind"] == kind].groupby("network"):
            ax.plot(network["update"], network[column], **look(which, marker=None, linestyle="-", linewidth=1.2))
        if level and column in level:
            ax.axhline(level[column], color=BLACK, linestyle=":", linewidth=1.2)
        ax.xaxis.set_major_locator(MaxNLocator(2))
    for ax, kind in zip(axes, kinds, strict=False):
        ax.set(title=kind, xlim=(0, None))
    for ax, label in zip(axes[:: len(kinds)], columns.values(), strict=True):
        ax.set_ylabel(label)
    for ax in axes[-len(kinds) :]:
        ax.set_xlabel("update")
    return figure
