"""Figures that only the evidence of lesson 06 draws."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from ponder_course.common import style


@style.slide
def judges(runs: Sequence[Mapping[str, Sequence[float | None]]]) -> Figure:
    """Draw "yes" and "right" of each network against the number of open places, with 2^-k, on a logarithmic axis."""
    figure, (ax,) = style.panels(1, width=7.4, height=4.4)
    n_open = np.arange(len(runs[0]["yes"]))
    for i, run in enumerate(runs):
        labels = ("the judge's yes", "right") if i == 0 else (None, None)
        ax.plot(n_open, np.array(run["yes"], float), color=style.PURPLE, linewidth=1.1, label=labels[0])
        ax.plot(n_open, np.array(run["right"], float), "o", color=style.GREY, markersize=4, label=labels[1])
    ax.plot(n_open, 0.5**n_open, color=style.BLACK, linestyle=":", label="a coin for every open place")
    ax.set_yscale("log", base=2)
    ax.set(xlabel="open places", ylabel="probability")
    ax.legend()
    return figure
