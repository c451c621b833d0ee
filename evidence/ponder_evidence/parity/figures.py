"""Figures of the evidence of lesson 03."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ponder_course.common import style
from ponder_course.common.store import Row
from ponder_course.common.style import ANSWER, BLACK, GREY, Line, panels, slide
from ponder_course.common.verdicts import interval
from ponder_course.parity.figures import AMBERS

Networks = Mapping[str, Sequence[Row]]  # {title: networks}; each has "accuracy" and "steps" for each k, and "learnt"
BLUES = ("#7CC4EE", ANSWER, "#00304D")  # of answers, for three caps


def draw_against_k(ax: Axes, k: range, networks: Sequence[Row], column: str, border: int, **line: Any) -> None:
    """Draw a column of each network against k, grey if it has not learnt; beyond the border the panel is grey."""
    for network in networks:
        ax.plot(k, network[column], **line | ({} if network["learnt"] else {"color": GREY, "alpha": 1.0}))
    ax.axvspan(border + 0.5, k[-1] + 0.5, color="#DDDDDD", zorder=0, linewidth=0)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.set(xlim=(0.5, k[-1] + 0.5), xlabel="non-zero elements $k$")
    if column == "accuracy":
        ax.axhline(0.5, color=BLACK, linestyle=":", linewidth=1.2)
        ax.set_ylim(0, 1.03)


def learnt_title(name: str, networks: Sequence[Row]) -> str:
    """Return the name, and below it how many of the networks have learnt."""
    return f"{name}\n{sum(network['learnt'] for network in networks)} of {len(networks)} learnt"


def counter_differences(row: Row) -> tuple[float, float]:
    """Return by how much steps differ between k, and between counts of +1.

    The first is the mean difference between k = 16 and k = 32 with as many +1s, 0 to 12; the second
    that between 2 and 12 of them at k = 32. Of a counter, whose time is the count, the first is
    small and the second large.
    """
    at_16, at_32 = (by_ones["steps"] for by_ones in row["by_ones"][1:3])
    return mean(abs(at_16[ones] - at_32[ones]) for ones in range(13)), abs(at_32[2] - at_32[12])


# Colours of PonderNet and of the others.
METHODS = (1, 2, 0, 3, 4)


@slide
def draw_beyond(k: range, runs: Networks, border: int, change: Mapping[str, Line], label: str) -> Figure:
    """Draw the accuracy against k, a panel for each method, and a change of those that learnt in the last.

    The thick line is the mean of the networks that learnt. border: the largest k of training. change: {method: a value
    for each network that learnt}, with its interval; label: its title.
    """
    figure, axes = panels(len(runs) + 1, width=3.3, height=3.4, rows=2)
    for unused in figure.axes[len(axes) :]:
        unused.remove()
    looks = dict(zip(runs, METHODS, strict=False))
    for ax, (name, networks) in zip(axes, runs.items(), strict=False):
        colour = style.COLOURS[looks[name]]
        grey_first = sorted(networks, key=lambda network: network["learnt"])
        draw_against_k(ax, k, grey_first, "accuracy", border, color=colour, linewidth=0.9, alpha=0.7)
        if learnt := [network["accuracy"] for network in networks if network["learnt"]]:
            ax.plot(k, np.mean(learnt, axis=0), color=colour, linewidth=3)
        ax.set(title=learnt_title(name, networks), ylabel="accuracy")
    ax = axes[-1]
    ax.axhline(0, color=BLACK, linewidth=1.2)
    for i, (name, values) in enumerate(change.items()):
        middle, low, high = interval(values)
        colour = style.COLOURS[looks[name]]
        style.marks(ax, [(i + 0.18, value) for value in values], looks[name], 24)
        ax.plot([i - 0.12] * 2, [low, high], color=colour, linewidth=2.4)
        ax.plot(i - 0.12, middle, "o", color=colour, markersize=9)
    ax.set(title=label, xlabel="method", xlim=(-0.6, len(change) - 0.4))
    ax.set_xticks(range(len(change)), list(change))
    return figure


@slide
def draw_by_cap(runs: Networks, border: int) -> Figure:
    """Draw accuracy, above, and steps, below, against k: a column for each training, a line for a network and cap.

    runs: networks with "learnt", and "by_cap": {N: "accuracy" and "steps" for each k}.
    """
    figure, axes = panels(2 * len(runs), width=3.3, height=2.4, rows=2, sharex=True, sharey="row")
    for (name, networks), above, below in zip(runs.items(), axes, axes[len(runs) :], strict=False):
        for network in sorted(networks, key=lambda network: network["learnt"]):  # grey ones below
            for test, blue, amber in zip(network["by_cap"].values(), BLUES, AMBERS, strict=False):
                k, line = range(1, len(test["steps"]) + 1), [test | {"learnt": network["learnt"]}]
                draw_against_k(above, k, line, "accuracy", border, color=blue, linewidth=1.3)
                draw_against_k(below, k, line, "steps", border, color=amber, linewidth=1.3)
        above.set(title=learnt_title(name, networks), xlabel=" ")
    axes[0].set_ylabel("accuracy")
    axes[len(runs)].set(ylabel="steps", ylim=(0, 62))
    return figure


@slide
def accuracy_and_steps(k: range, runs: Networks, border: int, n_steps: int) -> Figure:
    """Draw accuracy, above, and steps, below, against k: a column a method, a line a network.

    border: the largest k of training; n_steps: the cap N.
    """
    width = min(3.0, 10 / len(runs))
    figure, axes = panels(2 * len(runs), width=width, height=2.1, rows=2, sharex=True, sharey="row")
    for which, (name, networks) in enumerate(runs.items()):
        above, below = axes[which], axes[which + len(runs)]
        for ax, column in ((above, "accuracy"), (below, "steps")):
            draw_against_k(ax, k, networks, column, border, color=style.COLOURS[which], linewidth=1.5)
        above.set(title=learnt_title(name, networks), xlabel=" ")
    axes[0].set_ylabel("accuracy")
    axes[len(runs)].set(ylabel="steps", ylim=(0, n_steps + 0.5))
    return figure


def most_frequent(halts: Sequence[int], odd: Sequence[int], right: Sequence[Sequence[int]]) -> list[str]:
    """Return a line for each of the two most frequent cases of `draw_map`: parity, step of halting, first 3 answers."""
    word, lines = ("even", "odd"), []
    answers = [tuple(word[good == is_odd] for good in of_one[:3]) for is_odd, of_one in zip(odd, right, strict=True)]
    for (is_odd, step, said), n in Counter(zip(odd, halts, answers, strict=True)).most_common(2):
        lines.append(f"{n} {word[is_odd]} inputs: answers {', '.join(said)} at steps 1 to 3; they halt at step {step}")
    return lines
