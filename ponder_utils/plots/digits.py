"""Figures of networks that think about images of digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ponder_utils.plots import BLACK, BLUE, COLOURS, MARKERS, RED, SKY, mark_runs, panels, styled

Image = Sequence[Sequence[float]]  # [height, width], 0 is paper


def _draw(ax: Axes, image: Image, caption: str) -> None:
    ax.imshow(np.asarray(image), cmap="gray_r", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[])
    ax.set_xlabel(caption, fontsize="small")
    ax.spines[:].set(visible=True, color="#BBBBBB")


@styled
def images(rows: Sequence[Sequence[Image]], captions: Sequence[Sequence[str]]) -> Figure:
    """Images in rows, each with its caption."""
    figure, axes = panels(sum(map(len, rows)), width=1.1, height=1.35, rows=len(rows))
    for ax, image, caption in zip(
        axes, [i for row in rows for i in row], [c for row in captions for c in row], strict=True
    ):
        _draw(ax, image, caption)
    return figure


@styled
def thoughts(
    shown: Sequence[Image], p: Sequence[Sequence[float]], answers: Sequence[Sequence[int]], captions: Sequence[str],
    labels: Sequence[int],
) -> Figure:  # fmt: skip
    """Single digits, and below each its p_n; on every bar stands the answer at that step, and wrong bars are hatched.

    Args:
        shown: [digits] images.
        p, answers: [digits, N].
        captions: of the digits.
        labels: the right answers.
    """
    count = len(shown)
    size = {"width": min(2.4, max(1.7, 12 / count)) if count > 1 else 4.6, "height": 1.7}
    figure, axes = panels(2 * count, **size, rows=2, gridspec_kw={"height_ratios": [3, 4]})
    n = np.arange(1, len(p[0]) + 1)
    for top, bottom, image, p_n, told, caption, label in zip(
        axes[:count], axes[count:], shown, p, answers, captions, labels, strict=True
    ):
        _draw(top, image, caption)
        right = np.asarray(told) == label
        bottom.bar(n[right], np.asarray(p_n)[right], color=BLUE, label="answer right")
        bottom.bar(n[~right], np.asarray(p_n)[~right], color="white", edgecolor=RED, hatch="////", label="answer wrong")
        step = 1 if len(n) <= 10 or count == 1 else 4
        for place, height, answer in list(zip(n, p_n, told, strict=True))[::step]:
            bottom.annotate(str(answer), (place, height), (0, 2), textcoords="offset points", ha="center", fontsize=8)
        bottom.set(xlabel="step $n$", ylim=(0, max(0.5, 1.2 * max(p_n))), xlim=(0.3, len(n) + 0.7))
        bottom.set_xticks(n[:: max(1, len(n) // 5)])
        bottom.grid(visible=False)
    axes[count].set_ylabel("$p_n$")
    handles = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2)
    return figure


@styled
def by_variant(
    measured: Sequence[dict[str, dict[bool, Sequence[float]]]], x_labels: Sequence[str],
    marks: Sequence[dict[str, float]], mark_label: str,
) -> Figure:  # fmt: skip
    """A line for each variant of a network, on it a mark for every run, full if it is of this session.

    Args:
        measured: one dict for each panel, {variant: {of this session?: [value, ...]}}.
        x_labels: of the panels.
        marks: one dict for each panel, {variant: a value to compare with}.
        mark_label: what those values are.
    """
    width = 4.6 if len(measured) > 1 else 7.5
    figure, axes = panels(len(measured), width=width, height=1.3 + 0.3 * len(measured[0]), sharey=True)
    for ax, variants, x_label, compare in zip(axes, measured, x_labels, marks, strict=True):
        for which, runs in enumerate(variants.values()):
            points = {live: [(x, which) for x in values] for live, values in runs.items()}
            mark_runs(ax, points, which % len(COLOURS), 30, lambda x: x)
        names = list(variants)
        ax.plot(list(compare.values()), [names.index(name) for name in compare], color=BLACK, marker="|", markersize=15,
                linestyle="none", label=mark_label)  # fmt: skip
        ax.set(xlabel=x_label, yticks=range(len(names)), yticklabels=names)
        ax.set_ylim(len(names) - 0.5, -0.5)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center")
    return figure


@styled
def price_of_accuracy(
    lines: dict[str, tuple[Sequence[float], Sequence[float]]], points: dict[str, Sequence[tuple[float, float]]],
    floor: float,
) -> Figure:  # fmt: skip
    """Accuracy against steps for an answer: a line for what one may choose freely, marks for single networks and rules.

    Args:
        lines: {name: (steps, accuracy)}.
        points: {name: [(steps, accuracy), ...]}.
        floor: where the y axis begins; what is worse is left out.
    """
    figure, (ax,) = panels(1, width=6.4, height=4.2)
    for name, (x, y) in lines.items():
        ax.plot(x, y, color=SKY, linewidth=1.4, label=name)
    for which, (name, pairs) in enumerate(points.items()):
        x, y = np.reshape(pairs, (-1, 2)).T
        style: dict[str, Any] = {"marker": MARKERS[which % len(MARKERS)], "edgecolor": COLOURS[which % len(COLOURS)]}
        ax.scatter(x, y, s=34, facecolor="none", label=name, zorder=3, **style)
    ax.set(xlabel="steps computed for an answer (mean)", ylabel="accuracy", ylim=(floor, 1.005))
    ax.set_xlim(left=0)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
