"""What a figure has drawn, and what is written on it."""

import re
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure


def lines_of(ax: Axes, colour: Any) -> list[np.ndarray]:
    """The points of each line that is drawn in this colour, [points, 2]."""
    lines = [line for line in ax.lines if same_color(line.get_color(), colour)]
    return [np.array(line.get_xydata(), float) for line in lines if len(line.get_xdata())]


def image_of(ax: Axes) -> np.ndarray:
    """The numbers of the one image of a panel, nan where it is masked."""
    (image,) = ax.images
    return np.ma.filled(np.ma.asarray(image.get_array(), float), np.nan)


def texts_of(figure: Figure) -> list[str]:
    """All that is written on a figure: on its panels, at their axes, and in legends."""
    found = [text for legend in figure.legends for text in legend.get_texts()]
    for ax in figure.axes:
        found += [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
        if ax.get_legend():
            found += ax.get_legend().get_texts()
    return [text.get_text() for text in found]


def numbers(text: str) -> list[str]:
    """The numbers in a sentence, such as ["8", "+0.5"]."""
    return re.findall(r"[+\N{MINUS SIGN}-]?\d+(?:[.,]\d+)*", text)
