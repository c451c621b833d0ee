"""Figures of networks that think about images of digits."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ponder_utils.plots import BLACK, BLUE, RED, SKY, Line, Points, legend, mark_runs, marks, panels, step_axis, styled

Image = Sequence[Line]  # [height, width], 0 is paper


def _draw(ax: Axes, image: Image, caption: str) -> None:
    ax.imshow(np.asarray(image), cmap="gray_r", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[])
    ax.set_xlabel(caption, fontsize="small")
    ax.spines[:].set(visible=True, color="#BBBBBB")


@styled
def images(rows: Sequence[Sequence[Image]], captions: Sequence[Sequence[str]]) -> Figure:
    """Images in rows, each with its caption."""
    figure, axes = panels(sum(map(len, rows)), width=1.1, height=1.35, rows=len(rows))
    for ax, image, caption in zip(axes, chain(*rows), chain(*captions), strict=True):
        _draw(ax, image, caption)
    return figure


@styled
def thoughts(
    shown: Sequence[Image], p: Sequence[Line], answers: Sequence[Sequence[int]], captions: Sequence[str],
    labels: Sequence[int],
) -> Figure:  # fmt: skip
    """Single digits, and below each its p_n; on every bar stands the answer at that step, and wrong bars are hatched.

    The images, captions and right labels are [digits], p and the answers [digits, N].
    """
    count = len(shown)
    width = min(2.4, max(1.7, 12 / count)) if count > 1 else 4.6
    figure, axes = panels(2 * count, width, 1.7, rows=2, height_ratios=[3, 4])
    for top, bottom, image, p_n, told, caption, label in zip(
        axes[:count], axes[count:], shown, p, answers, captions, labels, strict=True
    ):
        _draw(top, image, caption)
        n = step_axis(bottom, len(p_n), ylim=(0, max(0.5, 1.2 * max(p_n))), xlim=(0.3, len(p_n) + 0.7))
        right = np.asarray(told) == label
        bottom.bar(n[right], np.asarray(p_n)[right], color=BLUE, label="answer right")
        bottom.bar(n[~right], np.asarray(p_n)[~right], color="white", edgecolor=RED, hatch="////", label="answer wrong")
        step = 1 if len(n) <= 10 or count == 1 else 4
        for place, height, answer in list(zip(n, p_n, told, strict=True))[::step]:
            bottom.annotate(str(answer), (place, height), (0, 2), textcoords="offset points", ha="center", fontsize=8)
        bottom.set_xticks(n[:: max(1, len(n) // 5)])
        bottom.grid(visible=False)
    axes[count].set_ylabel("$p_n$")
    return legend(figure, columns=2)


@styled
def by_variant(
    measured: Sequence[dict[str, dict[bool, Line]]], x_labels: Sequence[str], marks: Sequence[dict[str, float]],
    mark_label: str,
) -> Figure:  # fmt: skip
    """A line for each variant of a network, on it a mark for every run, full if it is of this session.

    Each panel has {variant: {of this session?: [value, ...]}}, the label of its x axis, and {variant: a value to
    compare with}, which the legend calls `mark_label`.
    """
    width = 4.6 if len(measured) > 1 else 7.5
    figure, axes = panels(len(measured), width=width, height=1.3 + 0.3 * len(measured[0]), sharey=True)
    for ax, variants, x_label, compare in zip(axes, measured, x_labels, marks, strict=True):
        for which, runs in enumerate(variants.values()):
            points = {live: [(x, which) for x in values] for live, values in runs.items()}
            mark_runs(ax, points, which, 30)
        names = list(variants)
        ax.plot(list(compare.values()), [names.index(name) for name in compare], color=BLACK, marker="|", markersize=15,
                linestyle="none", label=mark_label)  # fmt: skip
        ax.set(xlabel=x_label, yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    return legend(figure)


@styled
def price_of_accuracy(lines: dict[str, tuple[Line, Line]], points: dict[str, Points], floor: float) -> Figure:
    """Accuracy against steps for an answer: a line for what one may choose freely, marks for single networks and rules.

    Lines are {name: (steps, accuracy)}, points {name: [(steps, accuracy), ...]}. What is worse than `floor`, where the
    y axis begins, is left out.
    """
    figure, (ax,) = panels(1, width=6.4, height=4.2)
    for name, (x, y) in lines.items():
        ax.plot(x, y, color=SKY, linewidth=1.4, label=name)
    for which, (name, pairs) in enumerate(points.items()):
        marks(ax, pairs, which, 34, label=name, zorder=3)
    ax.set(xlabel="steps computed for an answer (mean)", ylabel="accuracy", xlim=(0, None), ylim=(floor, 1.005))
    return legend(figure, columns=3)
