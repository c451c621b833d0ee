"""Figures of networks that think about images of digits."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, MultipleLocator, PercentFormatter

from ponder_course.verdicts import interval
from ponder_course.figures import (
    BLACK,
    GREY,
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
NEAR = 0.85  # the top of `flat_line` begins here


def _draw(ax: Axes, image: Image, caption: str, **place: Any) -> None:
    ax.imshow(np.asarray(image), cmap="gray_r", vmin=0, vmax=1, **place)
    ax.set(xticks=[], yticks=[], xlabel=caption)
    ax.spines[:].set(visible=True, color="#BBBBBB")


def _swatch(ax: Axes, label: str, colour: str | tuple, **settings: Any) -> None:
    """What stands for all bars of its kind in the legend, whatever their colour."""
    ax.add_patch(Rectangle((0, 0), 0, 0, facecolor=colour, label=label, **settings))


def _pale(colour: str) -> tuple:
    return tuple(0.6 + 0.4 * part for part in to_rgb(colour))


@slide
def images(rows: Sequence[Sequence[Image]], captions: Sequence[Sequence[str]]) -> Figure:
    """Images in rows, each with its caption."""
    figure, axes = panels(sum(map(len, rows)), width=1.4, height=1.65, rows=len(rows))
    for ax, image, caption in zip(axes, chain(*rows), chain(*captions), strict=True):
        _draw(ax, image, caption)
    return figure


@slide
def flat_line(
    curves: Mapping[str, Sequence[Line]], own: Mapping[str, Points], fixed: Mapping[str, Points], live: int,
    chance: float,
) -> Figure:  # fmt: skip
    """Accuracy if a network always stopped at step n, {network: [runs, N]}; the first `live` runs are darker.

    own: (steps, accuracy) of each network where it halts by itself, a full mark; fixed: of networks trained for that
    number of steps and no other, a hollow one. Where a network comes near to the top, that is drawn again, magnified.
    """
    figure, (ax,) = panels(1, width=8.6, height=5.2)
    longest = max(len(runs[0]) for runs in curves.values())
    near = max(max(map(max, runs)) for runs in curves.values()) > NEAR
    for shown in [ax, ax.inset_axes((0.57, 0.2, 0.41, 0.46))] if near else [ax]:
        for which, (name, runs) in enumerate(curves.items()):
            spread(shown, list(step_axis(shown, len(runs[0]))), runs, name, which, live)
            marks(shown, own[name], which, 40, full=True, zorder=4, label=f"{name}: left to itself")
            marks(shown, fixed.get(name, []), which, 70, zorder=4)
            if fixed.get(name):
                marks(shown, [], which, 70, label=f"{name}: trained for one depth")
        shown.set(xlim=(0.5, longest + 0.5), xlabel="", ylim=(NEAR, 1), title="the top of it, magnified")
        shown.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        shown.set_yticks([0.85, 0.9, 0.95, 1])
        shown.xaxis.set_major_locator(MultipleLocator(5))
    ax.axhline(chance, color=BLACK, linestyle=":", linewidth=1.4, label="a guess")
    ax.set(xlabel="step at which it is stopped", ylabel="digits read correctly", ylim=(0, 1.04), title="")
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.xaxis.set_major_locator(MultipleLocator(2))
    return legend(figure, columns=3)


@slide
def thoughts(
    shown: Sequence[Image], p: Sequence[Line], answers: Sequence[Sequence[int]], captions: Sequence[str],
    labels: Sequence[int], which: Sequence[int],
) -> Figure:  # fmt: skip
    """Single digits, and below each its p_n; on every bar stands the answer at that step, and wrong bars are hatched.

    The images, captions, right labels, and which colour each has, are [digits], p and the answers [digits, N].
    """
    count = len(shown)
    figure, axes = panels(2 * count, 2.6 if count > 2 else 4.4, 1.95, rows=2, height_ratios=[3, 4])
    top = max(0.5, 1.25 * max(max(p_n) for p_n in p))
    for above, below, image, p_n, told, caption, label, its in zip(
        axes[:count], axes[count:], shown, p, answers, captions, labels, which, strict=True
    ):
        _draw(above, image, caption)
        n = step_axis(below, len(p_n), ylim=(0, top), xlim=(0.3, len(p_n) + 0.7))
        right, colour = np.asarray(told) == label, look(its)["color"]
        below.bar(n[right], np.asarray(p_n)[right], color=colour)
        below.bar(n[~right], np.asarray(p_n)[~right], color="white", edgecolor=colour, hatch="////")
        every = 1 if len(n) <= 10 else 2
        for place, height, answer in list(zip(n, p_n, told, strict=True))[::every]:
            below.annotate(str(answer), (place, height), (0, 2), textcoords="offset points", ha="center", fontsize=11)
        below.set_xticks(n[:: max(1, len(n) // 5)])
        below.grid(visible=False)
    axes[count].set_ylabel("$p_n$")
    _swatch(axes[count], "answer right", GREY)
    _swatch(axes[count], "answer wrong", "white", edgecolor=GREY, hatch="////")
    return legend(figure, columns=2)


@slide
def beside_prior(p: Mapping[str, Sequence[Line]], priors: Mapping[str, Line]) -> Figure:
    """Mean p_n of several networks of each kind, {kind: [networks, N]}, beside the prior they were drawn to."""
    figure, axes = panels(len(p), width=4.4, height=3.4, sharey=True)
    for which, (ax, (kind, networks)) in enumerate(zip(axes, p.items(), strict=True)):
        n, colour = step_axis(ax, len(priors[kind]), title=kind), look(which)["color"]
        ax.bar(n, np.mean(networks, axis=0), color=_pale(colour))
        for p_n in networks:
            ax.plot(n, p_n, color=colour, linewidth=0.9)
        ax.plot(n, priors[kind], color=BLACK, marker="o", markersize=4, linestyle=":", label="$p_G(n)$, prior")
        ax.set_xlim(0.3, len(n) + 0.7)
    axes[0].set_ylabel("probability to halt at $n$")
    _swatch(axes[0], "$p_n$, mean of the networks", _pale(GREY))
    axes[0].plot([], [], color=GREY, label="$p_n$, a network")
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
    for ax in axes:  # when all are drawn: they may share their axis
        ax.set_ylim(bottom=0)
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
    width = 4.8 if len(x_labels) > 1 else 8.0
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
