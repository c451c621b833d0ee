"""Figures of the evidence of lesson 01."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ponder_course.common import style
from ponder_course.common.style import Line, lines, look, panels, slide


@slide
def small_test_sets(epochs: Line, curves: Sequence[Line], counts: Sequence[int], printed: Sequence[int]) -> Figure:
    """Accuracy on all inputs while training, and what sets of 16 say about the networks at the end.

    The curves are [runs, points]. Counts are the number of test sets of 16 of which the networks had 0, 1, ..., 16
    right [17], and printed: how many were right in each of the scores that were published.
    """
    figure, (left, right) = panels(2, width=5.0, height=4.0)
    lines(left, epochs, curves, "a network of ours", **look(0, marker=None, linestyle="--", linewidth=0.9, alpha=0.6))
    left.axhline(0.5, color=style.BLACK, linestyle=":", label="chance")
    left.set(xlabel="epoch of 160 inputs", ylabel="accuracy on all possible inputs", ylim=(0.4, 1.02))
    left.legend()
    label = f"ours after {max(epochs, default=0)} epochs"
    right.bar(range(17), np.divide(counts, max(1, sum(counts))), width=0.4, color=style.SKY, label=label)
    heights = [0.012 + 0.02 * printed[:i].count(score) for i, score in enumerate(printed)]  # equals piled up
    dots = look(1, color=style.BLACK, marker="D", markersize=5, linestyle="none")
    right.plot(printed, heights, **dots, label="printed in the presentation")
    right.set(xlabel="right of 16 random inputs", ylabel="share of test sets", ylim=(0, 1.3 * right.get_ylim()[1]))
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.legend(loc="upper left")
    return figure
