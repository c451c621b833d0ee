"""Figures of the course, each with the sentence that reads it.

Colours are those of Okabe & Ito, which colour-blind readers can tell apart; markers and line styles repeat what they
say. The face is opaque white, so that a figure reads the same on a dark page. Nothing here touches pyplot's state.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import PIL.Image
from IPython.display import Image, Markdown, display
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PURPLE, RED, SKY, BLACK = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000",
)  # fmt: skip
COLOURS = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
STYLE: dict[Any, Any] = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "text.color": "black",
    "axes.labelcolor": "black",
    "xtick.color": "black",
    "ytick.color": "black",
    "axes.edgecolor": "#555555",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "axes.axisbelow": True,
    "axes.titlesize": "medium",
    "legend.frameon": False,
    "legend.fontsize": "small",
    "lines.linewidth": 1.8,
}


def picture(figure: Figure) -> tuple[bytes, int]:
    """The figure as a PNG of 32 colours, a fifth of the bytes of one with all, and its width on a page in pixels."""
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=120, transparent=False)
    colours = PIL.Image.Quantize.MAXCOVERAGE  # keeps rare colours, which the default mixes
    PIL.Image.open(drawn).convert("RGB").quantize(32, colours).save(small, format="png", optimize=True)
    return small.getvalue(), int(figure.get_figwidth() * 96)


def show(figure: Figure, sentence: str) -> None:
    """Display a figure with its sentence: as alternative text for who cannot see it, and below it for all."""
    png, width = picture(figure)
    display(Image(png, alt=sentence, width=width), Markdown(sentence))


def styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Draw in the course's style, whatever the reader's own settings are."""

    @functools.wraps(draw)
    def in_style(*args: Any, **kwargs: Any) -> Figure:
        with mpl.rc_context({**mpl.rcParamsDefault, **STYLE}):
            return draw(*args, **kwargs)

    return in_style


def panels(n: int, width: float = 3.4, height: float = 3.0, rows: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:
    """n panels in so many rows, counted along the rows; sizes of one in inches."""
    columns = -(-n // rows)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, list(np.ravel(figure.subplots(rows, columns, **options)))[:n]


def mark_runs(
    ax: Axes, runs: Mapping[bool, Sequence[tuple[float, float]]], which: int, size: float, place: Callable[..., Any]
) -> None:
    """A mark for every run, full if it is of this session: {of this session?: [(x, y), ...]}.

    `which` picks colour and marker; `place` moves the x of a group aside, so that groups stand side by side.
    """
    for live in (False, True):
        x, y = np.reshape(runs.get(live, []), (-1, 2)).T
        face = COLOURS[which] if live else "none"
        ax.scatter(place(x), y, s=size, marker=MARKERS[which], facecolor=face, edgecolor=COLOURS[which], zorder=3)


def spread(
    ax: Axes, x: Sequence[float], runs: Sequence[Sequence[float]], label: str, which: int = 0, live: int = 0
) -> None:
    """A thin line for every run and a thick one for their mean: runs is [runs, points].

    `which` picks colour, marker and dashes; the first `live` runs, those of this session, are drawn darker.
    """
    colour, dashes = COLOURS[which], DASHES[which % len(DASHES)]
    for i, line in enumerate(runs):
        ax.plot(x, line, color=colour, alpha=0.9 if i < live else 0.3, linewidth=0.9, linestyle=dashes)
    label = f"{label} (mean of {len(runs)})" if len(runs) > 1 else label
    marker = MARKERS[which] if len(x) <= 25 else None
    ax.plot(x, np.mean(runs, axis=0), color=colour, marker=marker, markersize=4, linestyle=dashes, label=label)
