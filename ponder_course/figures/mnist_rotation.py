"""Figures of networks that think about images of digits."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, MultipleLocator, PercentFormatter

from ponder_course.figures.style import BLACK, GREY, Line, Points, legend, look, marks, panels, slide, spread, step_axis
from ponder_course.verdicts import interval

Image = Sequence[Line]  # [height, width], 0 is paper
NEAR = 0.85  # the top of `flat_line` begins here


def _draw(ax: Axes, image: Image, caption: str) -> None:
    ax.imshow(np.asarray(image), cmap="gray_r", vmin=0, vmax=1)
    ax.set(xticks=[], yticks=[], xlabel=caption)
    ax.spines[:].set(visible=True, color="#BBBBBB")


def _swatch(ax: Axes, label: str, colour: str | tuple, **settings: Any) -> None:
    """Name in the legend all bars of a kind, whatever their colour."""
    ax.add_patch(Rectangle((0, 0), 0, 0, facecolor=colour, label=label, **settings))


def _pale(colour: str) -> tuple:
    return tuple(0.6 + 0.4 * part for part in to_rgb(colour))


@slide
def images(rows: Sequence[Sequence[Image]], captions: Sequence[Sequence[str]]) -> Figure:
    """Draw images in rows, each with its caption."""
    figure, axes = panels(sum(map(len, rows)), width=1.4, height=1.65, rows=len(rows))
    all_images = [image for row in rows for image in row]
    all_captions = [caption for row in captions for caption in row]
    for ax, image, caption in zip(axes, all_images, all_captions, strict=True):
        _draw(ax, image, caption)
    return figure


@slide
def flat_line(
    curves: Mapping[str, Sequence[Line]], own: Mapping[str, Points], fixed: Mapping[str, Points], live: int,
    chance: float,
) -> Figure:  # fmt: skip
    """Draw the accuracy if a network always stopped at step n.

    A network that comes near to the top is drawn there again, magnified.

    Args:
        curves: {network: [runs, N]}; the first `live` runs are darker.
        own: {network: (steps, accuracy) of each run where it halts by itself}, full marks.
        fixed: {network: (steps, accuracy) of each run trained for that number of steps and no other}, hollow marks.
        chance: the accuracy of a guess.
    """
    figure, (ax,) = panels(1, width=8.6, height=5.2)
    longest = max(len(runs[0]) for runs in curves.values())
    axes = [ax]
    if any(np.max(runs) > NEAR for runs in curves.values()):
        axes.append(ax.inset_axes((0.57, 0.2, 0.41, 0.46)))
    for shown in axes:
        for which, (name, runs) in enumerate(curves.items()):
            spread(shown, list(step_axis(shown, len(runs[0]))), runs, name, which, live)
            marks(shown, own[name], which, 40, full=True, zorder=4, label=f"{name}: left to itself")
            if fixed.get(name):
                marks(shown, fixed[name], which, 70, zorder=4, label=f"{name}: trained for one depth")
        shown.set(xlim=(0.5, longest + 0.5), xlabel="", ylim=(NEAR, 1), title="the top of it, magnified")
        shown.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        shown.set_yticks([0.85, 0.9, 0.95, 1])
        shown.xaxis.set_major_locator(MultipleLocator(5))
    ax.axhline(chance, color=BLACK, linestyle=":", linewidth=1.4, label="a guess")
    ax.set(xlabel="step at which it is stopped", ylabel="digits read correctly", ylim=(0, 1.04), title="")
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.xaxis.set_major_locator(MultipleLocator(2))
    return legend(figure, columns=3)


class Thought(NamedTuple):
    """What a network answers to one image at each step."""

    image: Image
    p: Line  # [N]
    answers: Sequence[int]  # [N]
    label: int  # the right answer
    caption: str
    colour: int  # as `look` counts them


@slide
def thoughts(shown: Sequence[Thought]) -> Figure:
    """Draw images, and below each its p_n; on every bar stands the answer at that step, and wrong bars are hatched."""
    count = len(shown)
    figure, axes = panels(2 * count, 2.6 if count > 2 else 4.4, 1.95, rows=2, height_ratios=[3, 4])
    top = max(0.5, 1.25 * max(max(thought.p) for thought in shown))
    for above, below, thought in zip(axes[:count], axes[count:], shown, strict=True):
        _draw(above, thought.image, thought.caption)
        p, answers, colour = np.asarray(thought.p), np.asarray(thought.answers), look(thought.colour)["color"]
        n = step_axis(below, len(p), ylim=(0, top), xlim=(0.3, len(p) + 0.7))
        right = answers == thought.label
        below.bar(n[right], p[right], color=colour)
        below.bar(n[~right], p[~right], color="white", edgecolor=colour, hatch="////")
        every = 1 if len(n) <= 10 else 2
        for step, p_n, answer in list(zip(n, p, answers, strict=True))[::every]:
            below.annotate(str(answer), (step, p_n), (0, 2), textcoords="offset points", ha="center", fontsize=11)
        below.set_xticks(n[:: max(1, len(n) // 5)])
        below.grid(visible=False)
    axes[count].set_ylabel("$p_n$")
    _swatch(axes[count], "answer right", GREY)
    _swatch(axes[count], "answer wrong", "white", edgecolor=GREY, hatch="////")
    return legend(figure, columns=2)


@slide
def beside_prior(p: Mapping[str, Sequence[Line]], priors: Mapping[str, Line]) -> Figure:
    """Draw the mean p_n of several networks of each kind, {kind: [networks, N]}, beside the kind's prior, [N]."""
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
    """Draw numbers that depend on the angle, a panel for each group: {network: [runs, angles]}.

    Beyond the border all is grey; the first `live` runs of each network are darker.
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


class Difference(NamedTuple):
    """A row of `forest`. Without a group it is a heading."""

    label: str
    group: str = ""
    panels: Sequence[Line] = ()  # the values of each panel


@slide
def forest(
    rows: Sequence[Difference], x_labels: Sequence[str], groups: Sequence[str], left: str = "", right: str = ""
) -> Figure:
    """Draw differences, panel by panel: a mark for every run, the mean with its 95 % interval, and a line at 0.

    Each of the groups has its colour and mark. left and right say what a difference on that side of 0 means.
    """
    width = 4.8 if len(x_labels) > 1 else 8.0
    figure, axes = panels(len(x_labels), width=width, height=1.9 + 0.36 * len(rows), sharex=True, sharey=True)
    for panel, (ax, x_label) in enumerate(zip(axes, x_labels, strict=True)):
        for y, row in enumerate(rows):
            if row.group and len(row.panels[panel]):
                which, values = groups.index(row.group), row.panels[panel]
                marks(ax, [(value, y + 0.22) for value in values], which, 22, zorder=2, alpha=0.6)
                mean, low, high = interval(values)
                ax.plot([low, high], [y - 0.08] * 2, color=look(which)["color"], linewidth=3, zorder=3)
                marks(ax, [(mean, y - 0.08)], which, 62, full=True, zorder=4)
        ax.axvline(0, color=BLACK, linewidth=1.2)
        ax.set(xlabel=x_label, ylim=(len(rows) - 0.4, -0.7))
        ax.grid(visible=False, axis="y")
        ax.xaxis.set_major_locator(MaxNLocator(5))
    axes[0].set_yticks(range(len(rows)), [row.label for row in rows])
    for text, row in zip(axes[0].get_yticklabels(), rows, strict=True):
        text.set_fontweight("normal" if row.group else "bold")
    shown = {row.group for row in rows}
    for which, group in enumerate(groups):
        if group in shown:
            marks(axes[0], [], which, 62, full=True, label=group)
    note: dict[str, Any] = {"xycoords": "axes fraction", "fontsize": 11, "color": "#555555"}
    axes[0].annotate(left, (0.02, 1.01), ha="left", **note)
    axes[0].annotate(right, (0.98, 1.01), ha="right", **note)
    return legend(figure, columns=len(groups))
