"""Figures of sums: carries that walk, places that object, and the step at which nobody does."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from ponder_course.common import style
from ponder_course.common.machines import ARROW
from ponder_course.common.style import bare, beyond, curves, panels, slide, step_axis

ByNeed = Mapping[int, float]  # a number for each need
VETO, NO_VETO = style.DARK_ORANGE, "#E4E8EB"


@slide
def machine(digits: ArrayLike, carries: ArrayLike) -> Figure:
    """Places that hear their neighbours, and a wire through all votes; the sum and its carries, as worked by hand.

    digits: of the sum so far, [steps, places]. carries: whether one comes into a place after a step, [steps, places].
    """
    digits, carries = np.asarray(digits), np.asarray(carries)
    n_steps, n_places = digits.shape
    figure, (ax,) = panels(1, width=8.6, height=4.2)
    wire: dict[str, Any] = {"color": VETO, "linewidth": 1.6, "markersize": 5, "zorder": 2}
    places = np.arange(n_places)
    for n in range(n_steps):
        x = float(n)
        for place in places:
            ax.scatter(x, place, s=320, facecolor="white", edgecolor=style.GREY, zorder=3)
            at = (x, place)
            ax.annotate(str(digits[n, place]), at, ha="center", va="center", color=style.BLUE, zorder=4)
            for near in (place - 1, place, place + 1):
                if 0 <= near < n_places and n + 1 < n_steps:
                    ax.plot([x + 0.16, x + 0.84], [place, near], color=style.PALE_GREY, linewidth=1.2, zorder=1)
            if n + 1 < n_steps and carries[n, place]:
                arrow = ARROW | {"color": style.BLACK, "linewidth": 2.4}
                ax.annotate("", (x + 0.84, place - 0.16), (x + 0.16, place - 0.84), arrowprops=arrow, zorder=5)
        ax.plot([x + 0.3] * (n_places + 1), [*places, n_places - 0.1], "o-", markevery=[*places], **wire)
        ax.text(x + 0.3, n_places, "halt?", ha="center", va="bottom", color=VETO)
    bare(ax)
    ax.set(xlim=(-0.5, n_steps - 0.4), ylim=(-0.6, n_places + 0.7), xlabel="step $n$", ylabel="place")
    ax.set_xticks(range(n_steps), [str(n + 1) for n in range(n_steps)])
    ax.set_yticks([0, n_places - 1], ["1", str(n_places)])
    ax.tick_params(length=0)
    return figure


def _vetoes(ax: Axes, votes: ArrayLike, last: int) -> None:
    """Draw who objects at each step [steps, places], places upwards; white after the halt, up to the last step."""
    objects = np.asarray(votes).T < 0
    width, steps = objects.shape
    box = (0.5, steps + 0.5, 0.5, width + 0.5)
    colours = ListedColormap([NO_VETO, VETO])
    ax.imshow(objects, cmap=colours, vmin=0, vmax=1, extent=box, origin="lower", aspect="auto", interpolation="nearest")
    step_axis(ax, last, xlim=(0.5, last + 0.5))
    ax.grid(visible=False)


@slide
def answers_and_objections(sums: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> Figure:
    """Draw what all places answer, step by step until a sum halts, and who objects: a panel for each sum.

    sums: {its name: (answers, 0 or 1, and votes, below 0 for an objection: [steps, places] each)}. Red: it differs from
    the last step's answer. A frame is around the last place at the first step at which a sum halts.
    """
    figure, axes = panels(len(sums), width=4.9, height=4.4, sharex=True, sharey=True)
    lengths = [len(np.asarray(votes)) for _, votes in sums.values()]
    first, last = min(lengths), max(lengths)
    for ax, (name, (answers, votes)) in zip(axes, sums.items(), strict=True):
        _vetoes(ax, votes, last)
        digits, objects = np.asarray(answers).T, np.asarray(votes).T < 0
        width = len(digits)
        for (place, n), digit in np.ndenumerate(digits):
            final = digit == digits[place, -1]
            ground = "white" if objects[place, n] else style.BLACK
            ink = ground if final else style.WRONG
            box = None if final else {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            ax.text(n + 1, place + 1, f"{digit}", color=ink, ha="center", va="center_baseline", weight="bold", bbox=box)
        for n, says_no in enumerate(objects.any(0), start=1):
            ax.text(n, 0, "no" if says_no else "yes", ha="center", va="center_baseline", fontsize=12.5)
        frame = Rectangle((first - 0.5, width - 0.5), 1, 1, fill=False, edgecolor=style.BLUE, linewidth=3)
        ax.add_patch(frame)
        ax.set(title=name, ylim=(-0.5, width + 0.6))
        ax.set_yticks([0, 1, width], ["halt?", "1", str(width)])
    axes[0].set_ylabel("place")
    return figure


def same_answer(sums: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> str:
    """The finding: what the last place answers at the first step at which a sum halts, and who objects."""
    step = min(len(np.asarray(votes)) for _, votes in sums.values())
    says, who = [], []
    for answers, votes in sums.values():
        no = [f"{place}" for place, vote in enumerate(np.asarray(votes)[step - 1], 1) if vote < 0]
        says.append(f"{np.asarray(answers)[step - 1, -1]}")
        who.append(f"place{'s' * (len(no) > 1)} {' and '.join(no)}" if no else "nobody")
    digits = f"{says[0]} in both sums" if len({*says}) == 1 else " and ".join(says)
    return f"At step {step} the last place answers {digits}.\nOn the left {who[0]} objects; on the right {who[1]}"


@slide
def objections(sums: Mapping[str, ArrayLike]) -> Figure:
    """Draw which places object to halting, a panel for each sum, step by step until it halts.

    sums: {its name: the vote of each place [steps, places], below 0 for an objection}.
    """
    figure, axes = panels(len(sums), width=4.8, height=4.6, sharex=True, sharey=True)
    last = max(len(np.asarray(votes)) for votes in sums.values())
    for ax, (name, votes) in zip(axes, sums.items(), strict=True):
        _vetoes(ax, votes, last)
        steps, width = np.shape(votes)
        bold: dict[str, Any] = {"color": VETO, "weight": "bold"}
        ax.text(0.08, 0.95, name, fontsize=24, va="top", transform=ax.transAxes, **bold)
        ax.text(0.97, 0.03, f"nobody objects\nat step {steps}", ha="right", va="bottom", transform=ax.transAxes)
        ax.set(ylim=(0.5, width + 0.5))
        ax.set_yticks([1, width], ["1", str(width)])
        ax.set_xticks([1, *(quarter * width // 4 for quarter in (1, 2, 3, 4))])
        ax.spines[:].set_visible(True)
    axes[0].set_ylabel("place")
    return figure


@slide
def late_by_need(networks: Sequence[ByNeed], border: int) -> Figure:
    """Draw mean steps minus the need, a line for each network; grey beyond the border, the largest need in training."""
    figure, (ax,) = panels(1, width=8.2, height=4.2)
    last = max(map(max, networks))
    beyond(ax, border, last)
    ax.text(border + 1, 0.97, "beyond training", transform=ax.get_xaxis_transform(), color=style.DARK_GREY, va="top")
    ax.axhline(0, color=style.LIMIT, linewidth=1.4, zorder=4)
    late = [{need: steps - need for need, steps in network.items()} for network in networks]
    curves(ax, late, color=style.HALTING, linewidth=1.4)
    ax.set(xlabel="steps needed", ylabel="steps taken, minus steps needed", xlim=(0.5, last + 0.5))
    return figure


@slide
def with_and_without(kinds: Mapping[str, Sequence[Mapping[str, Sequence]]], need: int) -> Figure:
    """Draw at which step networks halt when 0 is added to ones, and when 1 is: a panel for each kind of network.

    kinds: {its name: "steps" and "right" of both sums, of each network}. A cross is a wrong sum. need: of the second.
    """
    figure, axes = panels(len(kinds), width=3.2, height=4.0, sharey=True)
    for ax, (name, networks) in zip(axes, kinds.items(), strict=True):
        ax.axhline(need, color=style.LIMIT, linewidth=1.4)
        for network in networks:
            ax.plot([0, 1], network["steps"], color=style.HALTING, linewidth=1.4)
            for x, (steps, right) in enumerate(zip(network["steps"], network["right"], strict=True)):
                look: dict[str, Any] = {"color": style.HALTING, "marker": "o", "s": 50}
                if not right:
                    look = {"color": style.WRONG, "marker": "x", "s": 80, "linewidth": 2.5}
                ax.scatter(x, steps, zorder=3, **look)
        ax.set(title=name, xlim=(-0.4, 1.4), ylim=(0, None))
        ax.set_xticks([0, 1], ["+ 0", "+ 1"])
        ax.grid(visible=False, axis="x")
    axes[0].set_ylabel("halts at step")
    beside: dict[str, Any] = {"transform": axes[0].get_yaxis_transform(), "va": "top"}
    axes[0].text(0.04, need - 1, "the carry of + 1 arrives", color=style.LIMIT, **beside)
    return figure
