"""How networks learn: logged numbers over the updates of a training."""

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pandas import DataFrame

from ponder_course.figures.style import BLACK, look, panels, slide


@slide
def learning_curves(table: DataFrame, columns: dict[str, str], level: dict[str, float] | None = None) -> Figure:
    """Draw logged numbers against the update: a panel for each column, a line for each network.

    Args:
        table: a row for each network and evaluation, with columns kind, network, update, and those to draw.
        columns: {column: title of its panel}.
        level: {column: value}, marked by a dotted line.
    """
    figure, axes = panels(len(columns), width=3.4)
    for ax, (column, title) in zip(axes, columns.items(), strict=True):
        for which, (kind, networks) in enumerate(table.groupby("kind", sort=False)):
            for i, (_, network) in enumerate(networks.groupby("network")):
                line = look(which, marker=None, alpha=0.8, linewidth=1.2, label=kind if i == 0 else None)
                ax.plot(network["update"], network[column], **line)
        if level and column in level:
            ax.axhline(level[column], color=BLACK, linestyle=":", linewidth=1.2)
        ax.set(title=title, xlabel="update", xlim=(0, None))
        ax.xaxis.set_major_locator(MaxNLocator(4))
    if table["kind"].nunique() > 1:
        axes[0].legend()
    return figure
