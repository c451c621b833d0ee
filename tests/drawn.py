"""What stands on a figure: shared by the tests of figures."""

import io

import matplotlib as mpl
import matplotlib.image
import numpy as np
from matplotlib.colors import to_rgb

DARK = {"figure.facecolor": "black", "axes.facecolor": "black", "text.color": "white", "font.size": 4}


def points(ax, **properties):
    """The points of every line of a panel that has such properties, as lists of pairs; empty lines are left out."""
    wanted = properties.items()
    lines = [line for line in ax.lines if all(getattr(line, f"get_{name}")() == value for name, value in wanted)]
    return [line.get_xydata().tolist() for line in lines if len(line.get_xdata())]


def drawn(ax):
    """The points of every line, rounded: [lines, points, 2]."""
    return [np.round(np.asarray(line.get_xydata(), float), 9).tolist() for line in ax.lines]


def pairs(x, y):
    """The points [x, y] of a line."""
    return [list(pair) for pair in zip(x, y, strict=True)]


def named(ax, label):
    """The points of the one line with this label."""
    (line,) = [line for line in ax.lines if line.get_label() == label]
    return line.get_xydata().tolist()


def bars(ax):
    """Centre and height of every bar, and where it stands."""
    return [(bar.get_x() + bar.get_width() / 2, bar.get_height(), bar.get_y()) for bar in ax.patches]


def heights(container):
    """The heights of the bars with one label."""
    return [bar.get_height() for bar in container]


def written(ax):
    """The texts on a panel."""
    return [text.get_text().strip() for text in ax.texts if text.get_text().strip()]


def check(draw):
    """A figure is the same whatever the reader's style, opaque, legible, labelled, and names no line twice."""
    with mpl.rc_context(DARK):
        figure = draw()
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
    buffer.seek(0)
    pixels = matplotlib.image.imread(buffer)
    assert (pixels[0, 0, :3] == 1).all()
    assert pixels.shape[2] == 3 or (pixels[..., 3] == 1).all()
    texts = [text for legend in figure.legends for text in legend.get_texts()]
    for ax in figure.axes:
        assert to_rgb(ax.get_facecolor()) == (1, 1, 1)
        shares_x = len(ax.get_shared_x_axes().get_siblings(ax)) > 1 and not ax.get_subplotspec().is_last_row()
        assert ax.get_xlabel() or not ax.axison or shares_x
        labels = ax.get_legend_handles_labels()[1]
        assert len(set(labels)) == len(labels)
        texts += [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
        if ax.get_legend():
            texts += ax.get_legend().get_texts()
    assert min(text.get_fontsize() for text in texts if text.get_text().strip()) >= 11
    return figure
