"""Figures of networks that think about images of digits."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ponder_utils.experiments.verdicts import interval
from ponder_utils.notebook.plots import (
    BLACK,
    BLUE,
    RED,
    SKY,
    Line,
    Points,
    legend,
    look,
    marks,
    panels,
    slide,
    spread,
    step_axis,
)

Image = Sequence[Line]  # [height, width], 0 is paper


def _draw(ax: Axes, image: Image, caption: str, **place: Any) -> None:
    ax.imshow(np.asarray(image), cmap="gray_r", vmin=0, vmax=1, **place)
    ax.set(xticks=[], yticks=[], xlabel=caption)
    ax.spines[:].set(visible=True, color="#BBBBBB")


@slide
def images(rows: Sequence[Sequence[Image]], captions: Sequence[Sequence[str]]) -> Figure:
    """Images in rows, each with its caption."""
    figure, axes = panels(sum(map(len, rows)), width=1.4, height=1.65, rows=len(rows))
    for ax, image, caption in zip(axes, chain(*rows), chain(*captions), strict=True):
        _draw(ax, image, caption)
    return figure


@slide
def machines(image: Image, n_places: int = 7) -> Figure:
    """Both networks of lesson 04 at their first three steps: below the second, what its middle place knows of."""
    figure, (ax,) = panels(1, width=9.4, height=4.6)
    ax.set(xlim=(0, 20), ylim=(0, 10), aspect="equal")
    ax.set_axis_off()
    boxed = {"boxstyle": "round,pad=0.5", "facecolor": "#EEF4F8", "edgecolor": BLUE}
    middle, cells = n_places // 2, np.arange(n_places)
    away = np.maximum(*np.abs(np.meshgrid(cells - middle, cells - middle)))

    def arrow(start: tuple[float, float], end: tuple[float, float]) -> None:
        ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": "#555555", "linewidth": 1.4})

    for y, name in ((7.2, "reads all, then thinks"), (2.0, "thinks in order to read")):
        ax.imshow(np.asarray(image), cmap="gray_r", vmin=0, vmax=1, extent=(0.2, 3.0, y - 1.4, y + 1.4), zorder=2)
        ax.annotate(name, (0.2, y + 1.65), fontsize=12, fontweight="bold")
        for n, x in enumerate((9.0, 13.0, 17.0), start=1):
            arrow((x, y + 1.0), (x, y + 1.8))
            ax.annotate(f"$\\hat y_{n},\\; a_{n}$", (x, y + 1.9), ha="center", fontsize=13)
            if n < 3:
                arrow((x + 1.15, y), (x + 2.85, y))
    for n, x in enumerate((9.0, 13.0, 17.0), start=1):
        ax.annotate(f"step {n}", (x, 7.2), ha="center", va="center", bbox=boxed)
        known = np.where(away < n, 0.75, 0.08)
        ax.imshow(known, cmap="Blues", vmin=0, vmax=1, extent=(x - 1.1, x + 1.1, 0.9, 3.1), zorder=3)
        edges = np.linspace(-1.1, 1.1, n_places + 1)
        ax.hlines(2.0 + edges, x - 1.1, x + 1.1, color="white", linewidth=0.8, zorder=4)
        ax.vlines(x + edges, 0.9, 3.1, color="white", linewidth=0.8, zorder=4)
    for y in (2.0, 7.2):
        ax.annotate("...", (19.2, y), ha="center", va="center", fontsize=16)
    ax.annotate("CNN", (5.2, 7.2), ha="center", va="center", bbox=boxed)
    arrow((3.1, 7.2), (4.4, 7.2))
    arrow((6.0, 7.2), (7.9, 7.2))
    edges = np.linspace(0, 2.8, n_places + 1)
    ax.hlines(0.6 + edges, 0.2, 3.0, color=SKY, linewidth=0.7, zorder=3)
    ax.vlines(0.2 + edges, 0.6, 3.4, color=SKY, linewidth=0.7, zorder=3)
    ax.annotate("patches", (5.2, 2.0), ha="center", va="center", bbox=boxed)
    arrow((3.1, 2.0), (4.0, 2.0))
    arrow((6.4, 2.0), (7.8, 2.0))
    return figure


@slide
def flat_line(
    curves: Mapping[str, Sequence[Line]], own: Mapping[str, Points], fixed: Mapping[str, Points], live: int,
    chance: float,
) -> Figure:  # fmt: skip
    """Accuracy if a network always stopped at step n, {network: [runs, N]}; the first `live` runs are darker.

    own: (steps, accuracy) of each network where it halts by itself, a full mark; fixed: of networks trained for that
    number of steps and no other, a hollow one.
    """
    figure, (ax,) = panels(1, width=8.6, height=4.9)
    for which, (name, runs) in enumerate(curves.items()):
        n = step_axis(ax, len(runs[0]), ylabel="digits read correctly")
        spread(ax, list(n), runs, name, which, live)
        marks(ax, own[name], which, 40, full=True, zorder=4, label=f"{name}: left to itself")
        marks(ax, fixed.get(name, []), which, 70, zorder=4)
        if fixed.get(name):
            marks(ax, [], which, 70, label=f"{name}: trained for one depth")
    longest = max(len(runs[0]) for runs in curves.values())
    ax.axhline(chance, color=BLACK, linestyle=":", linewidth=1.4, label="a guess")
    ax.set(xlabel="step at which it is stopped", xlim=(0.5, longest + 0.5), ylim=(0, 1.04))
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    return legend(figure, columns=3)


@slide
def thoughts(
    shown: Sequence[Image], p: Sequence[Line], answers: Sequence[Sequence[int]], captions: Sequence[str],
    labels: Sequence[int],
) -> Figure:  # fmt: skip
    """Single digits, and below each its p_n; on every bar stands the answer at that step, and wrong bars are hatched.

    The images, captions and right labels are [digits], p and the answers [digits, N].
    """
    count = len(shown)
    figure, axes = panels(2 * count, 2.6 if count > 2 else 4.4, 1.95, rows=2, height_ratios=[3, 4])
    top = max(0.5, 1.25 * max(max(p_n) for p_n in p))
    for above, below, image, p_n, told, caption, label in zip(
        axes[:count], axes[count:], shown, p, answers, captions, labels, strict=True
    ):
        _draw(above, image, caption)
        n = step_axis(below, len(p_n), ylim=(0, top), xlim=(0.3, len(p_n) + 0.7))
        right = np.asarray(told) == label
        below.bar(n[right], np.asarray(p_n)[right], color=BLUE, label="answer right")
        below.bar(n[~right], np.asarray(p_n)[~right], color="white", edgecolor=RED, hatch="////", label="answer wrong")
        every = 1 if len(n) <= 10 else 2
        for place, height, answer in list(zip(n, p_n, told, strict=True))[::every]:
            below.annotate(str(answer), (place, height), (0, 2), textcoords="offset points", ha="center", fontsize=11)
        below.set_xticks(n[:: max(1, len(n) // 5)])
        below.grid(visible=False)
    axes[count].set_ylabel("$p_n$")
    return legend(figure, columns=2)


@slide
def beside_prior(p: Mapping[str, Sequence[Line]], priors: Mapping[str, Line]) -> Figure:
    """Mean p_n of several networks of each kind, {kind: [networks, N]}, beside the prior they were drawn to."""
    figure, axes = panels(len(p), width=4.4, height=3.4, sharey=True)
    for ax, (kind, networks) in zip(axes, p.items(), strict=True):
        n = step_axis(ax, len(priors[kind]), title=kind)
        ax.bar(n, np.mean(networks, axis=0), color=SKY, label="$p_n$, mean of the networks")
        for i, p_n in enumerate(networks):
            ax.plot(n, p_n, color=BLUE, linewidth=0.8, label="$p_n$, a network" if i == 0 else None)
        ax.plot(n, priors[kind], **look(1, markersize=5, label="$p_G(n)$, prior"))
    axes[0].set_ylabel("probability to halt at $n$")
    return legend(figure, columns=3)


@slide
def over_angles(
    angles: Sequence[float], groups: Sequence[Mapping[str, Sequence[Line]]], labels: Sequence[str], border: float,
    live: int = 0, sharey: bool = False,
) -> Figure:  # fmt: skip
    """Numbers that depend on the angle, a panel each: {network: [runs, angles]}; beyond the border all is grey.

    The first `live` runs of each network are darker.
    """
    figure, axes = panels(len(groups), width=4.7, height=3.9, sharey=sharey)
    for ax, group, label in zip(axes, groups, labels, strict=True):
        for which, (name, runs) in enumerate(group.items()):
            spread(ax, angles, runs, name, which, live)
        ax.axvspan(border, max(angles), color="#EEEEEE", zorder=0)
        ax.set(xlabel="turned by so many degrees", ylabel=label, xlim=(min(angles), max(angles)))
        ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 3, 4.5, 9, 10]))
    return legend(figure, columns=2)


@slide
def forest(
    rows: Sequence[tuple[str, str, Sequence[Line]]], x_labels: Sequence[str], looks: Sequence[str],
    limits: tuple[float, float] | None = None, left: str = "", right: str = "",
) -> Figure:  # fmt: skip
    """Differences, panel by panel: a mark for every run, the mean with its 95 % interval, and no difference.

    rows: (label, group, [values for each panel]); a group has its colour and mark, in the order of `looks`. A row of
    the group "" is a heading. left and right say in the first panel what a difference on that side of 0 means.
    """
    width = 4.4 if len(x_labels) > 1 else 7.0
    figure, axes = panels(len(x_labels), width=width, height=1.9 + 0.36 * len(rows), sharex=True, sharey=True)
    for panel, (ax, x_label) in enumerate(zip(axes, x_labels, strict=True)):
        for y, (_, group, values) in enumerate(rows):
            if group and len(values[panel]):
                which = looks.index(group)
                marks(ax, [(x, y + 0.22) for x in values[panel]], which, 22, zorder=2, alpha=0.6)
                middle, low, high = interval(values[panel])
                ax.plot([low, high], [y - 0.08] * 2, color=look(which)["color"], linewidth=3, zorder=3)
                marks(ax, [(middle, y - 0.08)], which, 62, full=True, zorder=4)
        ax.axvline(0, color=BLACK, linewidth=1.2)
        ax.set(xlabel=x_label, ylim=(len(rows) - 0.4, -0.7))
        ax.grid(visible=False, axis="y")
        ax.xaxis.set_major_locator(MaxNLocator(5))
        if limits:
            ax.set_xlim(*limits)
    axes[0].set_yticks(range(len(rows)), [label for label, *_ in rows])
    for text, (_, group, _) in zip(axes[0].get_yticklabels(), rows, strict=True):
        text.set_fontweight("normal" if group else "bold")
    for group in looks:
        if any(group == its for _, its, _ in rows):
            marks(axes[0], [], looks.index(group), 62, full=True, label=group)
    for place, said in ((0.02, left), (0.98, right)):
        side = "left" if place < 0.5 else "right"
        axes[0].annotate(said, (place, 1.01), xycoords="axes fraction", ha=side, fontsize=11, color="#555555")
    return legend(figure, columns=len(looks))
