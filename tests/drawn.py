"""What stands on a figure: shared by the tests of figures."""

import io
import re

import matplotlib as mpl
import matplotlib.image
import numpy as np
import pandas as pd
import pytest
import torch
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.container import BarContainer
from matplotlib.patches import Rectangle

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
        assert ax.get_xlabel() or not ax.axison or not len(ax.get_xticks()) or shares_x
        labels = ax.get_legend_handles_labels()[1]
        assert len(set(labels)) == len(labels)
        texts += [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
        if ax.get_legend():
            texts += ax.get_legend().get_texts()
    assert min([text.get_fontsize() for text in texts if text.get_text().strip()], default=11) >= 11
    return figure


def shapes(ax):
    """All that a panel draws of data, as (colour, points): lines, then bars [centre, height], then marks.

    The colour of hollow bars and marks is that of their edge. Then come, under names of their own, "hollow" marks once
    more, "span", [first corner, last corner], "image", values, and "area", corners.
    """
    found = [(line.get_color(), line.get_xydata()) for line in ax.lines if len(line.get_xdata())]
    for bars in ax.containers:
        if isinstance(bars, BarContainer):
            face, edge = bars[0].get_facecolor(), bars[0].get_edgecolor()
            points = [(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in bars]
            found.append((face if face[3] else edge, points))
    for marks in ax.collections:
        if isinstance(marks, PathCollection) and len(marks.get_offsets()):
            found.append(([*marks.get_facecolor(), *marks.get_edgecolor()][0], marks.get_offsets()))
    found = [(to_hex(colour).upper(), points) for colour, points in found]
    marks = [line for line in ax.lines if line.get_linestyle() == "None" and len(line.get_xdata())]
    found += [("hollow", line.get_xydata()) for line in marks if line.get_markerfacecolor() in ("none", "white")]
    bars = {bar for container in ax.containers for bar in container if isinstance(container, BarContainer)}
    spans = [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch not in bars]
    found += [("span", [span.xy, np.add(span.xy, (span.get_width(), span.get_height()))]) for span in spans]
    found += [("image", image.get_array()) for image in ax.images]
    areas = [area for area in ax.collections if isinstance(area, PolyCollection)]
    found += [("area", path.vertices) for area in areas for path in area.get_paths()]  # an entry of a legend has none
    return [(colour, np.ma.filled(np.ma.asarray(points, float), np.nan)) for colour, points in found]


def texts(ax):
    """All that is written on a panel and beside its axes."""
    labels = [*ax.get_xticklabels(), *ax.get_yticklabels()]
    return [text.get_text() for text in (*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label, *labels)]


def over(x, *lines):
    """The points of several lines over the same x: [lines, points, 2]. A number is a level across the panel."""
    return [[[0, line], [1, line]] if np.isscalar(line) else pairs(x, line) for line in lines]


def altered(data):
    """The same data, each float a tenth smaller."""
    if isinstance(data, dict):
        return {name: altered(value) for name, value in data.items()}
    if isinstance(data, pd.DataFrame):
        return data.assign(**{name: 0.9 * data[name] for name in data.select_dtypes("float")})
    if isinstance(data, list | tuple):
        values = map(altered, data)
        return type(data)(*values) if hasattr(data, "_fields") else type(data)(values)
    if torch.is_tensor(data) and data.is_floating_point():
        return 0.9 * data
    return 0.9 * data if isinstance(data, float) else data


def check_drawn(draw, given, panels):
    """What is drawn is what was given, and other numbers give another figure. given: the arguments.

    panels: for each panel {colour, or other name: the points of all that has it}, in the order of `shapes`, and of
    names that are left out nothing is asked. Under "text" stand parts of what must be written, under "area" corners
    that some area must have.
    """
    figure = check(lambda: draw(*given))
    assert len(figure.axes) == len(panels)
    for ax, wanted in zip(figure.axes, panels, strict=True):
        for colour, expected in wanted.items():
            found = [points for name, points in shapes(ax) if name == colour]
            if colour == "text":
                assert not [part for part in expected if not any(part in text for text in texts(ax))], texts(ax)
            elif colour == "area":
                corners = [pytest.approx(corner) for area in found for corner in area.tolist()]
                assert all(list(corner) in corners for corner in expected), corners
            else:
                assert len(found) == len(expected), (colour, found)
                for points, want in zip(found, expected, strict=True):
                    np.testing.assert_allclose(points, want, rtol=1e-6, atol=1e-9)
    for i, argument in enumerate(given):
        other = altered(argument)
        if repr(other) != repr(argument):
            assert _everything(draw(*given[:i], other, *given[i + 1 :])) != _everything(figure), f"argument {i}"


def _everything(figure):
    """A text of all that a figure draws and writes, and of where its axes end."""
    panels = [(shapes(ax), texts(ax), ax.get_xlim(), ax.get_ylim()) for ax in figure.axes]
    return repr([(*((colour, points.tolist()) for colour, points in drawn), *rest) for drawn, *rest in panels])


def numbers(text):
    """The numbers in a sentence, such as ["8", "+0.5"]."""
    return re.findall(r"[+\N{MINUS SIGN}-]?\d+(?:[.,]\d+)*", text)
